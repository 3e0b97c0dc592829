#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace rocio::tools {

/// The frame of rogue's Prbs and surf's SsiPrbsTx: words of `word_bytes`, little-endian. Word 0 is the 32-bit
/// sequence number, word 1 the number of words less one, and the rest a shift register that starts as word 0:
/// each step feeds the XOR of bits 1, 2, 6 and 31 in at bit 0.
struct prbs_format {
    static constexpr std::size_t min_words = 3;

    std::size_t word_bytes = 4; ///< A multiple of 4, up to 1024 (SsiPrbsTx tells it in bits at 0x20).

    /// A whole number of words, at least three, whose count less one fits word 1.
    bool fits(std::size_t frame_bytes) const noexcept;
};

/// Makes frames with consecutive sequence numbers. Frames of the size given at construction are made with one
/// XOR per 4 bytes: the register is linear, so that two neighbouring frames differ by one of 32 precomputed
/// ones. Any other frame is made word by word. Not thread-safe.
class prbs_generator {
  public:
    /// Throws std::invalid_argument for a word size that is not a multiple of 4 in 4..1024, and for a frame
    /// size that is no whole number of words or less than three.
    explicit prbs_generator(std::size_t frame_bytes, prbs_format format = {},
                            std::uint32_t first_sequence = 0);

    /// The sequence number of the next frame; after 2^32 - 1 comes 0.
    std::uint32_t sequence() const noexcept { return sequence_; }
    std::size_t frame_bytes() const noexcept { return frame_bytes_; }

    /// Fills `frame`, the size of which must fit the format (else std::invalid_argument), and moves on.
    void next(std::span<std::byte> frame);

  private:
    void next_fast(std::span<std::byte> frame);

    prbs_format format_;
    std::size_t frame_bytes_;
    std::uint32_t sequence_;
    std::vector<std::uint32_t>
        differences_;                 ///< 32 frames: between sequence n and n + 1 with k trailing ones in n.
    std::vector<std::uint32_t> last_; ///< The frame made last, where that was a fast one.
    std::optional<std::uint32_t> last_sequence_;
};

enum class prbs_verdict : std::uint8_t {
    good,
    restart,    ///< The first frame, or sequence 0: the sender began anew. Good as well.
    after_loss, ///< Good, but frames before it are missing.
    duplicate,  ///< A sequence number that was there before.
    corrupt,    ///< Not a frame of the sequence: damaged, or of the wrong length.
};

std::string_view to_string(prbs_verdict verdict) noexcept;

/// What a checker found so far.
struct verify_result {
    std::uint64_t frames = 0; ///< All that were checked.
    std::uint64_t bytes = 0;
    std::uint64_t lost = 0; ///< Sequence numbers that never came.
    std::uint64_t duplicated = 0;
    std::uint64_t corrupt = 0;
    std::uint64_t restarts = 0; ///< The first frame is one.

    /// Frames came, and all were right and in order.
    bool clean() const noexcept { return frames > 0 && lost == 0 && duplicated == 0 && corrupt == 0; }

    friend bool operator==(const verify_result&, const verify_result&) = default;
};

/// Checks frames of any valid length, each bit of them, and their order. A corrupt frame is taken for the one
/// that was due, so one damaged frame is one corrupt and no loss. Reliable connections never reorder: a
/// number from before is a duplicate. Not thread-safe.
class prbs_checker {
  public:
    /// Throws std::invalid_argument for a word size that is not a multiple of 4 in 4..1024.
    explicit prbs_checker(prbs_format format = {});

    prbs_verdict check(std::span<const std::byte> frame);
    const verify_result& result() const noexcept { return result_; }

  private:
    prbs_verdict judge_sequence(std::uint32_t sequence);

    prbs_format format_;
    std::optional<std::uint32_t> expected_;
    verify_result result_;
};

/// True if `frame` is a PRBS frame of its sequence number, whatever that is.
bool is_prbs_frame(std::span<const std::byte> frame, prbs_format format = {});

} // namespace rocio::tools

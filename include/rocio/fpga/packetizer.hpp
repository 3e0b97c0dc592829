#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// Packetizer, version 2 (surf, AxiStreamPacketizer2; rogue, protocols/packetizer): frames cut into segments,
// each with 8 bytes of header and of tail.
namespace rocio::fpga {

inline constexpr std::size_t packetizer_overhead = 16;

struct packetizer_options {
    std::uint8_t destination = 0; ///< tDest.
    std::uint8_t first_user = 2;  ///< SSI: bit 1 is start of frame.
    std::uint8_t last_user = 0;   ///< SSI: bit 0 is an error at the end of frame.
    bool crc = true;
};

/// Cuts `frame` into segments of at most `max_segment` bytes, which must be at least packetizer_overhead + 8.
std::vector<std::vector<std::byte>> packetize(std::span<const std::byte> frame, std::size_t max_segment,
                                              const packetizer_options& options = {});

/// Puts the segments of one destination together again. Memory is bounded by `max_frame`. Checks the CRC of
/// segments that have one over header and data, and takes those without.
class depacketizer {
  public:
    enum class verdict : std::uint8_t {
        more,    ///< Taken; the frame goes on.
        whole,   ///< Taken; frame() is whole until the next segment.
        dropped, ///< Not taken; what there was of a frame is gone.
    };

    explicit depacketizer(std::size_t max_frame, std::uint8_t destination = 0, bool check_crc = true)
        : max_frame_(max_frame), destination_(destination), check_crc_(check_crc) {}

    verdict on_segment(std::span<const std::byte> segment);
    std::span<const std::byte> frame() const noexcept { return frame_; }
    std::uint64_t dropped() const noexcept { return dropped_; }
    /// As if nothing had come before.
    void reset();

  private:
    bool takes(std::span<const std::byte> segment);
    bool intact(std::span<const std::byte> segment);

    std::size_t max_frame_;
    std::uint8_t destination_;
    bool check_crc_;
    std::vector<std::byte> frame_{};
    std::uint16_t next_ = 0;
    std::uint32_t crc_ = 0;
    bool whole_ = false;
    std::uint64_t dropped_ = 0;
};

} // namespace rocio::fpga

#pragma once

#include "cudaq/playback_windows.hpp"

#include <rocio/fpga/hsb_registers.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rocio::tools {

/// One round trip by the FPGA's own clock.
struct ptp_round_trip {
    std::uint32_t shot = 0; ///< The request's id.
    fpga::hsb::ptp_time sent{};
    fpga::hsb::ptp_time received{};

    std::int64_t nanoseconds() const noexcept { return fpga::hsb::nanoseconds_between(sent, received); }
};

/// What the samples say of the messages, over all passes.
struct playback_counts {
    std::uint64_t samples = 0;
    std::uint64_t idle = 0;           ///< Samples with nothing in them.
    std::uint64_t non_rpc = 0;        ///< Frames with another magic, also the later beats of a longer answer.
    std::uint64_t responses = 0;      ///< Frames with the right magic.
    std::uint64_t matched = 0;        ///< Messages with a right answer.
    std::uint64_t unique = 0;         ///< Messages with any answer that is no header error.
    std::uint64_t duplicates = 0;     ///< Further answers to a message that has one.
    std::uint64_t unexpected = 0;     ///< Answers with an id that was not asked for in this pass.
    std::uint64_t header_errors = 0;  ///< Answers with a status other than 0, or of the wrong length.
    std::uint64_t payload_errors = 0; ///< Answers with wrong bytes.
    std::uint64_t missing = 0;        ///< Messages without any answer at all.

    bool all_right(std::uint64_t messages) const noexcept {
        return matched == messages && missing == 0 && duplicates == 0 && unexpected == 0 &&
               header_errors == 0 && payload_errors == 0;
    }
};

/// Checks what was captured against what was played. A sample covers the first 40 bytes of a payload; what is
/// behind is not seen.
class playback_check {
  public:
    struct config {
        std::uint32_t payload_size = 8;
        bool forward = false; ///< The peer sends the requests back as they are.
    };
    static constexpr std::size_t most_remarks = 10;

    explicit playback_check(const config& c) : config_(c) {}

    /// The samples that follow belong to this pass.
    void begin(const playback_pass& pass);
    void add(const fpga::hsb::ila_sample& s);
    /// The pass is over: what had no answer is missing.
    void end();

    const playback_counts& counts() const noexcept { return counts_; }
    /// Those where both times are known, in the order captured.
    const std::vector<ptp_round_trip>& round_trips() const noexcept { return round_trips_; }
    /// A sentence for each of the first failures.
    const std::vector<std::string>& remarks() const noexcept { return remarks_; }

  private:
    using sample = fpga::hsb::ila_sample;
    using frame_bytes = decltype(sample::data);
    struct answer {
        std::uint32_t id = 0;
        std::int32_t status = 0;
        std::uint32_t length = 0;
        std::uint64_t timestamp = 0;
    };
    enum class fate : std::uint8_t { nothing, refused, answered };

    bool decode(const frame_bytes& frame, answer& out) const noexcept;
    bool header_right(const answer& a);
    bool payload_right(const answer& a, const frame_bytes& frame);
    void take(const answer& a, const sample& s);
    void remark(std::string text);

    config config_;
    playback_pass pass_{};
    std::vector<fate> fates_{}; ///< Of the messages of the pass.
    playback_counts counts_{};
    std::vector<ptp_round_trip> round_trips_{};
    std::vector<std::string> remarks_{};
};

} // namespace rocio::tools

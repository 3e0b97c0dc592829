#pragma once

#include <rocio/types/error.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace rocio::fpga {

/// A SLAC engine's session as the status shows it; a value.
struct slac_engine_snapshot {
    /// "idle", "setting up", "set up", "armed", "tearing down", "released", "failed", "lost".
    std::string state = "idle";
    std::string stage; ///< The step that was begun last, such as "QP RTR".

    std::uint32_t fpga_qpn = 0; ///< 0, as the following three, until set up.
    std::uint32_t lkey = 0;
    std::uint32_t pd_handler = 0;
    std::uint32_t rkey = 0;

    std::uint64_t requests = 0;   ///< On the metadata bus.
    std::uint64_t repeated = 0;   ///< Requests sent again because the reply was another one's.
    std::uint64_t timeouts = 0;   ///< Requests without a reply in time.
    std::uint64_t roll_backs = 0; ///< Set-ups that failed and were undone.
    std::uint64_t resets = 0;     ///< SoftReset pulses that the board took.
    std::uint64_t looks = 0;      ///< At the armed board, to see that it is still there.
    std::uint64_t warnings = 0;   ///< What went wrong without ending the procedure.
    std::string last_warning;

    error_info last_error; ///< Also of a session that is over.
    std::chrono::system_clock::time_point last_error_time{};
};

/// The Core's own counters and monitors, as they were read.
struct slac_engine_counters {
    std::uint32_t success = 0;   ///< 24 bits: goes back to 0 after 16,777,215. Completed frames.
    std::uint32_t unsuccess = 0; ///< 24 bits.
    std::uint32_t oversize = 0;  ///< 24 bits. Frames longer than the Core's MaxSize, dropped.
    std::uint64_t frames = 0;
    std::uint32_t frames_per_second = 0;
    std::uint64_t bytes_per_second = 0;
    std::uint32_t frame_bytes = 0;
};

} // namespace rocio::fpga

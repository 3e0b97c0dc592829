#pragma once

#include <rocio/types/latency_histogram.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace rocio {

/// What the completion engine of one io_context did so far; a value.
struct engine_snapshot {
    std::string name; ///< As given with completion_engine::set_name(), or of the busy_poll_thread; else "".
    std::string policy;
    std::uint64_t turns = 0;  ///< Handlers on the context.
    std::uint64_t sweeps = 0; ///< Rounds over all devices and completion queues.
    std::uint64_t empty_sweeps = 0;
    std::uint64_t completions = 0;
    std::uint64_t upcalls = 0;           ///< Handlers called.
    std::uint64_t stale_completions = 0; ///< Of queue pairs destroyed before, or of no work request; dropped.
    std::uint64_t incomplete_drains =
        0; ///< Queue pairs destroyed because the device flushed too little, too late.
    std::uint64_t arms = 0;
    std::uint64_t waits = 0; ///< Times the engine waited in the kernel.
    std::uint64_t wakes = 0;
    std::uint64_t late_turns = 0;            ///< Gaps above half of what a peer tolerates.
    std::chrono::nanoseconds longest_gap{0}; ///< The longest of `gaps`.
    /// Times in which no device was looked at while something was outstanding: between two turns, or because
    /// a handler in the turn took long. Of each turn the longest. Waiting in the kernel is none.
    latency_summary gaps{};
    /// How long the present turn lasts; 0 between turns. A handler that blocks shows here.
    std::chrono::nanoseconds in_turn{0};
    /// How long a turn has been due that has not begun, because other handlers of the context take long or
    /// nobody runs it. 0 while the engine waits for the device or has nothing to do.
    std::chrono::nanoseconds turn_due{0};
    /// CPU time of the thread that had the last turn, since it began; 0 where the system does not tell.
    std::chrono::nanoseconds cpu_time{0};
    /// Of one CPU, over the last second and the last ten; filled in by the status room.
    std::optional<double> cpu_share_1s{}, cpu_share_10s{};
    std::uint32_t outstanding = 0;
    std::uint32_t queue_pairs = 0;
    std::uint32_t devices = 0;
};

} // namespace rocio

#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace rocio {

/// What the completion engine of one io_context did so far; a value.
struct engine_snapshot {
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
    std::chrono::nanoseconds longest_gap{0}; ///< Between two turns while something was outstanding.
    std::uint32_t outstanding = 0;
    std::uint32_t queue_pairs = 0;
    std::uint32_t devices = 0;
};

} // namespace rocio

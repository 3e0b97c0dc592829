#pragma once

#include <chrono>

namespace rocio::rpc {

/// What a peer hears of a request that is not carried out.
enum class refusals {
    answered, ///< A response with a negative status. A bad magic is silence all the same.
    silent,   ///< Nothing, as from CUDA-Q's own bridge: also for a handler that threw.
};

struct dispatcher_config {
    refusals on_refusal = refusals::answered;
    /// Set what the send slot has behind an answer to zero. For rings that always send whole slots: otherwise
    /// an earlier, longer answer (or the request, where both slots are the same memory) leaves with it.
    bool clear_tail = false;
    /// The clock of the latency histograms.
    std::chrono::steady_clock::time_point (*now)() noexcept = &std::chrono::steady_clock::now;
};

} // namespace rocio::rpc

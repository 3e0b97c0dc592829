#pragma once

#include <rocio/types/error.hpp>

#include <optional>

namespace rocio {

/// Where and how urgently a thread runs.
struct thread_placement {
    std::optional<unsigned> cpu{};          ///< Pin to this CPU.
    std::optional<int> realtime_priority{}; ///< SCHED_FIFO 1..99; needs CAP_SYS_NICE or RLIMIT_RTPRIO.
};

/// For a thread of your own that runs a context; a busy_poll_thread places itself. Threads that it starts
/// afterwards inherit both. errc::invalid_argument, with the limit and its value, if the CPU or the priority
/// cannot be had; what came before the refusal stays.
error_info place_this_thread(const thread_placement& placement);

} // namespace rocio

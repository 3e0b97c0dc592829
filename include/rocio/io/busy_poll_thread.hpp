#pragma once

#include <rocio/io/busy_poll_context.hpp>
#include <rocio/types/error.hpp>

#include <memory>
#include <optional>
#include <string>

namespace rocio {

struct busy_poll_thread_config {
    std::string name = "rocio";             ///< Of the thread, at most 15 characters are used.
    std::optional<unsigned> cpu{};          ///< Pin to this CPU; an impossible one is an error.
    std::optional<int> realtime_priority{}; ///< SCHED_FIFO 1..99; needs CAP_SYS_NICE or RLIMIT_RTPRIO.
    polling_policy policy = polling_policy::spin();
};

/// A busy_poll_context and the thread that runs it until stop() or join().
///
/// Thread safety: stop() and context() from any thread; the rest from one.
class busy_poll_thread {
  public:
    /// Starts the thread. Throws rocio::exception if CPU or priority cannot be had (nothing is left running).
    explicit busy_poll_thread(const busy_poll_thread_config& config = {});
    busy_poll_thread(const busy_poll_thread&) = delete;
    busy_poll_thread& operator=(const busy_poll_thread&) = delete;
    /// stop(), then waits for the thread; an exception that ended it is dropped.
    ~busy_poll_thread();

    busy_poll_context& context() noexcept;
    busy_poll_context::executor_type get_executor() noexcept;

    /// Ends run() when the engine's turn is over, or at the next handler; what is pending stays pending.
    void stop() noexcept;
    /// Waits until the context has nothing left to do, or was stopped. Re-throws the exception of a handler,
    /// which ends the thread.
    void join();

  private:
    struct implementation;
    std::unique_ptr<implementation> impl_;
};

} // namespace rocio

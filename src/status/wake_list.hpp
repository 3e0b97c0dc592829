#pragma once

#include "context_end.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <chrono>
#include <list>
#include <memory>
#include <mutex>

namespace rocio::detail {

/// Coroutines on any executor wait here for what any thread may bring about. Thread-safe.
class wake_list {
    struct sleeper;

  public:
    using time_point = std::chrono::steady_clock::time_point;
    class waiter;

    /// Wakes every waiter, those between two waits too. At most one wake-up per waiter is on its way, however
    /// often this is called. Without memory for one that waiter sleeps on until its end.
    void wake_all() noexcept;

  private:
    static void post_wake(const std::shared_ptr<sleeper>& to) noexcept;

    std::mutex mutex_;
    std::list<std::shared_ptr<sleeper>> sleepers_;
};

/// One coroutine's place in a wake_list; lives in its frame. From construction on no wake-up is lost.
class wake_list::waiter {
  public:
    /// `executor`, the coroutine's, holds an asio::strand<asio::any_io_executor>; throws std::logic_error
    /// otherwise.
    waiter(std::shared_ptr<wake_list> list, const boost::asio::any_io_executor& executor);
    waiter(const waiter&) = delete;
    waiter& operator=(const waiter&) = delete;
    ~waiter();

    /// Until woken, also before this call, or until `end`; whether woken.
    boost::asio::awaitable<bool> wait_until(time_point end);
    boost::asio::awaitable<bool> wait() { return wait_until(time_point::max()); }
    /// Wakes this waiter alone; on its executor.
    void wake();

  private:
    std::shared_ptr<wake_list> list_;
    std::shared_ptr<sleeper> sleeper_;
};

} // namespace rocio::detail

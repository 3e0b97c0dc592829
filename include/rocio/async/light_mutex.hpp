#pragma once

#include <atomic>

namespace rocio::async {

/// A mutex for what is held a microsecond and rarely wanted by two: locking is one atomic instruction while
/// nobody else has it, unlocking a plain store (std::mutex is some forty instructions each way, several times
/// per message). Who has to wait looks again and again, ever less often, and sleeps 20 us in between at last;
/// so unlocking need not know of it. Not recursive; as fair as std::mutex, that is not at all.
class light_mutex {
  public:
    light_mutex() noexcept = default;
    light_mutex(const light_mutex&) = delete;
    light_mutex& operator=(const light_mutex&) = delete;

    bool try_lock() noexcept {
        bool expected = false;
        return taken_.compare_exchange_strong(expected, true, std::memory_order_acquire,
                                              std::memory_order_relaxed);
    }
    void lock() noexcept {
        if (!try_lock()) wait();
    }
    void unlock() noexcept { taken_.store(false, std::memory_order_release); }

  private:
    void wait() noexcept;

    std::atomic<bool> taken_{false};
};

} // namespace rocio::async

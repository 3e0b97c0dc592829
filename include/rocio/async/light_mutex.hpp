#pragma once

#include <atomic>
#include <cstdint>

namespace rocio::async {

/// A mutex that costs one atomic instruction each way while nobody else wants it: std::mutex is some forty
/// instructions each way, several times per message. Waits in the kernel (the futex behind
/// std::atomic::wait). Not recursive; as fair as std::mutex, that is not at all.
class light_mutex {
  public:
    light_mutex() noexcept = default;
    light_mutex(const light_mutex&) = delete;
    light_mutex& operator=(const light_mutex&) = delete;

    bool try_lock() noexcept {
        std::uint32_t expected = free;
        return state_.compare_exchange_strong(expected, taken, std::memory_order_acquire,
                                              std::memory_order_relaxed);
    }
    void lock() noexcept {
        if (!try_lock()) wait();
    }
    void unlock() noexcept {
        if (!try_unlock()) [[unlikely]]
            wake_one();
    }
    /// unlock() whose rare part is the last that its caller does: false: it is not unlocked yet, wake_one()
    /// must follow. Subtracting, since a 0 to be stored would take a register, to be saved by the caller.
    bool try_unlock() noexcept { return state_.fetch_sub(1, std::memory_order_release) == taken; }
    [[gnu::noinline]] void wake_one() noexcept {
        state_.store(free, std::memory_order_release);
        state_.notify_one();
    }

  private:
    static constexpr std::uint32_t free = 0, taken = 1, wanted = 2;

    /// Whoever waits marks it as wanted, also when it gets it: others may wait as well.
    [[gnu::noinline]] void wait() noexcept {
        while (state_.exchange(wanted, std::memory_order_acquire) != free)
            state_.wait(wanted, std::memory_order_relaxed);
    }

    std::atomic<std::uint32_t> state_{free};
};

} // namespace rocio::async

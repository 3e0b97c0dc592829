#include <rocio/async/light_mutex.hpp>

#include <chrono>
#include <thread>

namespace rocio::async {

namespace {

constexpr int yields = 50;
constexpr auto pause = std::chrono::microseconds{20};

} // namespace

void light_mutex::wait() noexcept {
    for (int looks = 0;; ++looks) {
        // Only a look: an attempt takes the cache line from whoever holds the mutex.
        if (!taken_.load(std::memory_order_relaxed) && try_lock()) return;
        if (looks < yields)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(pause);
    }
}

} // namespace rocio::async

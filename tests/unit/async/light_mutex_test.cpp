#include <rocio/async/light_mutex.hpp>

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

namespace rocio::test {
namespace {

TEST(light_mutex, is_held_by_one_at_a_time) {
    async::light_mutex mutex;
    EXPECT_TRUE(mutex.try_lock());
    EXPECT_FALSE(mutex.try_lock());
    mutex.unlock();
    EXPECT_TRUE(mutex.try_lock());
    mutex.unlock();
}

TEST(light_mutex, counts_of_many_threads_add_up) {
    async::light_mutex mutex;
    std::uint64_t count = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 20000; ++i) {
                const std::lock_guard held(mutex);
                ++count;
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(count, 80000U);
}

TEST(light_mutex, whoever_waits_in_the_kernel_is_woken) {
    async::light_mutex mutex;
    for (int round = 0; round < 200; ++round) {
        int taken = 0;
        std::unique_lock held(mutex);
        std::vector<std::thread> threads;
        for (int t = 0; t < 3; ++t) {
            threads.emplace_back([&] {
                const std::lock_guard mine(mutex);
                ++taken;
            });
        }
        std::this_thread::yield();
        held.unlock();
        for (auto& thread : threads) thread.join();
        EXPECT_EQ(taken, 3);
    }
}

} // namespace
} // namespace rocio::test

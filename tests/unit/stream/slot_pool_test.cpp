#include <rocio/stream/detail/slot_pool.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace rocio::detail {
namespace {

std::vector<std::uint32_t> returned(slot_pool& pool) {
    std::vector<std::uint32_t> slots;
    pool.take_returned([&](std::uint32_t s) { slots.push_back(s); });
    std::sort(slots.begin(), slots.end());
    return slots;
}

TEST(slot_pool, slots_lie_side_by_side_in_zeroed_whole_pages) {
    slot_pool pool(3, 100);
    EXPECT_EQ(pool.slab().size(), 300U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pool.slab().data()) % 4096, 0U);
    EXPECT_EQ(pool.slot(2).data(), pool.slab().data() + 200);
    for (const auto b : pool.slab()) ASSERT_EQ(b, std::byte{0});
}

TEST(slot_pool, slot_returns_with_its_last_lease) {
    slot_pool pool(4, 64);
    pool.lend(2, 1);
    pool.add_lease(2);
    pool.drop_lease(2);
    EXPECT_TRUE(returned(pool).empty());
    pool.drop_lease(2);
    EXPECT_EQ(returned(pool), std::vector<std::uint32_t>{2});
    EXPECT_TRUE(returned(pool).empty());
}

TEST(slot_pool, armed_pool_wakes_once_per_idle_to_busy_edge) {
    slot_pool pool(4, 64);
    int wakes = 0;
    pool.open([&] { ++wakes; });
    for (std::uint32_t s = 0; s < 3; ++s) pool.lend(s, 1);
    pool.drop_lease(0);
    EXPECT_EQ(wakes, 0);
    EXPECT_FALSE(pool.arm()); // slot 0 came before: look again
    EXPECT_EQ(returned(pool).size(), 1U);
    EXPECT_TRUE(pool.arm());
    pool.drop_lease(1);
    pool.drop_lease(2);
    EXPECT_EQ(wakes, 1);
}

TEST(slot_pool, closed_pool_wakes_nobody) {
    slot_pool pool(2, 64);
    int wakes = 0;
    pool.open([&] { ++wakes; });
    pool.lend(0, 1);
    EXPECT_TRUE(pool.arm());
    pool.close();
    pool.drop_lease(0);
    EXPECT_EQ(wakes, 0);
}

TEST(slot_pool, returns_from_two_threads_against_a_parking_engine_never_stall) {
    constexpr std::uint32_t depth = 64;
    constexpr int rounds = 20000;
    slot_pool pool(depth, 64);
    std::atomic<int> signal{0};
    pool.open([&] {
        signal.fetch_add(1);
        signal.notify_one();
    });
    // Slots go to the threads through one mailbox each: 0 empty, slot + 1 full.
    std::atomic<std::uint32_t> mailbox[2]{};
    std::atomic<bool> stop{false};
    std::vector<std::thread> users;
    for (auto& box : mailbox) {
        users.emplace_back([&] {
            while (!stop.load(std::memory_order_relaxed)) {
                const auto full = box.exchange(0, std::memory_order_acquire);
                if (full != 0) pool.drop_lease(full - 1);
            }
        });
    }
    int back = 0;
    std::vector<std::uint32_t> free;
    for (std::uint32_t s = 0; s < depth; ++s) free.push_back(s);
    while (back < rounds) {
        for (auto& box : mailbox) {
            if (free.empty() || box.load(std::memory_order_relaxed) != 0) continue;
            pool.lend(free.back(), 1);
            box.store(free.back() + 1, std::memory_order_release);
            free.pop_back();
        }
        const auto take = [&] {
            return pool.take_returned([&](std::uint32_t s) {
                free.push_back(s);
                ++back;
            });
        };
        if (take() || free.size() == depth) continue;
        const int seen = signal.load();
        if (pool.arm()) signal.wait(seen);
        take();
    }
    stop = true;
    for (auto& t : users) t.join();
    pool.close();
}

} // namespace
} // namespace rocio::detail

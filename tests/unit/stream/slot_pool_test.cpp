#include <rocio/stream/frame.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
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

TEST(slot_pool, a_recycled_slot_comes_back_without_a_call) {
    slot_pool pool(3, 64);
    int wakes = 0;
    pool.open([&] { ++wakes; });
    for (std::uint32_t s = 0; s < 3; ++s) pool.lend(s, 1);
    pool.add_lease(2);
    pool.recycle(0);
    pool.recycle(2);
    EXPECT_TRUE(pool.has_recycled());
    EXPECT_FALSE(pool.arm()) << "look again";
    pool.drop_lease(1);
    EXPECT_EQ(returned(pool), (std::vector<std::uint32_t>{0, 1})) << "2 has a lease yet";
    EXPECT_FALSE(pool.has_recycled());
    EXPECT_EQ(wakes, 0);
}

TEST(slot_pool, slots_that_return_together_wake_once) {
    slot_pool pool(8, 64);
    int wakes = 0;
    pool.open([&] { ++wakes; });
    std::vector<frame> frames;
    for (std::uint32_t s = 0; s < 8; ++s) {
        pool.lend(s, 1);
        frames.emplace_back(pool, s);
    }
    const frame kept = frames[3].share();
    frames[5].release();
    EXPECT_EQ(returned(pool), std::vector<std::uint32_t>{5});
    ASSERT_TRUE(pool.arm());
    frame::release_all(frames);
    EXPECT_EQ(wakes, 1);
    EXPECT_EQ(returned(pool), (std::vector<std::uint32_t>{0, 1, 2, 4, 6, 7}));
    for (const auto& f : frames) EXPECT_FALSE(f);
    frame::release_all(frames);
    EXPECT_TRUE(returned(pool).empty()) << "once only";
}

TEST(slot_pool, frames_of_several_servers_return_to_their_own) {
    slot_pool first(4, 64), second(4, 64);
    std::vector<frame> frames;
    for (std::uint32_t s = 0; s < 4; ++s) {
        first.lend(s, 1);
        second.lend(s, 1);
        frames.emplace_back(first, s);
        if (s % 2 == 0) frames.emplace_back();
        frames.emplace_back(second, s);
    }
    frame::release_all(frames);
    const std::vector<std::uint32_t> all{0, 1, 2, 3};
    EXPECT_EQ(returned(first), all);
    EXPECT_EQ(returned(second), all);
}

TEST(slot_pool, abandoned_pool_lives_until_its_last_lease) {
    auto pool = std::make_unique<slot_pool>(6, 64);
    auto& lent = *pool;
    std::vector<frame> frames;
    for (std::uint32_t s = 0; s < 6; ++s) {
        lent.lend(s, 1);
        lent.record(s).size = 64;
        frames.emplace_back(lent, s);
    }
    // Counted as out as long as nobody has taken them: one on each of both lists.
    frame filled_anew = std::move(frames[0]);
    lent.lend(1, 2);
    filled_anew.replace(lent, 1);
    frames[2].release();
    filled_anew.release();
    slot_pool::abandon(std::move(pool), 6);
    for (const std::size_t held : {1U, 3U, 4U, 5U}) EXPECT_EQ(frames[held].payload()[63], std::byte{0});
    frames[1].release();
    frame::release_all(frames); // the address sanitizer tells if it went earlier, or never
}

TEST(slot_pool, abandoned_while_threads_return_slots_goes_once) {
    constexpr std::uint32_t depth = 32;
    for (int round = 0; round < 500; ++round) {
        auto pool = std::make_unique<slot_pool>(depth, 64);
        std::vector<frame> halves[2];
        for (std::uint32_t s = 0; s < depth; ++s) {
            pool->lend(s, 1);
            halves[s % 2].emplace_back(*pool, s);
        }
        std::atomic<int> ready{0};
        const auto meet = [&] {
            ++ready;
            while (ready.load() < 3) std::this_thread::yield();
        };
        std::thread one([&] {
            meet();
            for (auto& f : halves[0]) f.release();
        });
        std::thread together([&] {
            meet();
            frame::release_all(std::span(halves[1]).first(5));
            frame::release_all(halves[1]);
        });
        meet();
        slot_pool::abandon(std::move(pool), depth);
        one.join();
        together.join();
    }
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

#include <rocio/stream/frame.hpp>
#include <rocio/stream/frame_batch.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

namespace rocio::detail {
namespace {

std::vector<std::uint32_t> slots_of(const slot_runs& runs) {
    std::vector<std::uint32_t> slots;
    for (const auto& run : runs.all())
        for (auto slot = run.first; slot != run.end; ++slot) slots.push_back(slot);
    return slots;
}

/// In the order in which they are given.
std::vector<std::uint32_t> taken(slot_pool& pool) {
    slot_runs runs(pool.depth());
    const auto n = pool.take_returned(runs);
    auto slots = slots_of(runs);
    EXPECT_EQ(slots.size(), n);
    return slots;
}
std::vector<std::uint32_t> returned(slot_pool& pool) {
    auto slots = taken(pool);
    std::sort(slots.begin(), slots.end());
    return slots;
}
void recycle(slot_pool& pool, std::uint32_t slot) {
    slot_pool::recycling(pool).drop_lease(slot);
}
void replace(frame& f, slot_pool& pool, std::uint32_t slot) {
    frame::replace(&f, pool, {slot, slot + 1});
}

const int an_engine = 0, another_engine = 0; // only their addresses count

/// What comes back from rounds of handlers.
struct recording_owner final : slot_owner {
    std::vector<std::vector<std::uint32_t>> returns;
    const void* round_engine() const noexcept override { return &an_engine; }
    void on_returned(slot_runs& slots) noexcept override {
        returns.push_back(slots_of(slots));
        slots.clear();
    }
    void on_recycled(slot_runs& slots) noexcept override { on_returned(slots); }
};

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
    recycle(pool, 0);
    recycle(pool, 2);
    EXPECT_FALSE(pool.recycled().empty());
    EXPECT_FALSE(pool.arm()) << "look again";
    pool.drop_lease(1);
    EXPECT_EQ(returned(pool), (std::vector<std::uint32_t>{0, 1})) << "2 has a lease yet";
    EXPECT_TRUE(pool.recycled().empty());
    EXPECT_EQ(wakes, 0);
    EXPECT_FALSE(pool.is_lent(0));
    EXPECT_TRUE(pool.is_lent(2));
}

TEST(slot_pool, recycled_slots_come_in_their_order_and_can_be_taken_alone) {
    slot_pool pool(4, 64);
    for (std::uint32_t s = 0; s < 4; ++s) pool.lend(s, 1);
    for (const std::uint32_t s : {2U, 0U, 1U}) recycle(pool, s);
    pool.drop_lease(3);
    EXPECT_EQ(slots_of(pool.recycled()), (std::vector<std::uint32_t>{2, 0, 1}));
    pool.recycled().clear();
    EXPECT_EQ(taken(pool), std::vector<std::uint32_t>{3});
}

TEST(slot_pool, slots_recycled_by_a_handler_come_back_after_the_last_of_the_round) {
    slot_pool pool(3, 64);
    recording_owner owner;
    pool.open({}, {}, &owner);
    for (std::uint32_t s = 0; s < 3; ++s) pool.lend(s, 1);
    recycle(pool, 0);
    EXPECT_FALSE(pool.gather_recycled()) << "in no round";
    {
        async::operation_queue<> nothing;
        const upcall_scope handlers(&an_engine, nothing);
        EXPECT_TRUE(pool.gather_recycled());
        recycle(pool, 1);
        EXPECT_TRUE(pool.gather_recycled()) << "once is enough";
        EXPECT_TRUE(owner.returns.empty());
    }
    EXPECT_EQ(owner.returns, (std::vector<std::vector<std::uint32_t>>{{0, 1}}));
    EXPECT_TRUE(pool.gather_recycled()) << "there is nothing";
}

TEST(slot_pool, what_was_gathered_may_be_taken_before_the_round_ends) {
    slot_pool pool(2, 64);
    recording_owner owner;
    pool.open({}, {}, &owner);
    pool.lend(0, 1);
    {
        async::operation_queue<> nothing;
        const upcall_scope handlers(&an_engine, nothing);
        recycle(pool, 0);
        EXPECT_TRUE(pool.gather_recycled());
        EXPECT_EQ(taken(pool), std::vector<std::uint32_t>{0}) << "the session ended";
    }
    EXPECT_TRUE(owner.returns.empty());
}

TEST(slot_pool, abandoned_with_recycled_slots_in_a_round_lives_until_its_end) {
    for (const bool takes_them : {false, true}) {
        auto pool = std::make_unique<slot_pool>(2, 64);
        recording_owner owner;
        pool->open({}, {}, &owner);
        pool->lend(0, 1);
        async::operation_queue<> nothing;
        const upcall_scope handlers(&an_engine, nothing);
        recycle(*pool, 0);
        ASSERT_TRUE(pool->gather_recycled());
        const auto out = takes_them ? 1U - static_cast<std::uint32_t>(taken(*pool).size()) : 1U;
        slot_pool::abandon(std::move(pool), out); // the address sanitizer tells if it went now, or never
    }
}

TEST(slot_pool, a_slot_is_lent_from_its_lending_until_it_is_taken) {
    slot_pool pool(200, 64);
    const auto lent = [&] {
        std::vector<std::uint32_t> result;
        for (std::uint32_t s = 0; s < pool.depth(); ++s)
            if (pool.is_lent(s)) result.push_back(s);
        return result;
    };
    EXPECT_TRUE(lent().empty());
    pool.lend({62, 66});
    pool.lend(130, 2);
    EXPECT_EQ(lent(), (std::vector<std::uint32_t>{62, 63, 64, 65, 130}));
    pool.drop_lease(63);
    EXPECT_TRUE(pool.is_lent(63)) << "nobody took it";
    pool.drop_lease(130);
    EXPECT_TRUE(pool.is_lent(130)) << "one lease of two";
    EXPECT_EQ(taken(pool), std::vector<std::uint32_t>{63});
    pool.drop_run(64, 2);
    pool.drop_lease(130);
    (void)taken(pool);
    EXPECT_EQ(lent(), std::vector<std::uint32_t>{62});
    pool.end_loan({62, 63});
    EXPECT_TRUE(lent().empty());
}

/// What the thread sanitizer is for: the next frame is noted where another thread has just read the last one.
TEST(slot_pool, who_sees_the_last_lease_may_overwrite_what_the_others_have_read) {
    slot_pool pool(1, 64);
    for (std::uint32_t round = 0; round < 100; ++round) {
        pool.record(0).note(round, 64, 1);
        pool.lend(0, 2);
        std::uint32_t seen = 0;
        std::thread other([&] {
            seen = pool.record(0).immediate;
            pool.drop_lease(0);
        });
        while (pool.leases(0) != 1) std::this_thread::yield();
        pool.drop_run(0, 1);
        EXPECT_EQ(taken(pool), std::vector<std::uint32_t>{0});
        pool.record(0).note(round + 1, 64, 2);
        other.join();
        EXPECT_EQ(seen, round);
    }
}

TEST(slot_pool, slots_returned_together_come_in_their_order) {
    slot_pool pool(4, 64);
    std::vector<frame> frames;
    for (std::uint32_t s = 0; s < 4; ++s) {
        pool.lend(s, 1);
        frames.emplace_back(pool, s);
    }
    frame::release_all(frames);
    EXPECT_EQ(taken(pool), (std::vector<std::uint32_t>{0, 1, 2, 3}));
}

TEST(slot_pool, returns_come_in_the_order_of_their_return) {
    slot_pool pool(9, 64);
    for (std::uint32_t s = 0; s < 9; ++s) pool.lend(s, 1);
    frame_batch first(pool, 5, 3, true), second(pool, 2, 1, true);
    std::vector<frame> mixed;
    for (const std::uint32_t s : {1U, 3U, 4U}) mixed.emplace_back(pool, s);
    first.release();
    pool.drop_lease(8);
    frame::release_all(mixed);
    pool.drop_lease(0);
    second.release();
    EXPECT_EQ(taken(pool), (std::vector<std::uint32_t>{5, 6, 7, 8, 1, 3, 4, 0, 2}));
}

TEST(slot_pool, a_batch_whose_slots_have_more_leases_ends_only_its_own) {
    slot_pool pool(3, 64);
    for (std::uint32_t s = 0; s < 3; ++s) pool.lend(s, 2);
    {
        const frame_batch batch(pool, 0, 3, false);
        pool.drop_lease(1);
    }
    EXPECT_EQ(taken(pool), std::vector<std::uint32_t>{1});
    pool.drop_lease(0);
    pool.drop_lease(2);
    EXPECT_EQ(taken(pool), (std::vector<std::uint32_t>{0, 2}));
}

TEST(slot_pool, slots_released_by_handlers_come_back_after_the_last_of_them) {
    slot_pool pool(4, 64), other(4, 64);
    recording_owner owner, others;
    pool.open({}, {}, &owner);
    other.open({}, {}, &others);
    for (std::uint32_t s = 0; s < 4; ++s) {
        pool.lend(s, 1);
        other.lend(s, 1);
    }
    pool.add_lease(1);
    {
        async::operation_queue<> nothing;
        const upcall_scope handlers(&an_engine, nothing);
        for (const std::uint32_t s : {3U, 1U, 0U}) {
            pool.drop_lease(s);
            other.drop_lease(s);
        }
        EXPECT_TRUE(owner.returns.empty());
        EXPECT_TRUE(taken(pool).empty());
    }
    using slots = std::vector<std::uint32_t>;
    EXPECT_EQ(owner.returns, (std::vector<slots>{{3, 0}})) << "1 had two leases";
    EXPECT_EQ(others.returns, (std::vector<slots>{{3, 1, 0}}));
    pool.drop_lease(1);
    EXPECT_EQ(taken(pool), slots{1}) << "not in a handler";
}

TEST(slot_pool, slots_released_by_another_engines_handlers_come_back_at_once) {
    slot_pool pool(2, 64);
    recording_owner owner;
    pool.open({}, {}, &owner);
    pool.lend(0, 1);
    pool.lend(1, 1);
    async::operation_queue<> nothing;
    const upcall_scope outer(&an_engine, nothing);
    {
        const upcall_scope inner(&another_engine, nothing);
        pool.drop_lease(0);
        EXPECT_EQ(taken(pool), std::vector<std::uint32_t>{0});
    }
    pool.drop_lease(1);
    EXPECT_TRUE(taken(pool).empty()) << "the outer round is ours";
}

TEST(slot_pool, abandoned_in_a_round_lives_until_its_end) {
    auto pool = std::make_unique<slot_pool>(3, 64);
    recording_owner owner;
    pool->open({}, {}, &owner);
    for (std::uint32_t s = 0; s < 3; ++s) pool->lend(s, 1);
    frame late(*pool, 2);
    frame_batch batch(*pool, 0, 2, true);
    {
        async::operation_queue<> nothing;
        const upcall_scope handlers(&an_engine, nothing);
        batch.release();
        slot_pool::abandon(std::move(pool), 3);
    }
    EXPECT_TRUE(owner.returns.empty()) << "it has no owner any more";
    late.release(); // the address sanitizer tells if it went earlier, or never
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
    auto pool = std::make_unique<slot_pool>(9, 64);
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
    replace(filled_anew, lent, 1);
    frames[2].release();
    filled_anew.release();
    for (std::uint32_t s = 6; s < 9; ++s) lent.lend(s, 1);
    frame_batch early(lent, 6, 2, true), last(lent, 8, 1, true);
    early.release();
    slot_pool::abandon(std::move(pool), 9);
    for (const std::size_t held : {1U, 3U, 4U, 5U}) EXPECT_EQ(frames[held].payload()[63], std::byte{0});
    frames[1].release();
    last.release();
    frame::release_all(frames); // the address sanitizer tells if it went earlier, or never
}

TEST(slot_pool, abandoned_while_threads_return_slots_goes_once) {
    constexpr std::uint32_t depth = 32;
    for (int round = 0; round < 500; ++round) {
        auto pool = std::make_unique<slot_pool>(depth, 64);
        std::vector<frame> halves[2];
        for (std::uint32_t s = 0; s < depth; ++s) {
            pool->lend(s, 1);
            if (s >= 4) halves[s % 2].emplace_back(*pool, s);
        }
        frame_batch batch(*pool, 0, 4, true);
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
            batch.release();
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
            const auto slots = taken(pool);
            free.insert(free.end(), slots.begin(), slots.end());
            back += static_cast<int>(slots.size());
            return !slots.empty();
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

// What a ring keeps per run of slots: which are held, which receives are to be posted, sets of slots.

#include <rocio/ring/detail/held_slots.hpp>
#include <rocio/ring/detail/receives_to_post.hpp>
#include <rocio/ring/detail/ring_memory.hpp>
#include <rocio/ring/detail/slot_set.hpp>

#include <gmock/gmock.h>

#include <array>
#include <vector>

namespace rocio::detail {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using numbers = std::vector<std::uint32_t>;

slot_run run_of(std::uint32_t slot, std::uint32_t token, std::uint32_t count) {
    return {{}, slot, token, count, true};
}

/// Slots and tokens, one after the other.
std::vector<numbers> listed(const held_slots& held) {
    std::vector<numbers> all;
    for (const auto& run : held.runs()) all.push_back({run.slot, run.token, run.count});
    return all;
}

TEST(HeldSlots, runs_that_go_on_are_one) {
    held_slots held(16);
    held.add(run_of(2, 7, 2));
    held.add(run_of(4, 9, 3));
    EXPECT_EQ(held.size(), 5U);
    EXPECT_THAT(listed(held), ElementsAre(numbers{2, 7, 5}));
}

TEST(HeldSlots, other_slots_tokens_times_and_debts_are_not) {
    held_slots held(16);
    held.add(run_of(0, 0, 2));
    held.add(run_of(3, 2, 1)); // a slot was left out
    held.add(run_of(4, 8, 1)); // another receive than the next
    auto later = run_of(5, 9, 1);
    later.since += std::chrono::nanoseconds{1};
    held.add(later);
    auto posted = later.part(5, 6);
    posted.slot = 6;
    posted.token = 10;
    posted.has_tokens = false;
    held.add(posted);
    EXPECT_THAT(listed(held), ElementsAre(numbers{0, 0, 2}, numbers{3, 2, 1}, numbers{4, 8, 1},
                                          numbers{5, 9, 1}, numbers{6, 10, 1}));
}

TEST(HeldSlots, one_is_taken_out_of_its_run_with_its_token) {
    const auto left_without = [](std::uint32_t slot) {
        held_slots held(16);
        held.add(run_of(9, 9, 1));
        held.add(run_of(2, 5, 3));
        held.add(run_of(12, 0, 1));
        const auto taken = held.take(slot);
        EXPECT_EQ(taken.slot, slot);
        EXPECT_EQ(taken.count, 1U);
        EXPECT_EQ(held.size(), 4U);
        auto all = listed(held);
        all.push_back({taken.token});
        return all;
    };
    const numbers first{9, 9, 1}, last{12, 0, 1};
    EXPECT_THAT(left_without(2), ElementsAre(first, numbers{3, 6, 2}, last, numbers{5}));
    EXPECT_THAT(left_without(3), ElementsAre(first, numbers{2, 5, 1}, numbers{4, 7, 1}, last, numbers{6}));
    EXPECT_THAT(left_without(4), ElementsAre(first, numbers{2, 5, 2}, last, numbers{7}));
    EXPECT_THAT(left_without(9), ElementsAre(numbers{2, 5, 3}, last, numbers{9}));
    EXPECT_THAT(left_without(12), ElementsAre(first, numbers{2, 5, 3}, numbers{0}));
}

TEST(HeldSlots, one_that_is_not_held_is_no_run) {
    held_slots held(8);
    held.add(run_of(3, 3, 2));
    EXPECT_EQ(held.take(2).count, 0U);
    EXPECT_EQ(held.take(5).count, 0U);
    EXPECT_EQ(held.size(), 2U);
}

TEST(HeldSlots, what_was_taken_stays_while_it_is_added_again) {
    held_slots held(4);
    for (std::uint32_t i = 0; i < 4; ++i) held.add(run_of(i, 3 - i, 1));
    std::vector<numbers> seen;
    for (const auto& run : held.take_all()) {
        seen.push_back({run.slot, run.token});
        held.add(run);
    }
    EXPECT_THAT(seen, ElementsAre(numbers{0, 3}, numbers{1, 2}, numbers{2, 1}, numbers{3, 0}));
    EXPECT_EQ(held.size(), 4U);
    EXPECT_EQ(held.take_all().size(), 4U);
    EXPECT_EQ(held.size(), 0U);
    EXPECT_THAT(held.runs(), IsEmpty());
}

class ReceivesToPost : public ::testing::Test {
  protected:
    ReceivesToPost() {
        for (std::uint32_t i = 0; i < 8; ++i) waiting.prebuild(i, {{0, 0, i}, {}});
    }
    numbers tokens() {
        numbers all;
        for (const auto& request : waiting.requests()) all.push_back(request.id.slot);
        return all;
    }

    receives_to_post waiting{8};
};

TEST_F(ReceivesToPost, tokens_in_a_row_are_not_copied) {
    waiting.add(2);
    const auto* const first = waiting.requests().data();
    waiting.add(3, 4);
    EXPECT_EQ(waiting.requests().data(), first);
    EXPECT_THAT(tokens(), ElementsAre(2, 3, 4, 5, 6));
}

TEST_F(ReceivesToPost, the_first_token_comes_behind_the_last) {
    waiting.add(6, 2);
    const auto* const first = waiting.requests().data();
    waiting.add(0, 3);
    EXPECT_EQ(waiting.requests().data(), first);
    EXPECT_THAT(tokens(), ElementsAre(6, 7, 0, 1, 2));
    waiting.drop(3);
    waiting.add(3);
    EXPECT_THAT(tokens(), ElementsAre(1, 2, 3));
    EXPECT_EQ(waiting.requests().size(), 3U);
}

TEST_F(ReceivesToPost, others_keep_their_order) {
    waiting.add(6, 2);
    waiting.add(0, 2);
    waiting.add(2);
    waiting.add(4);
    EXPECT_EQ(waiting.size(), 6U);
    EXPECT_THAT(tokens(), ElementsAre(6, 7, 0, 1, 2, 4));
}

TEST_F(ReceivesToPost, what_the_device_did_not_take_is_the_next) {
    for (std::uint32_t taken = 0; taken <= 5; ++taken) {
        waiting.clear();
        waiting.add(6, 2);
        waiting.add(0, 2);
        waiting.add(5);
        waiting.drop(taken);
        waiting.add(3);
        numbers expected{6, 7, 0, 1, 5, 3};
        expected.erase(expected.begin(), expected.begin() + taken);
        EXPECT_EQ(tokens(), expected) << taken;
        EXPECT_FALSE(waiting.empty());
    }
}

TEST_F(ReceivesToPost, a_part_of_a_row) {
    waiting.add(1, 5);
    waiting.drop(2);
    waiting.add(6);
    EXPECT_THAT(tokens(), ElementsAre(3, 4, 5, 6));
    waiting.drop(4);
    EXPECT_TRUE(waiting.empty());
}

TEST(SlotSet, slots_in_a_row_are_one_mask) {
    slot_set set(128);
    set.insert(60, 4);
    set.insert(64, 64);
    EXPECT_FALSE(set.has(59));
    EXPECT_TRUE(set.has(60) && set.has(63) && set.has(64) && set.has(127));
    set.erase(61, 2);
    EXPECT_TRUE(set.has(60) && !set.has(61) && !set.has(62) && set.has(63));
    EXPECT_TRUE(set.take(63));
    EXPECT_FALSE(set.take(63));
    EXPECT_EQ(slot_set::in_word(0), 64U);
    EXPECT_EQ(slot_set::in_word(127), 1U);
}

TEST(RingMemory, all_flags_or_not_whatever_their_number) {
    std::array<std::uint64_t, 19> flags{};
    for (std::uint32_t n = 1; n <= flags.size(); ++n) {
        flags.fill(0);
        EXPECT_TRUE(ring_memory::all_clear(flags.data(), n));
        flags.fill(1);
        EXPECT_TRUE(ring_memory::all_set(flags.data(), n));
        for (std::uint32_t other = 0; other < n; ++other) {
            flags[other] = 0;
            EXPECT_FALSE(ring_memory::all_set(flags.data(), n)) << other << " of " << n;
            for (auto& flag : flags) flag ^= 1;
            EXPECT_FALSE(ring_memory::all_clear(flags.data(), n)) << other << " of " << n;
            for (auto& flag : flags) flag ^= 1;
            flags[other] = 1;
        }
    }
}

} // namespace
} // namespace rocio::detail

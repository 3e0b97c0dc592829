#include <rocio/io/detail/slot_fifo.hpp>

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <vector>

namespace rocio::detail {
namespace {

std::vector<std::uint32_t> emptied(slot_fifo& slots) {
    std::vector<std::uint32_t> result;
    while (!slots.empty()) result.push_back(slots.pop());
    return result;
}

slot_fifo with(std::initializer_list<slot_range> runs) {
    slot_fifo slots(8);
    for (const auto& run : runs) slots.push(run);
    return slots;
}

TEST(slot_fifo, gives_slots_in_the_order_of_their_coming) {
    auto slots = with({{3, 6}, {0, 2}, {7, 8}});
    EXPECT_EQ(slots.size(), 6U);
    EXPECT_EQ(emptied(slots), (std::vector<std::uint32_t>{3, 4, 5, 0, 1, 7}));
    EXPECT_EQ(slots.size(), 0U);
}

TEST(slot_fifo, what_comes_side_by_side_is_one_run) {
    auto slots = with({{2, 4}, {4, 5}, {5, 8}, {0, 1}});
    EXPECT_EQ(slots.front().size(), 6U);
    slots.drop_front(2);
    EXPECT_EQ(slots.front().first, 4U);
    slots.drop_front(4);
    EXPECT_EQ(slots.front().first, 0U);
    slots.drop_front(1);
    slots.push({1, 2});
    EXPECT_EQ(slots.front().size(), 1U) << "slot 0 is gone";
}

TEST(slot_fifo, one_is_taken_out_wherever_it_is) {
    for (std::uint32_t slot = 0; slot < 8; ++slot) {
        auto slots = with({{5, 8}, {0, 1}, {2, 5}});
        std::vector<std::uint32_t> expected{5, 6, 7, 0, 2, 3, 4};
        EXPECT_EQ(slots.take(slot), std::erase(expected, slot) == 1) << slot;
        EXPECT_FALSE(slots.take(slot)) << slot;
        EXPECT_EQ(emptied(slots), expected) << slot;
    }
}

TEST(slot_fifo, one_may_be_put_in_front) {
    auto slots = with({{0, 3}});
    slots.push_front(6);
    EXPECT_EQ(emptied(slots), (std::vector<std::uint32_t>{6, 0, 1, 2}));
    slots.push({1, 2});
    slots.clear();
    EXPECT_TRUE(emptied(slots).empty());
}

TEST(slot_fifo, agrees_with_a_list_whatever_is_done) {
    constexpr std::uint32_t depth = 13;
    std::mt19937 random(1);
    slot_fifo slots(depth);
    std::deque<std::uint32_t> list;
    std::vector<bool> in(depth);
    for (int step = 0; step < 100'000; ++step) {
        const auto slot = static_cast<std::uint32_t>(random() % depth);
        const auto what = random() % 8;
        if (what < 3 && !in[slot]) {
            auto end = slot;
            while (end < depth && !in[end] && end - slot < random() % 4 + 1) in[end++] = true;
            slots.push({slot, end});
            for (auto s = slot; s < end; ++s) list.push_back(s);
        } else if (what == 3 && !in[slot]) {
            in[slot] = true;
            slots.push_front(slot);
            list.push_front(slot);
        } else if (what == 4) {
            ASSERT_EQ(slots.take(slot), in[slot]);
            in[slot] = false;
            std::erase(list, slot);
        } else if (!list.empty()) {
            const auto first = slots.pop();
            ASSERT_EQ(first, list.front());
            in[first] = false;
            list.pop_front();
        }
        ASSERT_EQ(slots.size(), list.size());
    }
    EXPECT_EQ(emptied(slots), std::vector<std::uint32_t>(list.begin(), list.end()));
}

} // namespace
} // namespace rocio::detail

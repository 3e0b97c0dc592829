#include <rocio/stream/detail/slot_runs.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace rocio::detail {
namespace {

using runs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

runs of(const slot_runs& slots) {
    runs result;
    for (const auto& run : slots.all()) result.emplace_back(run.first, run.end);
    return result;
}

TEST(slot_runs, slots_that_follow_each_other_are_one_run) {
    slot_runs slots(8);
    EXPECT_TRUE(slots.empty());
    for (const std::uint32_t s : {3U, 4U, 5U, 2U, 0U, 1U}) slots.push(s);
    EXPECT_EQ(of(slots), (runs{{3, 6}, {2, 3}, {0, 2}}));
    EXPECT_EQ(slots.slots(), 6U);
    slots.push({2, 2 + 1});
    EXPECT_EQ(of(slots).back(), (std::pair{0U, 3U}));
}

TEST(slot_runs, hold_every_slot_alone) {
    constexpr std::uint32_t depth = 100;
    slot_runs slots(depth);
    for (std::uint32_t s = depth; s-- > 0;) slots.push(s);
    EXPECT_EQ(slots.all().size(), depth);
    EXPECT_EQ(slots.slots(), depth);
    slots.clear();
    EXPECT_TRUE(slots.empty());
    EXPECT_FALSE(slots.extend({0, 1})) << "there is nothing that it follows";
}

TEST(slot_runs, the_first_leave_in_whole_runs_and_in_parts) {
    for (std::uint32_t n = 0; n <= 6; ++n) {
        slot_runs slots(8);
        for (const std::uint32_t s : {5U, 6U, 7U, 2U, 0U, 1U}) slots.push(s);
        slots.drop_front(n);
        const std::vector<runs> left{{{5, 8}, {2, 3}, {0, 2}},
                                     {{6, 8}, {2, 3}, {0, 2}},
                                     {{7, 8}, {2, 3}, {0, 2}},
                                     {{2, 3}, {0, 2}},
                                     {{0, 2}},
                                     {{1, 2}},
                                     {}};
        EXPECT_EQ(of(slots), left[n]) << n;
        slots.push(2);
        EXPECT_EQ(of(slots).back().second, 3U) << n;
    }
}

} // namespace
} // namespace rocio::detail

#include "lib/counter_check.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>

namespace {

using rocio::tools::counter_check;

counter_check after(std::initializer_list<std::uint32_t> counters,
                    std::uint32_t period = counter_check::full_period) {
    counter_check check(period);
    for (const auto counter : counters) check.check(counter);
    return check;
}

TEST(counter_check, finds_nothing_wrong_with_a_run_from_anywhere) {
    const auto check = after({41, 42, 43, 44});
    EXPECT_EQ(check.lost(), 0U);
    EXPECT_EQ(check.duplicated(), 0U);
    EXPECT_EQ(check.unexpected(), 0U);
}

TEST(counter_check, wraps_at_24_bits) {
    const auto check = after({0xFFFFFE, 0xFFFFFF, 0, 1});
    EXPECT_EQ(check.lost(), 0U);
    EXPECT_EQ(check.duplicated(), 0U);
}

TEST(counter_check, counts_what_is_missing_also_across_the_wrap) {
    EXPECT_EQ(after({1, 3}).lost(), 1U);
    EXPECT_EQ(after({1, 2, 10, 11}).lost(), 7U);
    EXPECT_EQ(after({0xFFFFFD, 2}).lost(), 4U);
    EXPECT_EQ(after({0, 0x800000}).lost(), 0x7FFFFFU);
}

TEST(counter_check, counts_what_comes_again_and_goes_on_after_it) {
    const auto check = after({5, 6, 6, 5, 7, 8});
    EXPECT_EQ(check.duplicated(), 2U);
    EXPECT_EQ(check.lost(), 0U);
    EXPECT_EQ(after({0, 0xFFFFFF}).duplicated(), 1U);
}

TEST(counter_check, follows_a_shorter_period) {
    const auto check = after({254, 255, 0, 1, 3, 3}, 256);
    EXPECT_EQ(check.lost(), 1U);
    EXPECT_EQ(check.duplicated(), 1U);
    EXPECT_EQ(after({254, 1}, 256).lost(), 2U);
}

TEST(counter_check, tells_the_two_values_of_the_shortest_period_apart) {
    const auto check = after({0, 1, 0, 1, 1, 0}, 2);
    EXPECT_EQ(check.lost(), 0U);
    EXPECT_EQ(check.duplicated(), 1U);
}

TEST(counter_check, counts_values_outside_the_period_apart) {
    const auto check = after({0, 1, 256, 2}, 256);
    EXPECT_EQ(check.unexpected(), 1U);
    EXPECT_EQ(check.lost(), 0U);
    EXPECT_EQ(check.duplicated(), 0U);
}

TEST(counter_check, knows_nothing_where_the_counter_stands_still) {
    for (const std::uint32_t period : {0U, 1U}) {
        const auto check = after({0, 0, 0}, period);
        EXPECT_EQ(check.lost(), std::nullopt);
        EXPECT_EQ(check.duplicated(), std::nullopt);
    }
}

TEST(counter_check, refuses_a_period_above_24_bits) {
    EXPECT_THROW(counter_check((1U << 24) + 1), std::invalid_argument);
}

} // namespace

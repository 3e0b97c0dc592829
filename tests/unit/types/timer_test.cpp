#include <rocio/types/ack_timeout.hpp>
#include <rocio/types/rnr_timer.hpp>

#include <gmock/gmock.h>

#include <iterator>

namespace {

using namespace rocio;
using namespace std::chrono_literals;
using microseconds = std::chrono::microseconds;

/// Milliseconds by code, as the standard prints them.
constexpr double milliseconds[] = {
    655.36, .01,   .02,   .03,   .04,   .06,    .08,    .12,    .16,    .24,    .32,
    .48,    .64,   .96,   1.28,  1.92,  2.56,   3.84,   5.12,   7.68,   10.24,  15.36,
    20.48,  30.72, 40.96, 61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52,
};
static_assert(std::size(milliseconds) == 32);

TEST(rnr_timer, all_32_codes_have_the_wait_of_the_standard) {
    for (std::uint32_t code = 0; code < 32; ++code) {
        const auto expected = static_cast<std::int64_t>(milliseconds[code] * 1000 + 0.5);
        EXPECT_EQ(rnr_timer{code}.duration().count(), expected) << code;
        EXPECT_EQ(rnr_timer{code}.code(), code);
    }
}

TEST(rnr_timer, default_is_code_12) {
    EXPECT_EQ(rnr_timer{}, rnr_timer{12});
    EXPECT_EQ(rnr_timer{}.duration(), 640us);
}

TEST(rnr_timer, codes_above_31_are_refused) {
    EXPECT_THROW(rnr_timer{32}, std::out_of_range);
    EXPECT_THROW(rnr_timer{256}, std::out_of_range);
}

TEST(rnr_timer, at_least_rounds_up_to_the_next_wait) {
    EXPECT_EQ(rnr_timer::at_least(0us), rnr_timer{1});
    EXPECT_EQ(rnr_timer::at_least(10us), rnr_timer{1});
    EXPECT_EQ(rnr_timer::at_least(11us), rnr_timer{2});
    EXPECT_EQ(rnr_timer::at_least(1ms), rnr_timer{14});
    EXPECT_EQ(rnr_timer::at_least(491520us), rnr_timer{31});
    EXPECT_EQ(rnr_timer::at_least(491521us), rnr_timer{0});
    EXPECT_EQ(rnr_timer::at_least(10s), rnr_timer{0});
    EXPECT_EQ(rnr_timer::at_least(-1us), rnr_timer{1});
}

TEST(rnr_timer, every_wait_is_found_again) {
    for (std::uint32_t code = 0; code < 32; ++code) {
        EXPECT_EQ(rnr_timer::at_least(rnr_timer{code}.duration()), rnr_timer{code});
    }
}

TEST(ack_timeout, doubles_with_each_code) {
    EXPECT_EQ(ack_timeout{1}.duration(), 8192ns);
    EXPECT_EQ(ack_timeout{14}.duration(), 67108864ns);
    for (std::uint32_t code = 2; code < 32; ++code) {
        EXPECT_EQ(ack_timeout{code}.duration(), 2 * ack_timeout{code - 1}.duration());
    }
}

TEST(ack_timeout, code_0_waits_for_ever) {
    EXPECT_TRUE(ack_timeout{0}.endless());
    EXPECT_EQ(ack_timeout{0}.duration(), 0ns);
    EXPECT_FALSE(ack_timeout{1}.endless());
}

TEST(ack_timeout, default_is_code_14_and_codes_above_31_are_refused) {
    EXPECT_EQ(ack_timeout{}.code(), 14);
    EXPECT_THROW(ack_timeout{32}, std::out_of_range);
}

} // namespace

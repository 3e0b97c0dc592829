#include "transport/rnr_wait.hpp"

#include <gtest/gtest.h>

namespace rocio::transport {
namespace {

using namespace std::chrono_literals;
constexpr time_point start{1h};

TEST(rnr_wait, blocks_nothing_before_it_starts) {
    const rnr_wait wait;
    EXPECT_FALSE(wait.pending());
    EXPECT_FALSE(wait.blocks(start));
    EXPECT_EQ(wait.deadline(), never);
}

TEST(rnr_wait, blocks_until_exactly_its_end_and_stays_pending) {
    rnr_wait wait;
    wait.start(start, rnr_timer(12));
    EXPECT_EQ(wait.deadline(), start + 640us);
    EXPECT_TRUE(wait.blocks(start + 640us - 1ns));
    EXPECT_FALSE(wait.blocks(start + 640us));
    EXPECT_TRUE(wait.pending());
    wait.end();
    EXPECT_FALSE(wait.pending());
    EXPECT_EQ(wait.deadline(), never);
}

TEST(rnr_wait, takes_code_0_for_the_longest_wait) {
    rnr_wait wait;
    wait.start(start, rnr_timer(0));
    EXPECT_TRUE(wait.blocks(start + 655ms));
    EXPECT_FALSE(wait.blocks(start + 656ms));
}

} // namespace
} // namespace rocio::transport

#include "bench/open_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocio::tools {
namespace {

using testing::Each;
using testing::ElementsAre;
using time_point = open_loop::clock::time_point;

constexpr double thousand_per_second = 1000; // one is due each 1000 us

time_point at(std::int64_t us) {
    return time_point(std::chrono::microseconds(us));
}

void send_due(open_loop& loop, time_point now) {
    while (loop.may_send(now)) loop.sent();
}

TEST(OpenLoop, AMessageIsDueOnceItsTimeHasCome) {
    open_loop loop(thousand_per_second, 0, 3, 8);
    loop.begin(at(100));
    EXPECT_TRUE(loop.may_send(at(100)));
    loop.sent();
    EXPECT_FALSE(loop.may_send(at(1099)));
    EXPECT_TRUE(loop.may_send(at(1100)));
}

TEST(OpenLoop, ALatencyCountsFromWhenTheMessageWasDue) {
    open_loop loop(thousand_per_second, 0, 2, 8);
    loop.begin(at(0));
    send_due(loop, at(0));
    loop.answered(at(5));
    send_due(loop, at(1300)); // 300 us too late
    loop.answered(at(1304));
    EXPECT_THAT(loop.take_latencies(), ElementsAre(5, 304));
}

TEST(OpenLoop, AStallCountsForEveryMessageThatWasDueMeanwhile) {
    open_loop loop(thousand_per_second, 0, 11, 1);
    loop.begin(at(0));
    send_due(loop, at(0));
    loop.answered(at(10'000)); // the other side slept
    for (int i = 1; i <= 10; ++i) {
        send_due(loop, at(10'000));
        loop.answered(at(10'000));
    }
    EXPECT_THAT(loop.take_latencies(),
                ElementsAre(10'000, 9000, 8000, 7000, 6000, 5000, 4000, 3000, 2000, 1000, 0));
}

TEST(OpenLoop, NoMoreThanTheLimitAreOnTheirWay) {
    open_loop loop(thousand_per_second, 0, 100, 4);
    loop.begin(at(0));
    send_due(loop, at(50'000));
    EXPECT_EQ(loop.messages_sent(), 4U);
    loop.answered(at(50'000));
    EXPECT_TRUE(loop.may_send(at(50'000)));
}

TEST(OpenLoop, WarmUpIsSentAndNotCounted) {
    open_loop loop(thousand_per_second, 2, 3, 8);
    loop.begin(at(0));
    EXPECT_EQ(loop.total(), 5U);
    for (int i = 0; i < 5; ++i) {
        send_due(loop, at(1000 * i));
        EXPECT_FALSE(loop.is_over());
        loop.answered(at(1000 * i + 7));
    }
    EXPECT_TRUE(loop.is_over());
    EXPECT_FALSE(loop.has_more());
    const auto latencies = loop.take_latencies();
    EXPECT_EQ(latencies.size(), 3U);
    EXPECT_THAT(latencies, Each(7));
}

TEST(OpenLoop, ARateThatDividesNoMicrosecondDoesNotDrift) {
    const open_loop loop(3.0, 0, 1, 1);
    EXPECT_EQ(loop.due(3'000'000).time_since_epoch(), std::chrono::seconds(1'000'000));
}

} // namespace
} // namespace rocio::tools

#include "transport/ack_timer.hpp"

#include <gtest/gtest.h>

namespace rocio::transport {
namespace {

using namespace std::chrono_literals;
constexpr time_point start{1h};

TEST(ack_timer, does_not_run_before_it_is_started) {
    const ack_timer timer{ack_timeout(14)};
    EXPECT_EQ(timer.deadline(), never);
    EXPECT_FALSE(timer.due(time_point::max()));
}

TEST(ack_timer, is_due_exactly_at_its_time) {
    for (std::uint32_t code = 1; code <= 31; ++code) {
        ack_timer timer{ack_timeout(code)};
        timer.start(start);
        const auto wait = std::chrono::nanoseconds{4096LL << code};
        EXPECT_EQ(timer.deadline(), start + wait);
        EXPECT_FALSE(timer.due(start + wait - 1ns));
        EXPECT_TRUE(timer.due(start + wait));
    }
}

TEST(ack_timer, keeps_its_time_when_started_if_stopped) {
    ack_timer timer{ack_timeout(10)};
    timer.start_if_stopped(start);
    timer.start_if_stopped(start + 1ms);
    EXPECT_EQ(timer.deadline(), start + 4096ns * 1024);
    timer.start(start + 1ms);
    EXPECT_EQ(timer.deadline(), start + 1ms + 4096ns * 1024);
}

TEST(ack_timer, can_be_stopped) {
    ack_timer timer{ack_timeout(1)};
    timer.start(start);
    timer.stop();
    EXPECT_EQ(timer.deadline(), never);
    EXPECT_FALSE(timer.due(start + 1h));
}

TEST(ack_timer, never_runs_when_endless) {
    ack_timer timer{ack_timeout(0)};
    timer.start(start);
    timer.start_if_stopped(start);
    EXPECT_EQ(timer.deadline(), never);
    EXPECT_FALSE(timer.due(start + 1000h));
}

} // namespace
} // namespace rocio::transport

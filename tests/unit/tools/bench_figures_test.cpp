#include "bench/bench_figures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocio::tools {
namespace {

measurement measured_messages() {
    measurement m;
    m.messages = 1000;
    m.seconds = 0.5;
    m.peak_rate = 3000;
    m.use = {0.8, 10};
    m.latencies = {1, 2, 3};
    return m;
}

TEST(BenchFigures, CostsArePerMeasuredMessage) {
    const auto f = figures_of(measured_messages());
    EXPECT_DOUBLE_EQ(f.rate, 2000);
    EXPECT_DOUBLE_EQ(f.peak_rate, 3000);
    EXPECT_DOUBLE_EQ(f.cpu_us_per_message, 800);
    EXPECT_DOUBLE_EQ(f.cores_busy, 1.6);
    EXPECT_DOUBLE_EQ(f.allocations_per_message, 0.01);
    EXPECT_EQ(f.latency.median, 2);
}

TEST(BenchFigures, OfNothingAreZeroAndNotInfinite) {
    const auto f = figures_of({});
    EXPECT_EQ(f.rate, 0);
    EXPECT_EQ(f.cpu_us_per_message, 0);
    EXPECT_EQ(ratio_of(measured::latency, f, f), 0);
    EXPECT_EQ(ratio_of(measured::bandwidth, f, f), 0);
    EXPECT_EQ(middle_of({}).rate, 0);
}

TEST(BenchFigures, OfRoundsTheMiddleOneCountsAndNothingIsLostFromSight) {
    std::vector<bench_figures> rounds(3);
    rounds[0].latency = {3, 10, 11, 1, 20, 30, 100};
    rounds[1].latency = {1, 12, 13, 2, 22, 33, 50};
    rounds[2].latency = {2, 50, 60, 9, 90, 95, 900};
    rounds[0].allocations_per_message = 0.5;
    rounds[1].lost = 2;
    rounds[2].lost = 3;
    rounds[0].rate = 7;
    rounds[1].rate = 9;
    rounds[2].rate = 8;
    const auto f = middle_of(rounds);
    EXPECT_EQ(f.latency.median, 12);
    EXPECT_EQ(f.latency.average, 13);
    EXPECT_EQ(f.latency.p99, 22);
    EXPECT_EQ(f.latency.minimum, 1);
    EXPECT_EQ(f.latency.maximum, 900);
    EXPECT_EQ(f.allocations_per_message, 0.5);
    EXPECT_EQ(f.lost, 5U);
    EXPECT_EQ(f.rate, 8);
}

TEST(BenchFigures, TheRatioIsOursByTheOther) {
    bench_figures ours, other;
    ours.latency.median = 6;
    other.latency.median = 4;
    ours.rate = 100;
    other.rate = 400;
    EXPECT_DOUBLE_EQ(ratio_of(measured::latency, ours, other), 1.5);
    EXPECT_DOUBLE_EQ(ratio_of(measured::bandwidth, ours, other), 0.25);
}

} // namespace
} // namespace rocio::tools

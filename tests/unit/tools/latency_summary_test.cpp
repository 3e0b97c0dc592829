#include "bench/bench_result.hpp"
#include "bench/latency_summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace rocio::tools {
namespace {

std::vector<double> one_to(int n) {
    std::vector<double> samples(static_cast<std::size_t>(n));
    std::iota(samples.begin(), samples.end(), 1.0);
    return samples;
}

TEST(LatencySummary, OfNothingIsAllZero) {
    const auto s = summarise({});
    EXPECT_THAT((std::vector{s.minimum, s.median, s.average, s.deviation, s.p99, s.p999, s.maximum}),
                testing::Each(0.0));
}

TEST(LatencySummary, OfOneSampleIsThatSample) {
    const auto s = summarise({7.5});
    EXPECT_THAT((std::vector{s.minimum, s.median, s.average, s.p99, s.p999, s.maximum}), testing::Each(7.5));
    EXPECT_EQ(s.deviation, 0.0);
}

TEST(LatencySummary, MedianIsTheMiddleSampleOrTheMeanOfTheTwoInTheMiddle) {
    EXPECT_EQ(summarise({9, 1, 5}).median, 5.0);
    EXPECT_EQ(summarise({9, 1, 5, 6}).median, 5.5);
    EXPECT_EQ(summarise({1, 2}).median, 1.5);
}

TEST(LatencySummary, APercentileIsTheSmallestSampleThatSoManyPerCentDoNotExceed) {
    const auto hundred = summarise(one_to(100));
    EXPECT_EQ(hundred.p99, 99.0);
    EXPECT_EQ(hundred.p999, 100.0);
    const auto thousand = summarise(one_to(1000));
    EXPECT_EQ(thousand.p99, 990.0);
    EXPECT_EQ(thousand.p999, 999.0);
    const auto ten = summarise(one_to(10));
    EXPECT_EQ(ten.p99, 10.0);
}

TEST(LatencySummary, ExtremesAndAverageCountEverySample) {
    const auto s = summarise(one_to(1000));
    EXPECT_EQ(s.minimum, 1.0);
    EXPECT_EQ(s.maximum, 1000.0);
    EXPECT_DOUBLE_EQ(s.average, 500.5);
}

TEST(LatencySummary, DeviationIsTheSquareRootOfTheMeanSquareDistance) {
    EXPECT_DOUBLE_EQ(summarise({2, 4, 4, 4, 5, 5, 7, 9}).deviation, 2.0);
    EXPECT_EQ(summarise({3, 3, 3}).deviation, 0.0);
}

TEST(LatencySummary, DeviationOfFarSamplesDoesNotCancelOut) {
    EXPECT_NEAR(summarise({1e9 + 1, 1e9 + 2, 1e9 + 3}).deviation, std::sqrt(2.0 / 3.0), 1e-6);
}

TEST(LatencySummary, TheOrderOfTheSamplesDoesNotMatter) {
    auto samples = one_to(777);
    const auto sorted = summarise(samples);
    for (unsigned seed = 1; seed <= 5; ++seed) {
        std::shuffle(samples.begin(), samples.end(), std::mt19937(seed));
        const auto shuffled = summarise(samples);
        EXPECT_EQ(shuffled.median, sorted.median);
        EXPECT_EQ(shuffled.p99, sorted.p99);
        EXPECT_EQ(shuffled.p999, sorted.p999);
        EXPECT_EQ(shuffled.maximum, sorted.maximum);
        EXPECT_NEAR(shuffled.deviation, sorted.deviation, 1e-9);
    }
}

TEST(LatencySummary, OneOutlierMovesTheMaximumAndNotTheMedian) {
    auto samples = one_to(1001);
    samples.back() = 1e6;
    const auto s = summarise(samples);
    EXPECT_EQ(s.median, 501.0);
    EXPECT_EQ(s.maximum, 1e6);
    EXPECT_EQ(s.p999, 1000.0);
    EXPECT_GT(s.average, 1000.0);
}

TEST(BenchResult, PercentileSortsAndStaysInside) {
    std::vector<double> samples{3, 1, 2};
    EXPECT_EQ(percentile(samples, 0.0), 1.0);
    EXPECT_EQ(percentile(samples, 0.5), 2.0);
    EXPECT_EQ(percentile(samples, 1.0), 3.0);
    std::vector<double> none;
    EXPECT_EQ(percentile(none, 0.5), 0.0);
}

TEST(BenchResult, MedianLeavesItsArgumentAlone) {
    const std::vector<double> samples{3, 1, 2};
    EXPECT_EQ(median(samples), 2.0);
    EXPECT_THAT(samples, testing::ElementsAre(3, 1, 2));
}

} // namespace
} // namespace rocio::tools

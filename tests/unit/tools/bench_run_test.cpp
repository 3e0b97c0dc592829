#include "bench/bench_progress.hpp"
#include "bench/bench_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocio::tools {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

/// A side that says who ran, and takes `us` for each message.
bench_side side(const std::string& name, double us, std::vector<std::string>& log) {
    return {name, [name, us, &log](std::uint32_t, std::uint64_t count, std::atomic<std::uint64_t>&) {
                log.push_back(name);
                measurement m;
                m.messages = count;
                m.seconds = us * 1e-6 * static_cast<double>(count);
                m.latencies = {us, us};
                return m;
            }};
}

struct BenchRun : testing::Test {
    std::vector<bench_row> run(const bench_effort& effort, std::vector<std::uint32_t> sizes = {64}) {
        bench_progress progress;
        series.sizes = std::move(sizes);
        series.ours = side("ours", 3, log);
        series.baselines = {side("plain", 2, log), side("segmented", 1, log)};
        std::vector<bench_row> rows;
        run_series(series, effort, progress, [&](const bench_row& row) { rows.push_back(row); });
        return rows;
    }
    std::vector<std::string> log{};
    bench_series series{};
};

TEST_F(BenchRun, EveryRoundHasEverybodyAndTheOrderTurns) {
    run({.rounds = 3, .count = 100});
    EXPECT_THAT(log, ElementsAre("plain", "segmented", "ours", "ours", "segmented", "plain", "plain",
                                 "segmented", "ours"));
}

TEST_F(BenchRun, ARowHasARatioToEachBaseline) {
    const auto rows = run({.rounds = 2, .count = 100});
    ASSERT_EQ(rows.size(), 1U);
    ASSERT_EQ(rows[0].baselines.size(), 2U);
    EXPECT_EQ(rows[0].baselines[0].name, "plain");
    EXPECT_DOUBLE_EQ(rows[0].baselines[0].ratio, 1.5);
    EXPECT_DOUBLE_EQ(rows[0].baselines[1].ratio, 3);
}

TEST_F(BenchRun, ARatioOfRatesIsTheOtherWayRound) {
    series.what = measured::bandwidth;
    const auto rows = run({.rounds = 1, .count = 100});
    EXPECT_NEAR(rows[0].baselines[0].ratio, 2.0 / 3, 1e-9);
}

TEST_F(BenchRun, TheLatenciesOfAllRoundsAreKept) {
    const auto rows = run({.rounds = 3, .count = 100});
    EXPECT_THAT(rows[0].latencies, ElementsAre(3, 3, 3, 3, 3, 3));
    EXPECT_THAT(rows[0].baselines[1].latencies, ElementsAre(1, 1, 1, 1, 1, 1));
}

TEST_F(BenchRun, EachSizeIsARowOfItsOwn) {
    const auto rows = run({.rounds = 1, .count = 100}, {2, 4, 8});
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[2].size, 8U);
    EXPECT_EQ(rows[2].ours.messages, 100U);
}

TEST_F(BenchRun, ATimeBecomesACountByATrialOfEachSide) {
    const auto rows = run({.rounds = 1, .time = 3ms});
    EXPECT_EQ(rows[0].ours.messages, 1000U);                 // of 3 us each
    EXPECT_EQ(rows[0].baselines[1].figures.messages, 3000U); // of 1 us each
}

TEST_F(BenchRun, AtARateATimeNeedsNoTrial) {
    series.rate = 1000;
    const auto rows = run({.rounds = 1, .time = 1s});
    EXPECT_EQ(rows[0].ours.messages, 1000U);
    EXPECT_EQ(log.size(), 3U);
}

TEST(BenchCounts, ASweepGoesFrom2ToWhatTheDeviceTakes) {
    const auto all = sweep_sizes(~std::uint64_t{0});
    EXPECT_EQ(all.size(), 23U);
    EXPECT_EQ(all.front(), 2U);
    EXPECT_EQ(all.back(), 1U << 23);
    EXPECT_THAT(sweep_sizes(9), ElementsAre(2, 4, 8));
    EXPECT_THAT(sweep_sizes(1), testing::IsEmpty());
}

TEST(BenchCounts, LongMessagesAreFewerAndNeverNone) {
    EXPECT_EQ(usual_count(measured::latency, 2), usual_count(measured::latency, 4096));
    EXPECT_EQ(usual_count(measured::latency, 8192), usual_count(measured::latency, 4096) / 2);
    EXPECT_GE(usual_count(measured::latency, 1U << 31), 20U);
}

TEST(BenchCounts, ATimeGives20To10Million) {
    EXPECT_EQ(count_for(1s, 5000), 5000U);
    EXPECT_EQ(count_for(1ms, 10), 20U);
    EXPECT_EQ(count_for(1h, 1e9), 10'000'000U);
    EXPECT_EQ(count_for(1s, 0), 20U);
}

} // namespace
} // namespace rocio::tools

#include "commands/bench_json.hpp"

#include <boost/json/array.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocio::tools {
namespace {

using testing::Contains;
using testing::Not;

std::vector<std::string> keys(const boost::json::object& object) {
    std::vector<std::string> result;
    for (const auto& entry : object) result.emplace_back(entry.key());
    return result;
}

measurement measured_messages() {
    measurement m;
    m.messages = 1000;
    m.seconds = 0.5;
    m.peak_rate = 3000;
    m.use = {0.8, 10};
    m.latencies = {1, 2, 3};
    return m;
}

TEST(BenchJson, ALatencyHasPerftestsNames) {
    const auto json = to_json(measured::latency, 64, figures_of(measured_messages()));
    for (const char* key :
         {"MsgSize", "n_iterations", "t_min", "t_max", "t_typical", "t_avg", "t_stdev", "percentile_99",
          "percentile_99.9", "cpu_us_per_message", "cores_busy", "allocations_per_message", "lost"})
        EXPECT_THAT(keys(json), Contains(key));
    EXPECT_THAT(keys(json), Not(Contains("BW_average")));
    EXPECT_EQ(json.at("MsgSize").to_number<int>(), 64);
    EXPECT_EQ(json.at("t_typical").as_double(), 2);
}

TEST(BenchJson, ABandwidthHasPerftestsNamesAndUnits) {
    const auto json = to_json(measured::bandwidth, 1 << 20, figures_of(measured_messages()));
    for (const char* key : {"MsgSize", "n_iterations", "BW_peak", "BW_average", "MsgRate"})
        EXPECT_THAT(keys(json), Contains(key));
    EXPECT_THAT(keys(json), Not(Contains("t_typical")));
    EXPECT_DOUBLE_EQ(json.at("BW_average").as_double(), 2000); // 2^20 bytes each
    EXPECT_DOUBLE_EQ(json.at("BW_peak").as_double(), 3000);
    EXPECT_DOUBLE_EQ(json.at("MsgRate").as_double(), 0.002);
}

TEST(BenchJson, TheReportHasEveryBaselineWithItsRatio) {
    bench_row row;
    row.what = measured::bandwidth;
    row.size = 1 << 20;
    row.baselines = {{"plain UDP", {}, 1.25, {}}, {"segmented UDP", {}, 0.5, {}}};
    row.baselines[1].figures.rate = 20;
    const auto json = to_json(row);
    EXPECT_EQ(json.at("measure").as_string(), "bandwidth");
    EXPECT_EQ(json.at("ratio").as_double(), 1.25);
    const auto& baselines = json.at("baselines").as_array();
    ASSERT_EQ(baselines.size(), 2U);
    EXPECT_EQ(baselines[1].at("name").as_string(), "segmented UDP");
    EXPECT_EQ(baselines[1].at("ratio").as_double(), 0.5);
    EXPECT_DOUBLE_EQ(baselines[1].at("BW_average").as_double(), 20);
}

TEST(BenchJson, APointOfScaleHasItsCosts) {
    const auto json = to_json({256, 4, 2}, {900, 1.5, 5000, 0}, 1.1);
    for (const char* key : {"queue_pairs", "peers", "contexts", "ns_per_message", "cpu_us_per_message",
                            "bytes_per_queue_pair", "allocations_per_message", "ratio"})
        EXPECT_THAT(keys(json), Contains(key));
    EXPECT_EQ(json.at("queue_pairs").to_number<int>(), 256);
    EXPECT_EQ(json.at("ns_per_message").as_double(), 900);
}

} // namespace
} // namespace rocio::tools

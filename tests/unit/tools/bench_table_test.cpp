#include "bench/bench_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace rocio::tools {
namespace {

using testing::HasSubstr;

bench_row a_row(measured what) {
    bench_row row;
    row.mode = "send";
    row.what = what;
    row.size = 1 << 20;
    row.ours.latency = {1, 2, 3, 4, 5, 6, 7};
    row.ours.messages = 1000;
    row.ours.rate = 10;
    row.ours.peak_rate = 20;
    row.baselines.resize(2);
    row.baselines[0].name = "plain UDP";
    row.baselines[0].ratio = 1.25;
    row.baselines[1].name = "segmented UDP";
    row.baselines[1].ratio = 0.5;
    row.baselines[1].figures.rate = 20;
    return row;
}

std::vector<std::string> words(const std::string& line) {
    std::istringstream in(line);
    return {std::istream_iterator<std::string>(in), {}};
}

TEST(BenchTable, ALatencyHasPerftestsColumnsInTheirOrder) {
    const auto row = a_row(measured::latency);
    const auto header = table_header(row.what, row);
    std::size_t last = 0;
    for (const char* title :
         {"#bytes", "#iterations", "t_min", "t_max", "t_typical", "t_avg", "t_stdev", "99%", "99.9%"}) {
        const auto at = header.find(title);
        ASSERT_NE(at, std::string::npos) << title;
        EXPECT_GE(at, last) << title;
        last = at;
    }
    const auto cells = words(table_line(row));
    const std::vector<std::string> first(cells.begin(), cells.begin() + 9);
    EXPECT_THAT(first, testing::ElementsAre("1048576", "1000", "1.00", "7.00", "2.00", "3.00", "4.00", "5.00",
                                            "6.00"));
}

TEST(BenchTable, ABandwidthHasPerftestsColumnsInMebibytes) {
    const auto row = a_row(measured::bandwidth);
    EXPECT_THAT(table_header(row.what, row),
                testing::AllOf(HasSubstr("BW peak"), HasSubstr("BW average"), HasSubstr("MsgRate")));
    const auto cells = words(table_line(row));
    EXPECT_EQ(cells[2], "20.00");
    EXPECT_EQ(cells[3], "10.00");
}

TEST(BenchTable, TheRatiosAreTheLastColumns) {
    const auto row = a_row(measured::bandwidth);
    const auto cells = words(table_line(row));
    EXPECT_EQ(cells[cells.size() - 2], "1.25");
    EXPECT_EQ(cells.back(), "0.50");
    EXPECT_EQ(words(table_header(row.what, row)).back(), "ratio");
}

} // namespace
} // namespace rocio::tools

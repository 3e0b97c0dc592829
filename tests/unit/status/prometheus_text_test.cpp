#include "full_status.hpp"

#include <rocio/status/prometheus_text.hpp>

#include <gmock/gmock.h>

#include <set>
#include <sstream>
#include <string>

namespace {

using namespace rocio;
using testing::HasSubstr;
using testing::Not;

TEST(prometheus_text, of_nothing_still_says_what_runs) {
    const auto text = to_prometheus(status_snapshot{});
    EXPECT_THAT(text, HasSubstr("# TYPE rocio_build_info gauge\n"));
    EXPECT_THAT(text, HasSubstr("rocio_stale_parts 0\n"));
    EXPECT_THAT(text, Not(HasSubstr("rocio_stream")));
}

TEST(prometheus_text, has_each_counter_under_its_labels) {
    const auto text = to_prometheus(test::full_status());
    EXPECT_THAT(text, HasSubstr("# TYPE rocio_stream_frames_total counter\n"));
    EXPECT_THAT(text, HasSubstr("rocio_stream_frames_total{stream=\"camera\"} 1000\n"));
    EXPECT_THAT(text, HasSubstr("rocio_stream_slots{stream=\"camera\",state=\"lent\"} 50\n"));
    EXPECT_THAT(text, HasSubstr("rocio_stream_channel_gaps_total{stream=\"camera\",channel=\"3\"} 4\n"));
    EXPECT_THAT(text,
                HasSubstr("rocio_device_drops_total{device=\"soft:127.0.0.2\",reason=\"bad_icrc\"} 2\n"));
    EXPECT_THAT(text, HasSubstr("rocio_rpc_calls_total{service=\"answers\",function=\"echo\","
                                "outcome=\"succeeded\"} 9\n"));
    EXPECT_THAT(text,
                HasSubstr("rocio_handshakes_total{name=\"camera\",kind=\"tcp\",outcome=\"failed\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("rocio_fpga_session_up{fpga=\"camera\",kind=\"slac\"} 1\n"));
}

TEST(prometheus_text, has_no_gaps_for_a_channel_whose_counter_has_no_known_period) {
    EXPECT_THAT(to_prometheus(test::full_status()),
                Not(HasSubstr("rocio_stream_channel_gaps_total{stream=\"camera\",channel=\"7\"}")));
}

TEST(prometheus_text, has_histograms_in_seconds_that_agree_with_themselves) {
    const auto text = to_prometheus(test::full_status());
    // 1, 3, 20 and 900 us
    EXPECT_THAT(text,
                HasSubstr("rocio_rpc_latency_seconds_count{service=\"answers\",function=\"echo\"} 4\n"));
    EXPECT_THAT(text, HasSubstr("function=\"echo\",le=\"+Inf\"} 4\n"));
    EXPECT_THAT(text, HasSubstr("function=\"echo\",le=\"4.096e-06\"} 2\n"));
    EXPECT_THAT(text, HasSubstr("function=\"echo\",le=\"1.024e-06\"} 1\n"));
    EXPECT_THAT(text,
                HasSubstr("rocio_rpc_latency_seconds_sum{service=\"answers\",function=\"echo\"} 0.000924\n"));
}

TEST(prometheus_text, describes_every_metric_that_it_writes) {
    std::set<std::string> described;
    for (const auto& metric : prometheus_metrics()) {
        EXPECT_TRUE(described.insert(metric.name).second) << metric.name;
        EXPECT_FALSE(metric.help.empty()) << metric.name;
    }
    std::istringstream text(to_prometheus(test::full_status()));
    for (std::string line; std::getline(text, line);) {
        if (!line.starts_with("# TYPE ")) continue;
        const auto name = line.substr(7, line.find(' ', 7) - 7);
        EXPECT_TRUE(described.contains(name)) << name;
    }
}

TEST(prometheus_text, writes_every_sample_once) {
    std::set<std::string> seen;
    std::istringstream text(to_prometheus(test::full_status()));
    for (std::string line; std::getline(text, line);) {
        if (line.starts_with("#")) continue;
        EXPECT_TRUE(seen.insert(line.substr(0, line.rfind(' '))).second) << line;
    }
}

TEST(prometheus_text, takes_names_that_are_no_text) {
    auto status = test::full_status();
    status.streams.front().name = "a\"b\\c\nd\xFF";
    EXPECT_THAT(to_prometheus(status),
                HasSubstr("rocio_stream_frames_total{stream=\"a\\\"b\\\\c\\nd\xEF\xBF\xBD\"} 1000\n"));
}

} // namespace

#include "lib/report.hpp"

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace rocio::tools;
using namespace std::chrono_literals;
namespace json = boost::json;
using testing::HasSubstr;

report clean_report() {
    report r;
    r.device = "soft:127.0.0.2";
    r.frames = 1000;
    r.bytes = 4'096'000;
    r.elapsed = 500ms;
    r.lost = 0;
    r.duplicated = 0;
    r.rnr_naks = 3;
    r.retransmits = 0;
    return r;
}

TEST(report, as_json_has_the_common_keys_in_their_order) {
    const auto document = json::parse(json_line(clean_report())).as_object();
    std::vector<std::string> keys;
    for (const auto& entry : document) keys.emplace_back(entry.key_c_str());
    EXPECT_THAT(keys,
                testing::ElementsAre("frames", "bytes", "seconds", "frames_per_second", "bytes_per_second",
                                     "lost", "duplicated", "corrupt", "rnr_naks", "retransmits", "device"));
    EXPECT_EQ(document, (json::object{{"frames", 1000},
                                      {"bytes", 4'096'000},
                                      {"seconds", 0.5},
                                      {"frames_per_second", 2000.0},
                                      {"bytes_per_second", 8'192'000.0},
                                      {"lost", 0},
                                      {"duplicated", 0},
                                      {"corrupt", 0},
                                      {"rnr_naks", 3},
                                      {"retransmits", 0},
                                      {"device", "soft:127.0.0.2"}}));
}

TEST(report, as_json_is_one_line_whatever_the_names) {
    auto r = clean_report();
    r.device = "a\nb\xFF\"";
    const auto line = json_line(r);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_EQ(json::parse(line).at("device"), "a\nb\xEF\xBF\xBD\"");
}

TEST(report, as_json_has_null_for_what_is_not_known) {
    const auto document = to_json(report{.frames = 5, .elapsed = 1s});
    for (const auto* key : {"lost", "duplicated", "rnr_naks", "retransmits"}) {
        EXPECT_TRUE(document.at(key).is_null()) << key;
    }
    EXPECT_EQ(document.at("corrupt"), 0);
}

TEST(report, as_json_has_null_for_rates_over_no_time) {
    for (const std::uint64_t frames : {0U, 7U}) {
        const auto document = json::parse(json_line(report{.frames = frames, .bytes = frames})).as_object();
        EXPECT_EQ(document.at("seconds"), 0.0);
        EXPECT_TRUE(document.at("frames_per_second").is_null());
        EXPECT_TRUE(document.at("bytes_per_second").is_null());
    }
}

TEST(report, as_json_keeps_64_bit_counters) {
    const std::uint64_t large = (std::uint64_t{1} << 53) + 1;
    EXPECT_THAT(json_line(report{.bytes = large}), HasSubstr("\"bytes\":9007199254740993,"));
}

TEST(report, as_json_adds_what_a_command_has_to_say_but_lets_it_replace_nothing) {
    auto r = clean_report();
    r.more = {{"peer", "10.0.0.2"}, {"frames", 0}};
    const auto document = to_json(r);
    EXPECT_EQ(document.at("peer"), "10.0.0.2");
    EXPECT_EQ(document.at("frames"), 1000);
}

TEST(report, calls_data_right_unless_something_is_known_to_be_wrong) {
    EXPECT_TRUE(clean_report().data_was_right());
    EXPECT_TRUE(report{}.data_was_right());
    EXPECT_FALSE(report{.lost = 1}.data_was_right());
    EXPECT_FALSE(report{.duplicated = 1}.data_was_right());
    EXPECT_FALSE(report{.corrupt = 1}.data_was_right());
    EXPECT_TRUE((report{.rnr_naks = 9, .retransmits = 9}.data_was_right()));
}

TEST(report, as_text_has_figures_for_a_person) {
    const auto text = to_text(clean_report());
    EXPECT_THAT(text, HasSubstr("frames       1000 (2.00 k/s)\n"));
    EXPECT_THAT(text, HasSubstr("bytes        4096000 (8.19 MB/s)\n"));
    EXPECT_THAT(text, HasSubstr("time         500 ms\n"));
    EXPECT_THAT(text, HasSubstr("lost         0\n"));
    EXPECT_THAT(text, HasSubstr("RNR NAKs     3\n"));
    EXPECT_THAT(text, HasSubstr("device       soft:127.0.0.2\n"));
}

TEST(report, as_text_says_unknown_for_what_is_not_known) {
    const auto text = to_text(report{});
    EXPECT_THAT(text, HasSubstr("lost         unknown\n"));
    EXPECT_THAT(text, HasSubstr("duplicated   unknown\n"));
    EXPECT_THAT(text, HasSubstr("frames       0 (-/s)\n"));
}

} // namespace

#include "lib/spdlog_sink.hpp"

#include <gmock/gmock.h>
#include <spdlog/sinks/ostream_sink.h>

#include <memory>
#include <sstream>
#include <string>
#include <thread>

namespace {

using namespace rocio;
using namespace rocio::tools;

class spdlog_sink_at : public testing::Test {
  protected:
    std::string written_at(const char* levels) {
        std::ostringstream text;
        auto out = std::make_shared<spdlog::sinks::ostream_sink_mt>(text);
        out->set_pattern("%l %n: %v");
        spdlog_sink sink(log_levels::parse(levels), out);
        sink.write(log_level::debug, "soft", "d");
        sink.write(log_level::info, "soft", "i");
        sink.write(log_level::warning, "io", "w");
        sink.write(log_level::error, "io", "e");
        return text.str();
    }
};

TEST_F(spdlog_sink_at, debug_writes_every_line_under_its_room) {
    EXPECT_EQ(written_at("debug"), "debug soft: d\ninfo soft: i\nwarning io: w\nerror io: e\n");
}

TEST_F(spdlog_sink_at, a_level_writes_that_level_and_above) {
    EXPECT_EQ(written_at("info"), "info soft: i\nwarning io: w\nerror io: e\n");
    EXPECT_EQ(written_at("error"), "error io: e\n");
    EXPECT_EQ(written_at("off"), "");
}

TEST_F(spdlog_sink_at, levels_of_rooms_filters_each_by_its_own) {
    EXPECT_EQ(written_at("off,soft=info"), "info soft: i\n");
    EXPECT_EQ(written_at("debug,soft=error"), "warning io: w\nerror io: e\n");
}

TEST(spdlog_sink, takes_text_with_braces_and_percent_signs_as_it_is) {
    std::ostringstream text;
    auto out = std::make_shared<spdlog::sinks::ostream_sink_mt>(text);
    out->set_pattern("%v");
    spdlog_sink sink(log_levels::parse("debug"), out);
    sink.write(log_level::info, "io", "{} {0} %s %v {");
    EXPECT_EQ(text.str(), "{} {0} %s %v {\n");
}

TEST(spdlog_sink, survives_a_sink_that_throws) {
    struct failing_sink final : spdlog::sinks::base_sink<std::mutex> {
        void sink_it_(const spdlog::details::log_msg&) override { throw std::runtime_error("disk full"); }
        void flush_() override {}
    };
    spdlog_sink sink(log_levels::parse("debug"), std::make_shared<failing_sink>());
    testing::internal::CaptureStderr();
    EXPECT_NO_THROW(sink.write(log_level::info, "io", "text"));
    testing::internal::GetCapturedStderr();
}

TEST(spdlog_sink, may_be_written_to_from_several_threads) {
    std::ostringstream text;
    auto out = std::make_shared<spdlog::sinks::ostream_sink_mt>(text);
    out->set_pattern("%n");
    spdlog_sink sink(log_levels::parse("debug"), out);
    auto write = [&](const char* room) {
        for (int i = 0; i < 500; ++i) sink.write(log_level::info, room, "x");
    };
    std::thread a(write, "aa");
    std::thread b(write, "bb");
    a.join();
    b.join();
    EXPECT_EQ(text.str().size(), 2U * 500U * 3U);
}

TEST(spdlog_sink, writes_to_standard_error_by_default) {
    testing::internal::CaptureStderr();
    {
        spdlog_sink sink(log_levels::parse("info"));
        sink.write(log_level::warning, "stream", "stalled by channel 7");
    }
    EXPECT_THAT(testing::internal::GetCapturedStderr(),
                testing::HasSubstr("warning stream: stalled by channel 7\n"));
}

} // namespace

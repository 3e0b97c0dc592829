#include "lib/spdlog_sink.hpp"

#include <rocio/spdlog_sink.hpp>

#include <gmock/gmock.h>
#include <spdlog/sinks/ostream_sink.h>

#include <algorithm>
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
        const auto sink = spdlog_to(log_levels::parse(levels), out);
        sink->write(log_level::debug, "soft", "d");
        sink->write(log_level::info, "soft", "i");
        sink->write(log_level::warning, "io", "w");
        sink->write(log_level::error, "io", "e");
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
    const auto sink = spdlog_to(log_levels::parse("debug"), out);
    sink->write(log_level::info, "io", "{} {0} %s %v {");
    EXPECT_EQ(text.str(), "{} {0} %s %v {\n");
}

TEST(spdlog_sink, survives_a_sink_that_throws) {
    struct failing_sink final : spdlog::sinks::base_sink<std::mutex> {
        void sink_it_(const spdlog::details::log_msg&) override { throw std::runtime_error("disk full"); }
        void flush_() override {}
    };
    const auto sink = spdlog_to(log_levels::parse("debug"), std::make_shared<failing_sink>());
    testing::internal::CaptureStderr();
    EXPECT_NO_THROW(sink->write(log_level::info, "io", "text"));
    testing::internal::GetCapturedStderr();
}

TEST(spdlog_sink, may_be_written_to_from_several_threads) {
    std::ostringstream text;
    auto out = std::make_shared<spdlog::sinks::ostream_sink_mt>(text);
    out->set_pattern("%n");
    const auto sink = spdlog_to(log_levels::parse("debug"), out);
    auto write = [&](const char* room) {
        for (int i = 0; i < 500; ++i) sink->write(log_level::info, room, "x");
    };
    std::thread a(write, "aa");
    std::thread b(write, "bb");
    a.join();
    b.join();
    EXPECT_EQ(text.str().size(), 2U * 500U * 3U);
}

TEST(spdlog_sink, asks_for_the_logger_of_a_room_once_and_drops_lines_of_a_room_without) {
    std::ostringstream text;
    const auto out = std::make_shared<spdlog::sinks::ostream_sink_mt>(text);
    out->set_pattern("%n %v");
    std::string asked;
    spdlog_sink sink([&](std::string_view room) -> std::shared_ptr<spdlog::logger> {
        asked += std::string(room) + ";";
        return room == "io" ? std::make_shared<spdlog::logger>("mine", out) : nullptr;
    });
    for (const auto* room : {"io", "soft", "io", "soft"}) sink.write(log_level::info, room, room);
    EXPECT_EQ(asked, "io;soft;");
    EXPECT_EQ(text.str(), "mine io\nmine io\n");
}

TEST(spdlog_sink, clones_a_model_with_its_level_unless_a_logger_of_the_name_is_registered) {
    std::ostringstream text;
    const auto out = std::make_shared<spdlog::sinks::ostream_sink_mt>(text);
    out->set_pattern("%l %n: %v");
    const auto model = std::make_shared<spdlog::logger>("daq", out);
    model->set_level(spdlog::level::warn);
    const auto loud = model->clone("daq.soft");
    loud->set_level(spdlog::level::debug);
    spdlog::register_logger(loud);
    spdlog_sink sink(model);
    for (const auto* room : {"io", "soft"}) {
        sink.write(log_level::debug, room, "d");
        sink.write(log_level::error, room, "e");
    }
    spdlog::drop("daq.soft");
    EXPECT_EQ(text.str(), "error daq.io: e\ndebug daq.soft: d\nerror daq.soft: e\n");
}

TEST(command_log, writes_to_standard_error) {
    testing::internal::CaptureStderr();
    command_log(log_levels::parse("info"))->write(log_level::warning, "stream", "stalled by channel 7");
    EXPECT_THAT(testing::internal::GetCapturedStderr(),
                testing::HasSubstr("warning stream: stalled by channel 7\n"));
}

TEST(command_log, holds_repeated_lines_back_and_tells_how_many) {
    testing::internal::CaptureStderr();
    {
        const auto log = command_log({}, {.lines = 1});
        for (int i = 0; i < 100; ++i) log->write(log_level::warning, "io", "late");
    }
    const auto text = testing::internal::GetCapturedStderr();
    EXPECT_THAT(text, testing::HasSubstr("warning io: late … (repeated 99 times)\n"));
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
}

TEST(command_log, shows_nothing_of_a_room_that_is_off_not_even_its_repetitions) {
    testing::internal::CaptureStderr();
    {
        const auto log = command_log(log_levels::parse("debug,io=off"), {.lines = 1});
        for (int i = 0; i < 3; ++i) log->write(log_level::warning, "io", "late");
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

} // namespace

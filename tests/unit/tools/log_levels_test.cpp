#include "lib/log_levels.hpp"

#include <gmock/gmock.h>

#include <optional>
#include <stdexcept>

namespace {

using rocio::log_level;
using rocio::tools::log_levels;

TEST(log_levels, show_warnings_and_errors_by_default) {
    const log_levels levels;
    EXPECT_FALSE(levels.shows("soft", log_level::debug));
    EXPECT_FALSE(levels.shows("soft", log_level::info));
    EXPECT_TRUE(levels.shows("soft", log_level::warning));
    EXPECT_TRUE(levels.shows("soft", log_level::error));
}

TEST(log_levels, parse_one_level_for_all_rooms) {
    EXPECT_EQ(log_levels::parse("debug").of("io"), log_level::debug);
    EXPECT_EQ(log_levels::parse("info").of("io"), log_level::info);
    EXPECT_EQ(log_levels::parse("warning").of("io"), log_level::warning);
    EXPECT_EQ(log_levels::parse("error").of("io"), log_level::error);
    EXPECT_EQ(log_levels::parse("off").of("io"), std::nullopt);
    EXPECT_FALSE(log_levels::parse("off").shows("io", log_level::error));
}

TEST(log_levels, parse_single_rooms_beside_it) {
    const auto levels = log_levels::parse("error,soft=debug,status=off");
    EXPECT_EQ(levels.of("soft"), log_level::debug);
    EXPECT_EQ(levels.of("status"), std::nullopt);
    EXPECT_EQ(levels.of("io"), log_level::error);
}

TEST(log_levels, leave_the_other_rooms_at_the_default) {
    const auto levels = log_levels::parse("soft=debug");
    EXPECT_EQ(levels.of("soft"), log_level::debug);
    EXPECT_EQ(levels.of("io"), log_level::warning);
}

TEST(log_levels, let_the_last_of_two_win) {
    EXPECT_EQ(log_levels::parse("debug,error").of("io"), log_level::error);
    EXPECT_EQ(log_levels::parse("io=debug,io=off").of("io"), std::nullopt);
}

TEST(log_levels, refuse_anything_else_and_name_what_is_allowed) {
    for (const auto* text :
         {"", "warn", "INFO", "debug,", ",debug", "soft=", "soft=loud", "debug;info", " debug"}) {
        try {
            log_levels::parse(text);
            ADD_FAILURE() << text;
        } catch (const std::invalid_argument& refusal) {
            EXPECT_THAT(refusal.what(), testing::HasSubstr("debug, info, warning, error and off")) << text;
        }
    }
}

} // namespace

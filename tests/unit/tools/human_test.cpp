#include "lib/human.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <limits>

namespace {

using namespace rocio::tools;
using namespace std::chrono_literals;

TEST(human_bytes, has_three_digits_and_a_prefix) {
    EXPECT_EQ(human_bytes(0), "0 B");
    EXPECT_EQ(human_bytes(512), "512 B");
    EXPECT_EQ(human_bytes(999), "999 B");
    EXPECT_EQ(human_bytes(1000), "1.00 kB");
    EXPECT_EQ(human_bytes(1.5e9), "1.50 GB");
    EXPECT_EQ(human_bytes(12.34e6), "12.3 MB");
    EXPECT_EQ(human_bytes(123.4e12), "123 TB");
}

TEST(human_bytes, never_shows_four_digits_where_rounding_carries) {
    EXPECT_EQ(human_bytes(999'499), "999 kB");
    EXPECT_EQ(human_bytes(999'999), "1.00 MB");
    EXPECT_EQ(human_bytes(9'999), "10.0 kB");
    EXPECT_EQ(human_bytes(99'990), "100 kB");
}

TEST(human_count, has_no_unit) {
    EXPECT_EQ(human_count(0), "0");
    EXPECT_EQ(human_count(999), "999");
    EXPECT_EQ(human_count(12'345), "12.3 k");
    EXPECT_EQ(human_count(4e6), "4.00 M");
    EXPECT_EQ(human_count(0.25), "0.25");
}

TEST(human_count, is_a_dash_for_what_is_no_number) {
    EXPECT_EQ(human_count(std::numeric_limits<double>::quiet_NaN()), "-");
    EXPECT_EQ(human_bytes(std::numeric_limits<double>::infinity()), "-");
}

TEST(human_duration, chooses_its_unit) {
    EXPECT_EQ(human_duration(0ns), "0 ns");
    EXPECT_EQ(human_duration(850ns), "850 ns");
    EXPECT_EQ(human_duration(12'345ns), "12.3 us");
    EXPECT_EQ(human_duration(640us), "640 us");
    EXPECT_EQ(human_duration(2500us), "2.50 ms");
    EXPECT_EQ(human_duration(3s), "3.00 s");
    EXPECT_EQ(human_duration(99'960ms), "1 min 40 s");
    EXPECT_EQ(human_duration(125s), "2 min 05 s");
    EXPECT_EQ(human_duration(2h), "120 min 00 s");
}

} // namespace

#include "lib/frame_file.hpp"

#include <gmock/gmock.h>

#include <random>
#include <string>

namespace {

using namespace rocio;
using namespace rocio::tools;
using ::testing::HasSubstr;

void put(std::vector<std::byte>& out, std::uint32_t value) {
    for (int i = 0; i < 4; ++i) out.push_back(static_cast<std::byte>(value >> (8 * i)));
}

std::vector<std::byte> record(const std::string& payload, std::uint8_t channel = 1, std::uint16_t flags = 2) {
    std::vector<std::byte> out;
    put(out, static_cast<std::uint32_t>(payload.size()) + 4);
    put(out, static_cast<std::uint32_t>(channel) << 24 | flags);
    for (const char c : payload) out.push_back(static_cast<std::byte>(c));
    return out;
}

std::string text_of(const file_frame& f) {
    return {reinterpret_cast<const char*>(f.payload.data()), f.payload.size()};
}

TEST(frame_file_parser, takes_records_with_their_channel_and_flags) {
    frame_file_parser parser(100);
    auto file = record("first", 7, 0x0102);
    const auto second = record("second", 0);
    file.insert(file.end(), second.begin(), second.end());
    EXPECT_FALSE(parser.feed(file));
    EXPECT_FALSE(parser.finish());
    ASSERT_EQ(parser.frames().size(), 2U);
    EXPECT_EQ(text_of(parser.frames()[0]), "first");
    EXPECT_EQ(parser.frames()[0].channel, 7);
    EXPECT_EQ(parser.frames()[0].flags, 0x0102);
    EXPECT_EQ(parser.frames()[0].error, 0);
    EXPECT_EQ(text_of(parser.frames()[1]), "second");
    EXPECT_EQ(parser.frames()[1].channel, 0);
}

TEST(frame_file_parser, does_not_care_how_the_bytes_are_cut) {
    const auto file = record("a frame", 3);
    frame_file_parser parser(100);
    for (int round = 0; round < 3; ++round) {
        for (const auto& byte : file) ASSERT_FALSE(parser.feed({&byte, 1}));
    }
    ASSERT_EQ(parser.frames().size(), 3U);
    EXPECT_EQ(text_of(parser.frames()[2]), "a frame");
}

TEST(frame_file_parser, refuses_a_frame_over_the_limit_and_names_where_it_is) {
    frame_file_parser parser(10);
    ASSERT_FALSE(parser.feed(record("0123456789")));
    const auto e = parser.feed(record("0123456789A"));
    EXPECT_EQ(e.code, errc::invalid_argument);
    EXPECT_THAT(e.text, HasSubstr("record 1 at byte 18"));
    EXPECT_THAT(e.text, HasSubstr("1 to 10"));
    EXPECT_TRUE(parser.feed(record("x"))) << "it stays refused";
    EXPECT_TRUE(parser.finish());
    EXPECT_EQ(parser.frames().size(), 1U) << "what came before is good";
}

TEST(frame_file_parser, refuses_empty_frames_and_lengths_that_cannot_be) {
    for (const std::uint32_t length : {0U, 3U, 4U, 0xFFFFFFFFU}) {
        std::vector<std::byte> file;
        put(file, length);
        put(file, 0);
        EXPECT_TRUE(frame_file_parser(1U << 20).feed(file)) << length;
    }
}

TEST(frame_file_parser, tells_a_file_that_ends_inside_a_record) {
    auto file = record("payload");
    for (std::size_t cut = 1; cut < file.size(); ++cut) {
        frame_file_parser parser(100);
        ASSERT_FALSE(parser.feed(std::span(file).first(cut)));
        EXPECT_THAT(parser.finish().text, HasSubstr("ends inside record 0")) << cut;
    }
}

TEST(frame_file_parser, survives_any_bytes_within_its_memory) {
    std::mt19937 random(11);
    for (int round = 0; round < 300; ++round) {
        frame_file_parser parser(64);
        std::vector<std::byte> junk(random() % 200);
        for (auto& b : junk) b = static_cast<std::byte>(random() % 3 ? 0 : random());
        (void)parser.feed(junk);
        (void)parser.finish();
        for (const auto& f : parser.frames())
            EXPECT_THAT(f.payload.size(), ::testing::AllOf(::testing::Ge(1U), ::testing::Le(64U)));
    }
}

} // namespace

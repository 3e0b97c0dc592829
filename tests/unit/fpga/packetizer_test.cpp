#include "bus_bytes.hpp"

#include <rocio/fpga/packetizer.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace rocio::fpga {
namespace {

using test::byte_string;
using test::bytes_of;
using test::pattern;
using verdict = depacketizer::verdict;

byte_string one_to(int last) {
    byte_string out;
    for (int i = 1; i <= last; ++i) out.push_back(static_cast<std::byte>(i));
    return out;
}

byte_string joined(depacketizer& d, const std::vector<byte_string>& segments) {
    verdict v = verdict::dropped;
    for (const auto& s : segments) v = d.on_segment(s);
    if (v != verdict::whole) return {};
    return {d.frame().begin(), d.frame().end()};
}

TEST(packetizer, AShortFrameIsOneSegmentPaddedToWordsWithACrc) {
    EXPECT_THAT(packetize(one_to(20), 1464),
                testing::ElementsAre(bytes_of({0x22, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x01, 0x02,
                                               0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0B, 0x0C,
                                               0x0D, 0x0E, 0x0F, 0x10, 0x11, 0x12, 0x13, 0x14, 0x00, 0x00,
                                               0x00, 0x00, 0x00, 0x01, 0x04, 0x00, 0x69, 0x8F, 0xA6, 0x13})));
}

TEST(packetizer, ALongFrameIsCutAndItsCrcRunsOn) {
    EXPECT_THAT(packetize(one_to(20), 32),
                testing::ElementsAre(
                    bytes_of({0x22, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x01, 0x02, 0x03,
                              0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x0E,
                              0x0F, 0x10, 0x00, 0x00, 0x08, 0x00, 0x46, 0xB8, 0x99, 0x24}),
                    bytes_of({0x22, 0x02, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x11, 0x12, 0x13, 0x14,
                              0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x04, 0x00, 0x0F, 0xAB, 0xCB, 0xDA})));
}

TEST(packetizer, WithoutCrcTheVersionSaysSoAndTheFieldIsZero) {
    const auto segments = packetize(one_to(8), 1464, {.destination = 9, .last_user = 4, .crc = false});
    ASSERT_EQ(segments.size(), 1U);
    EXPECT_EQ(segments[0], bytes_of({0x02, 0x02, 0x09, 0x00, 0x00, 0x00, 0x00, 0x80, 1, 2, 3, 4,
                                     5,    6,    7,    8,    0x04, 0x01, 0x08, 0x00, 0, 0, 0, 0}));
}

TEST(packetizer, SegmentsAreNeverLongerThanAllowed) {
    for (std::size_t most : {24U, 25U, 31U, 32U, 100U, 1464U}) {
        for (std::size_t n : {1U, 8U, 9U, 100U, 4120U}) {
            for (const auto& s : packetize(pattern(n), most)) EXPECT_LE(s.size(), most);
        }
    }
}

TEST(packetizer, FramesOfAnyLengthComeOutAsTheyWentIn) {
    for (std::size_t n = 1; n < 200; ++n) {
        depacketizer d(4124);
        EXPECT_EQ(joined(d, packetize(pattern(n), 48)), pattern(n)) << n;
        EXPECT_EQ(joined(d, packetize(pattern(n, 1), 1464, {.crc = false})), pattern(n, 1)) << n;
        EXPECT_EQ(d.dropped(), 0U);
    }
}

TEST(packetizer, ABitThatFlipsAnywhereUnderTheCrcDropsTheFrame) {
    const auto good = packetize(pattern(20), 1464)[0];
    for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
        // Without its CRC flag a segment is not checked; that is another dialect, not damage one can find.
        if (bit >= 4 && bit < 8) continue;
        auto bad = good;
        bad[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
        depacketizer d(4124);
        EXPECT_EQ(d.on_segment(bad), verdict::dropped) << bit;
        EXPECT_EQ(d.on_segment(good), verdict::whole) << "the next frame is not harmed";
    }
}

TEST(packetizer, ACrcNeedNotBeChecked) {
    auto s = packetize(pattern(20), 1464)[0];
    s.back() ^= std::byte{1};
    EXPECT_EQ(depacketizer(4124, 0, true).on_segment(s), verdict::dropped);
    EXPECT_EQ(depacketizer(4124, 0, false).on_segment(s), verdict::whole);
}

TEST(packetizer, WhatDoesNotFollowDropsTheFrame) {
    const auto s = packetize(pattern(100), 48);
    ASSERT_GT(s.size(), 3U);
    depacketizer d(4124);
    EXPECT_EQ(d.on_segment(s[1]), verdict::dropped) << "no start";
    EXPECT_EQ(d.on_segment(s[0]), verdict::more);
    EXPECT_EQ(d.on_segment(s[2]), verdict::dropped) << "one is missing";
    EXPECT_EQ(d.on_segment(s[0]), verdict::more);
    EXPECT_EQ(d.on_segment(s[0]), verdict::dropped) << "a second start";
    EXPECT_EQ(joined(d, s), pattern(100));
    EXPECT_EQ(d.dropped(), 3U);
}

TEST(packetizer, OtherVersionsDestinationsAndLengthsAreDropped) {
    depacketizer d(4124);
    auto other = packetize(pattern(8), 1464, {.crc = false})[0];
    other[0] = std::byte{0x01};
    EXPECT_EQ(d.on_segment(other), verdict::dropped);
    EXPECT_EQ(d.on_segment(packetize(pattern(8), 1464, {.destination = 1})[0]), verdict::dropped);
    for (std::size_t n : {0U, 8U, 16U, 23U, 25U, 28U}) EXPECT_EQ(d.on_segment(pattern(n)), verdict::dropped);
    for (int valid : {0, 9, 255}) {
        auto s = packetize(pattern(8), 1464, {.crc = false})[0];
        s[s.size() - 6] = static_cast<std::byte>(valid);
        EXPECT_EQ(d.on_segment(s), verdict::dropped) << valid;
    }
}

TEST(packetizer, AFrameMarkedAsDamagedAtItsEndIsDropped) {
    depacketizer d(4124);
    EXPECT_EQ(d.on_segment(packetize(pattern(8), 1464, {.last_user = 1})[0]), verdict::dropped);
}

TEST(packetizer, AFrameWithoutEndTakesNoMoreThanItsLimit) {
    depacketizer d(64);
    const auto s = packetize(pattern(800), 32);
    EXPECT_EQ(d.on_segment(s[0]), verdict::more);
    EXPECT_EQ(d.on_segment(s[1]), verdict::more);
    EXPECT_EQ(d.on_segment(s[2]), verdict::more);
    EXPECT_EQ(d.on_segment(s[3]), verdict::more);
    EXPECT_EQ(d.on_segment(s[4]), verdict::dropped);
    EXPECT_TRUE(d.frame().empty());
}

TEST(packetizer, RandomAndDamagedSegmentsNeverMakeAFrameThatIsTooLong) {
    std::mt19937 draw(7);
    depacketizer d(256);
    std::size_t whole = 0;
    for (int i = 0; i < 20'000; ++i) {
        auto s = packetize(pattern(1 + draw() % 40, static_cast<unsigned>(i)), 40, {.crc = draw() % 2 == 0});
        for (auto& segment : s) {
            if (draw() % 4 == 0) segment[draw() % segment.size()] = static_cast<std::byte>(draw());
            if (draw() % 8 == 0) segment.resize(draw() % (segment.size() + 9));
            if (d.on_segment(segment) != verdict::whole) continue;
            ++whole;
            ASSERT_LE(d.frame().size(), 256U);
            ASSERT_FALSE(d.frame().empty());
        }
    }
    EXPECT_GT(whole, 5'000U);
    EXPECT_GT(d.dropped(), 1'000U);
}

} // namespace
} // namespace rocio::fpga

#include "bus_bytes.hpp"

#include <rocio/fpga/rssi_segment.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace rocio::fpga {
namespace {

using test::byte_string;
using test::bytes_of;

byte_string encoded(const rssi_header& h) {
    byte_string out(h.size());
    encode(out, h);
    return out;
}

const byte_string default_syn =
    bytes_of({0x80, 0x18, 0x64, 0x00, 0x1C, 0x20, 0x05, 0xB8, 0x00, 0x14, 0x00, 0x05,
              0x03, 0xE8, 0x0F, 0x02, 0x00, 0x03, 0x78, 0x00, 0x00, 0x00, 0x6F, 0x08});
const byte_string boards_answer =
    bytes_of({0xC0, 0x18, 0x33, 0x64, 0x1C, 0x08, 0x05, 0x78, 0x00, 0x28, 0x00, 0x0A,
              0x0B, 0xB8, 0x0A, 0x01, 0x00, 0x03, 0x01, 0x00, 0x00, 0x00, 0xD4, 0x14});

TEST(rssi_segment, TheFirstSynOfAClient) {
    EXPECT_EQ(encoded({.syn = true, .sequence = 100}), default_syn);
}

TEST(rssi_segment, ABoardsAnswerIsRead) {
    const auto h = parse_rssi(boards_answer);
    ASSERT_TRUE(h);
    EXPECT_TRUE(h->syn);
    EXPECT_TRUE(h->ack);
    EXPECT_EQ(h->sequence, 0x33);
    EXPECT_EQ(h->acknowledge, 100);
    EXPECT_EQ(h->parameters, (rssi_parameters{8, 1400, 40, 10, 3000, 10, 1, 1}));
    EXPECT_EQ(encoded(*h), boards_answer);
}

TEST(rssi_segment, ShortHeadersWithTheirFlags) {
    EXPECT_EQ(encoded({.ack = true, .sequence = 101, .acknowledge = 0x33}),
              bytes_of({0x40, 0x08, 0x65, 0x33, 0x00, 0x00, 0x5A, 0xC4}));
    EXPECT_EQ(encoded({.ack = true, .nul = true, .sequence = 101, .acknowledge = 0x33}),
              bytes_of({0x48, 0x08, 0x65, 0x33, 0x00, 0x00, 0x52, 0xC4}));
    EXPECT_EQ(encoded({.rst = true, .sequence = 101}),
              bytes_of({0x10, 0x08, 0x65, 0x00, 0x00, 0x00, 0x8A, 0xF7}));
    EXPECT_EQ(encoded({.ack = true, .busy = true, .sequence = 255, .acknowledge = 255}),
              bytes_of({0x41, 0x08, 0xFF, 0xFF, 0x00, 0x00, 0xBE, 0xF7}));
}

TEST(rssi_segment, AFlippedBitOfTheHeaderIsFound) {
    for (const auto& good : {default_syn, boards_answer, encoded({.ack = true, .sequence = 9})}) {
        for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
            auto bad = good;
            bad[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
            EXPECT_FALSE(parse_rssi(bad)) << bit;
        }
    }
}

/// With a checksum that fits.
byte_string altered(byte_string bytes, std::size_t at, int value) {
    const auto before = static_cast<int>(bytes[at]);
    bytes[at] = static_cast<std::byte>(value);
    std::uint32_t sum = 0;
    const auto word = [&](std::size_t i) {
        return static_cast<std::uint32_t>(bytes[i]) << 8 | static_cast<std::uint32_t>(bytes[i + 1]);
    };
    for (std::size_t i = 0; i + 2 < bytes.size(); i += 2) sum += word(i);
    sum = ~((sum & 0xFFFF) + (sum >> 16));
    bytes[bytes.size() - 2] = static_cast<std::byte>(sum >> 8);
    bytes[bytes.size() - 1] = static_cast<std::byte>(sum);
    EXPECT_NE(before, value);
    return bytes;
}

TEST(rssi_segment, OtherVersionsUnitsLengthsAndFlagsAreRefused) {
    EXPECT_TRUE(parse_rssi(altered(default_syn, 5, 16))) << "the way of the test works";
    EXPECT_FALSE(parse_rssi(altered(default_syn, 4, 0x2C))) << "version 2";
    EXPECT_FALSE(parse_rssi(altered(default_syn, 17, 6))) << "microseconds";
    EXPECT_FALSE(parse_rssi(altered(default_syn, 1, 8))) << "a SYN with a short header";
    EXPECT_FALSE(parse_rssi(altered(default_syn, 0, 0x90))) << "SYN and RST";
    const auto ack = encoded({.ack = true});
    EXPECT_FALSE(parse_rssi(altered(ack, 1, 24))) << "longer than it is";
    EXPECT_FALSE(parse_rssi(altered(ack, 0, 0x18))) << "RST and NUL";
    EXPECT_TRUE(parse_rssi(altered(ack, 0, 0x64))) << "flags of others' dialects are theirs";
}

TEST(rssi_segment, WhatIsTooShortIsRefused) {
    for (std::size_t n = 0; n < default_syn.size(); ++n)
        EXPECT_FALSE(parse_rssi(std::span(default_syn).first(n))) << n;
}

TEST(rssi_segment, ParametersThatStopEverythingAreNotUsable) {
    EXPECT_TRUE(usable({}));
    EXPECT_FALSE(usable({.max_outstanding = 0}));
    EXPECT_FALSE(usable({.max_segment = 31}));
    EXPECT_TRUE(usable({.max_segment = 32}));
    EXPECT_FALSE(usable({.retransmit_timeout = 0}));
    EXPECT_FALSE(usable({.null_timeout = 2}));
    EXPECT_FALSE(usable({.max_retransmits = 0}));
    EXPECT_TRUE(usable({.cumulative_ack_timeout = 0, .max_cumulative_acks = 0}));
}

TEST(rssi_segment, RandomBytesAreReadWithinTheirBounds) {
    std::mt19937 draw(5);
    std::size_t accepted = 0;
    for (int i = 0; i < 200'000; ++i) {
        byte_string bytes(draw() % 40);
        for (auto& b : bytes) b = static_cast<std::byte>(draw());
        if (bytes.size() > 1 && draw() % 2) bytes[1] = std::byte{8};
        const auto h = parse_rssi(bytes);
        if (!h) continue;
        ++accepted;
        ASSERT_GE(bytes.size(), h->size());
    }
    EXPECT_LT(accepted, 100U);
}

} // namespace
} // namespace rocio::fpga

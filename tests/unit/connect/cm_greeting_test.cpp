// What rocio puts into rdma_cm's private data, which come padded with zeros, or from programs that are not
// rocio.

#include "connect/cm_greeting.hpp"
#include "scripted_connection_manager.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace rocio::cm_greeting {
namespace {

using rendezvous::refusal;
using rendezvous::refusal_reason;
using ::testing::HasSubstr;

using octets = std::vector<std::byte>;

octets of(std::initializer_list<int> values) {
    octets out;
    for (const int v : values) out.push_back(static_cast<std::byte>(v));
    return out;
}

octets delivered_as(octets bytes, std::size_t size) {
    bytes.resize(size);
    return bytes;
}

/// Numbers that all differ, so that a field in another's place shows.
greeting sample() {
    return {{0x1122334455667788, 0x00000000A0B0C0D0, rkey{0xCAFEBABE}}, 8192, 256, 4096};
}

const octets golden = of({0x52, 0x4F, 0x43, 0x4D, 1,    1,    44,   0,    // header
                          0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, // region address
                          0x00, 0x00, 0x00, 0x00, 0xA0, 0xB0, 0xC0, 0xD0, // length
                          0xCA, 0xFE, 0xBA, 0xBE, 0x00, 0x00, 0x20, 0x00, // rkey, payload
                          0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x10, 0x00, // depth, message
                          0x00, 0x00, 0x00, 0x00});                       // zero

struct decoded {
    std::optional<greeting> value;
    error_info error;
};

decoded decode(const octets& data) {
    decoded out;
    out.value = decode_greeting(data, out.error);
    EXPECT_FALSE(out.value && out.error) << "either a greeting or an error";
    return out;
}

void expect_sample(const std::optional<greeting>& g) {
    ASSERT_TRUE(g);
    EXPECT_EQ(g->region.address, sample().region.address);
    EXPECT_EQ(g->region.length, sample().region.length);
    EXPECT_EQ(g->region.key, sample().region.key);
    EXPECT_EQ(g->max_payload, sample().max_payload);
    EXPECT_EQ(g->depth, sample().depth);
    EXPECT_EQ(g->largest_message, sample().largest_message);
}

TEST(CmGreeting, IsWrittenByteByByte) {
    EXPECT_EQ(encode(sample()), golden);
    EXPECT_LE(golden.size(), cm_private_data::most_at_connect);
}

TEST(CmGreeting, IsReadHoweverMuchPaddingItComesWith) {
    for (const std::size_t size :
         {golden.size(), golden.size() + 1, std::size_t{56}, std::size_t{196}, std::size_t{255}}) {
        const auto got = decode(delivered_as(golden, size));
        EXPECT_FALSE(got.error) << got.error.text;
        expect_sample(got.value);
    }
}

TEST(CmGreeting, NothingAtAllIsNoGreetingAndNoError) {
    for (const std::size_t size : {0U, 1U, 3U, 56U, 196U, 255U}) {
        const auto got = decode(octets(size));
        EXPECT_FALSE(got.value);
        EXPECT_FALSE(got.error) << size;
    }
}

TEST(CmGreeting, DataOfAnotherProgramAreNoGreetingAndNoError) {
    auto foreign = delivered_as(golden, 56);
    for (std::size_t at = 0; at < 4; ++at) {
        for (int bit = 0; bit < 8; ++bit) {
            auto changed = foreign;
            changed[at] ^= static_cast<std::byte>(1 << bit);
            const auto got = decode(changed);
            EXPECT_FALSE(got.value);
            EXPECT_FALSE(got.error);
        }
    }
    auto tcp = foreign;
    tcp[3] = std::byte{'I'};
    EXPECT_FALSE(decode(tcp).value) << "the magic of the rendezvous over TCP is another one";
}

TEST(CmGreeting, CutAnywhereItIsNoGreeting) {
    for (std::size_t size = 0; size < golden.size(); ++size) {
        const auto got = decode(octets(golden.begin(), golden.begin() + static_cast<std::ptrdiff_t>(size)));
        EXPECT_FALSE(got.value) << size;
        if (size >= 4) {
            EXPECT_EQ(got.error.code, errc::handshake_malformed) << size;
        }
    }
}

TEST(CmGreeting, TheLengthInItIsTrueOrItIsRefused) {
    const auto with_length = [](int length, std::size_t size) {
        auto data = delivered_as(golden, size);
        data[6] = static_cast<std::byte>(length);
        return decode(data);
    };
    for (const int length : {0, 1, 7, 8, 40, 43}) {
        EXPECT_FALSE(with_length(length, 196).value) << length;
        EXPECT_EQ(with_length(length, 196).error.code, errc::handshake_malformed) << length;
    }
    EXPECT_EQ(with_length(57, 56).error.code, errc::handshake_malformed) << "more than was delivered";
    EXPECT_EQ(with_length(255, 56).error.code, errc::handshake_malformed);
    EXPECT_EQ(with_length(255, 196).error.code, errc::handshake_malformed);
    EXPECT_EQ(with_length(197, 196).error.code, errc::handshake_malformed);
    expect_sample(with_length(56, 56).value);
}

TEST(CmGreeting, WhatALaterOneAppendsIsIgnored) {
    auto data = delivered_as(golden, 196);
    data[6] = std::byte{60};
    std::fill(data.begin() + 40, data.begin() + 60, std::byte{0xEE});
    expect_sample(decode(data).value);
}

TEST(CmGreeting, AnotherVersionIsToldWithBothNumbers) {
    for (const int version : {0, 2, 255}) {
        auto data = delivered_as(golden, 56);
        data[4] = static_cast<std::byte>(version);
        const auto got = decode(data);
        EXPECT_FALSE(got.value);
        EXPECT_EQ(got.error.code, errc::version_mismatch);
        EXPECT_THAT(got.error.text, HasSubstr("version " + std::to_string(version)));
        EXPECT_THAT(got.error.text, HasSubstr("version 1"));
    }
}

TEST(CmGreeting, AnotherKindIsMalformed) {
    for (const int kind : {0, 2, 3, 255}) {
        auto data = delivered_as(golden, 56);
        data[5] = static_cast<std::byte>(kind);
        EXPECT_EQ(decode(data).error.code, errc::handshake_malformed);
        EXPECT_THAT(decode(data).error.text, HasSubstr("kind " + std::to_string(kind)));
    }
}

TEST(CmGreeting, TheReservedByteIsIgnored) {
    auto data = delivered_as(golden, 56);
    data[7] = std::byte{0xFF};
    expect_sample(decode(data).value);
}

TEST(CmGreeting, SurvivesNoise) {
    std::mt19937 random(87);
    for (int round = 0; round < 20000; ++round) {
        auto data = delivered_as(golden, random() % 256);
        for (int n = 0; n < 4 && !data.empty(); ++n)
            data[random() % std::min<std::size_t>(data.size(), 12)] = static_cast<std::byte>(random());
        (void)decode(data);
        if (const auto r = decode_refusal(data)) {
            EXPECT_LE(r->text.size(), max_refusal_text);
        }
    }
}

// ---- Refusals

TEST(CmRefusal, IsWrittenByteByByte) {
    EXPECT_EQ(encode(refusal{refusal_reason::busy, "no"}),
              of({0x52, 0x4F, 0x43, 0x4D, 1, 2, 12, 0, 0, 6, 'n', 'o'}));
}

TEST(CmRefusal, IsReadFromItsPadding) {
    for (const std::size_t size : {12U, 148U, 255U}) {
        const auto got = decode_refusal(delivered_as(encode(refusal{refusal_reason::geometry, "no"}), size));
        ASSERT_TRUE(got);
        EXPECT_EQ(got->reason, refusal_reason::geometry);
        EXPECT_EQ(got->text, "no");
    }
}

TEST(CmRefusal, TextIsBoundedAndPrintable) {
    const auto data = encode(refusal{refusal_reason::application, std::string(1000, 'x')});
    EXPECT_LE(data.size(), cm_private_data::most_at_reject);
    EXPECT_EQ(decode_refusal(data)->text, std::string(max_refusal_text, 'x'));
    EXPECT_EQ(decode_refusal(encode(refusal{refusal_reason::application, "a\n\x1b[2J\x80z"}))->text,
              "a??[2J?z");
    auto hostile = delivered_as(encode(refusal{refusal_reason::application, "abc"}), 148);
    hostile[6] = std::byte{148};
    hostile[11] = std::byte{0x1b};
    const auto got = decode_refusal(hostile);
    ASSERT_TRUE(got);
    EXPECT_EQ(got->text.size(), max_refusal_text);
    EXPECT_EQ(got->text.substr(0, 4), "a?c?");
}

TEST(CmRefusal, OfAnyVersionIsUnderstood) {
    auto data = encode(refusal{refusal_reason::version, "older"});
    data[4] = std::byte{9};
    EXPECT_EQ(decode_refusal(data)->text, "older");
}

TEST(CmRefusal, AnUnknownReasonIsKept) {
    auto data = encode(refusal{refusal_reason::busy, ""});
    data[8] = std::byte{0x12};
    EXPECT_EQ(rendezvous::error_of(decode_refusal(data)->reason), errc::refused_by_peer);
}

TEST(CmRefusal, DamagedOrForeignIsNone) {
    const auto good = encode(refusal{refusal_reason::busy, "text"});
    for (std::size_t size = 0; size < good.size(); ++size)
        EXPECT_FALSE(decode_refusal(std::span(good).first(size))) << size;
    EXPECT_FALSE(decode_refusal(octets(148)));
    EXPECT_FALSE(decode_refusal(octets(148, std::byte{0xFF})));
    EXPECT_FALSE(decode_refusal(delivered_as(golden, 148))) << "a greeting";
    for (const int length : {0, 8, 9, 149, 255}) {
        auto data = delivered_as(good, 148);
        data[6] = static_cast<std::byte>(length);
        EXPECT_FALSE(decode_refusal(data)) << length;
    }
}

// ---- Whether the two sides fit

TEST(CmGreeting, MessagesMustFitWhatTheOtherTakes) {
    greeting connecting, listening;
    EXPECT_FALSE(check_fit(connecting, listening)) << "nothing told";
    connecting.largest_message = 4096;
    EXPECT_FALSE(check_fit(connecting, listening)) << "only one side told";
    listening.max_payload = 4096;
    EXPECT_FALSE(check_fit(connecting, listening));
    listening.max_payload = 4095;
    const auto e = check_fit(connecting, listening);
    EXPECT_EQ(e.code, errc::geometry_mismatch);
    EXPECT_THAT(e.text, HasSubstr("the connecting side sends messages of up to 4096 bytes"));
    EXPECT_THAT(e.text, HasSubstr("the listening side takes at most 4095"));
    const auto other = check_fit({.max_payload = 10}, {.largest_message = 11});
    EXPECT_EQ(other.code, errc::geometry_mismatch);
    EXPECT_THAT(other.text, HasSubstr("the listening side sends"));
}

} // namespace
} // namespace rocio::cm_greeting

#include "bus_bytes.hpp"
#include "fake_registers.hpp"
#include "fpga/memory_bridge_protocol.hpp"

#include <rocio/fpga/bus_error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>

namespace rocio::fpga::detail {
namespace {

using test::byte_string;
using test::bytes_of;
using test::words_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

byte_string text(const std::string& s) {
    byte_string out;
    for (const char c : s) out.push_back(static_cast<std::byte>(c));
    return out;
}
std::string text(const bridge_part& p) {
    std::string out;
    for (const auto b : p) out += static_cast<char>(b);
    return out;
}

bridge_parts request(bridge_type type, std::uint64_t address, std::uint32_t size,
                     const byte_string& data = {}) {
    auto parts = encode(bridge_header{7, address, size, type});
    if (!data.empty()) parts.push_back(data);
    return parts;
}

class memory_bridge : public ::testing::Test {
  protected:
    test::fake_registers registers;
    memory_bridge_protocol protocol;

    bridge_parts answer(const bridge_parts& r) { return answer_bridge(registers, r); }
    std::string result_of(const bridge_parts& r) {
        const auto reply = answer(r);
        return reply.size() == 6 ? text(reply[5]) : "no answer";
    }
};

TEST_F(memory_bridge, AReadHasFourPartsInTheHostsByteOrder) {
    EXPECT_THAT(request(bridge_type::read, 0x1'0000'0040, 8),
                ElementsAre(bytes_of({7, 0, 0, 0}), bytes_of({0x40, 0, 0, 0, 1, 0, 0, 0}),
                            bytes_of({8, 0, 0, 0}), bytes_of({1, 0, 0, 0})));
    EXPECT_EQ(request(bridge_type::probe, 0, 0)[3], bytes_of({0xFE, 0xFF, 0xFF, 0xFF}));
}

TEST_F(memory_bridge, ReadsAndVerifiesGiveTheDataAndOk) {
    registers.values = {{0x40, 5}, {0x44, 6}};
    for (const auto type : {bridge_type::read, bridge_type::verify}) {
        const auto reply = answer(request(type, 0x40, 8));
        ASSERT_EQ(reply.size(), 6U);
        EXPECT_EQ(parse_bridge_header(reply), (bridge_header{7, 0x40, 8, type}));
        EXPECT_EQ(reply[4], words_of({5, 6}));
        EXPECT_EQ(text(reply[5]), "OK");
    }
}

TEST_F(memory_bridge, WritesAndPostsAreDoneAndAnswered) {
    EXPECT_EQ(result_of(request(bridge_type::write, 0x40, 8, words_of({1, 2}))), "OK");
    EXPECT_EQ(result_of(request(bridge_type::post, 0x48, 4, words_of({3}))), "OK");
    EXPECT_THAT(registers.writes, ElementsAre(Pair(0x40, 1), Pair(0x44, 2), Pair(0x48, 3)));
}

TEST_F(memory_bridge, AProbeIsAnsweredLocally) {
    const auto reply = answer(request(bridge_type::probe, 0, 0));
    ASSERT_EQ(reply.size(), 6U);
    EXPECT_THAT(reply[4], IsEmpty());
    EXPECT_EQ(text(reply[5]), "OK");
}

TEST_F(memory_bridge, RefusalsAreSentences) {
    registers.failing = {{0x80, bus_response::decode_error}, {0x84, bus_response::slave_error}};
    EXPECT_EQ(result_of(request(bridge_type::read, 0x80, 4)), "no register at this address (bus response 3)");
    EXPECT_EQ(result_of(request(bridge_type::read, 0x84, 4)), "error on the board's bus (bus response 2)");
    EXPECT_THAT(result_of(request(bridge_type::read, 0x40, 6)), HasSubstr("size of 6 bytes"));
    EXPECT_THAT(result_of(request(bridge_type::read, 0x40, 0)), HasSubstr("size of 0 bytes"));
    EXPECT_THAT(result_of(request(bridge_type::read, 0x40, 0xFFFFFFFC)), HasSubstr("up to 4096"));
    EXPECT_THAT(result_of(request(bridge_type::read, 0x42, 4)), HasSubstr("no multiple of 4"));
    EXPECT_THAT(result_of(request(bridge_type::read, 0xFFFF'FFFF'FFFF'FFFC, 8)), HasSubstr("beyond"));
    EXPECT_THAT(result_of(request(static_cast<bridge_type>(9), 0x40, 4)), HasSubstr("type 9"));
}

TEST_F(memory_bridge, WhatIsNoRequestIsNotAnswered) {
    EXPECT_THAT(answer({}), IsEmpty());
    EXPECT_THAT(answer(request(bridge_type::write, 0x40, 8, words_of({1}))), IsEmpty()) << "data too short";
    EXPECT_THAT(answer(request(bridge_type::write, 0x40, 4)), IsEmpty()) << "no data";
    for (std::size_t i = 0; i < 4; ++i) {
        auto parts = request(bridge_type::read, 0x40, 4);
        parts[i].push_back(std::byte{});
        EXPECT_THAT(answer(parts), IsEmpty()) << "part " << i;
        parts.resize(i);
        EXPECT_THAT(answer(parts), IsEmpty());
    }
    auto many = request(bridge_type::read, 0x40, 4, words_of({1}));
    many.push_back({});
    EXPECT_THAT(answer(many), IsEmpty());
    EXPECT_THAT(registers.writes, IsEmpty());
}

TEST_F(memory_bridge, PartsSurviveTheWayThroughATransport) {
    const bridge_parts reply{bytes_of({7, 0, 0, 0}),
                             test::pattern(8),
                             test::pattern(4),
                             test::pattern(4, 1),
                             test::pattern(100),
                             {},
                             text("OK")};
    EXPECT_EQ(unflatten(flatten(reply)), reply);
    auto cut = flatten(reply);
    cut.pop_back();
    EXPECT_FALSE(unflatten(cut));
    EXPECT_FALSE(unflatten({}));
}

TEST_F(memory_bridge, TheClientUnderstandsTheServer) {
    registers.values[0x40] = 99;
    std::array<std::uint32_t, 2> words{};
    const register_access access{access_kind::read, 0x40, words, {}};
    const auto reply = flatten(answer(*unflatten(protocol.encode(7, access))));
    EXPECT_EQ(protocol.id_of(reply), 7U);
    const auto verdict = protocol.judge(7, access, reply);
    ASSERT_TRUE(verdict);
    EXPECT_FALSE(*verdict);
    EXPECT_THAT(words, ElementsAre(99, 0));
    EXPECT_FALSE(protocol.judge(8, access, reply)) << "another transaction";
    EXPECT_FALSE(protocol.judge(7, {access_kind::read, 0x44, words, {}}, reply)) << "another address";
    EXPECT_FALSE(protocol.judge(7, {access_kind::null, 0, {}, {}}, reply));
}

TEST_F(memory_bridge, AnErrorHasTheBridgesWordsMadeReadable) {
    std::array<std::uint32_t, 1> words{};
    const register_access access{access_kind::read, 0x40, words, {}};
    auto reply = answer(request(bridge_type::read, 0x40, 4));
    reply[5] = text("Timeout\n\x1b[31m waiting");
    const auto verdict = protocol.judge(7, access, flatten(reply));
    ASSERT_TRUE(verdict);
    EXPECT_EQ(verdict->code, bus_errc::refused);
    EXPECT_EQ(verdict->text, "the bridge refuses: Timeout??[31m waiting");
    reply[5] = test::pattern(5000);
    EXPECT_LT(protocol.judge(7, access, flatten(reply))->text.size(), 1100U);
}

TEST_F(memory_bridge, AnOkWithTheWrongAmountOfDataIsNoAnswer) {
    std::array<std::uint32_t, 1> words{};
    auto reply = answer(request(bridge_type::read, 0x40, 4));
    reply[4].resize(3);
    EXPECT_FALSE(protocol.judge(7, {access_kind::read, 0x40, words, {}}, flatten(reply)));
}

TEST_F(memory_bridge, RandomMessagesAreReadWithinTheirBounds) {
    std::mt19937 draw(3);
    std::array<std::uint32_t, 4> words{};
    for (int i = 0; i < 100'000; ++i) {
        auto bytes = flatten(answer(request(bridge_type::read, 0x40, 16)));
        for (auto n = draw() % 4; n > 0; --n) bytes[draw() % bytes.size()] = static_cast<std::byte>(draw());
        bytes.resize(draw() % (bytes.size() + 4));
        protocol.id_of(bytes);
        const auto verdict = protocol.judge(7, {access_kind::read, 0x40, words, {}}, bytes);
        ASSERT_TRUE(!verdict || !*verdict || !verdict->text.empty());
        bridge_parts parts(draw() % 7);
        for (auto& p : parts) p.resize(draw() % 10);
        answer(parts);
    }
}

} // namespace
} // namespace rocio::fpga::detail

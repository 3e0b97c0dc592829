#include "cudaq/playback_check.hpp"
#include "scripted_board.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocio::tools {
namespace {

using fpga::hsb::ila_sample;
using test::scripted_board;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

scripted_board::frame window_of(std::uint32_t id, std::uint32_t payload) {
    const auto window = make_window(id, payload);
    scripted_board::frame beat{};
    std::copy_n(window.begin(), beat.size(), beat.begin());
    return beat;
}

ila_sample right_answer(std::uint32_t id, std::uint32_t payload = 8) {
    const auto window = window_of(id, payload);
    return *scripted_board::increment(*rpc::request_header::decode(window), window);
}

rpc::response_header header_of(const ila_sample& s) {
    return *rpc::response_header::decode(s.data);
}

/// The right answer with another header.
template <class Change>
ila_sample with_header(std::uint32_t id, Change change) {
    auto s = right_answer(id);
    auto header = header_of(s);
    change(header);
    static_cast<void>(header.encode(s.data));
    return s;
}

playback_counts counts_of(const playback_check::config& c, const playback_pass& pass,
                          const std::vector<ila_sample>& samples) {
    playback_check check(c);
    check.begin(pass);
    for (const auto& s : samples) check.add(s);
    check.end();
    return check.counts();
}

TEST(PlaybackCheck, FindsEveryAnswerRight) {
    const auto c = counts_of({}, {0, 3}, {right_answer(0), right_answer(2), right_answer(1)});
    EXPECT_EQ(c.samples, 3U);
    EXPECT_EQ(c.responses, 3U);
    EXPECT_EQ(c.matched, 3U);
    EXPECT_EQ(c.unique, 3U);
    EXPECT_TRUE(c.all_right(3));
    EXPECT_FALSE(c.all_right(4));
}

TEST(PlaybackCheck, AMessageWithoutAnAnswerIsMissingAndFails) {
    const auto c = counts_of({}, {0, 3}, {right_answer(0), right_answer(2)});
    EXPECT_EQ(c.matched, 2U);
    EXPECT_EQ(c.missing, 1U);
    EXPECT_FALSE(c.all_right(3));
}

TEST(PlaybackCheck, NothingCapturedIsEverythingMissing) {
    EXPECT_EQ(counts_of({}, {0, 100}, {}).missing, 100U);
}

TEST(PlaybackCheck, AWrongByteIsAPayloadErrorAndNoMatch) {
    for (const std::size_t at : {24U, 31U}) {
        auto wrong = right_answer(1);
        wrong.data[at] ^= std::byte{0x10};
        const auto c = counts_of({}, {0, 2}, {right_answer(0), wrong});
        EXPECT_EQ(c.payload_errors, 1U);
        EXPECT_EQ(c.matched, 1U);
        EXPECT_EQ(c.missing, 0U);
        EXPECT_EQ(c.unique, 2U);
        EXPECT_FALSE(c.all_right(2));
    }
}

TEST(PlaybackCheck, BytesBehindThePayloadDoNotMatter) {
    auto s = right_answer(1);
    s.data[32] = std::byte{0x77};
    EXPECT_TRUE(counts_of({}, {1, 1}, {s}).all_right(1));
}

TEST(PlaybackCheck, OfALongPayloadTheFirst40BytesAreSeen) {
    auto s = right_answer(9, 100);
    EXPECT_TRUE(counts_of({100, false}, {9, 1}, {s}).all_right(1));
    s.data[63] ^= std::byte{1};
    EXPECT_EQ(counts_of({100, false}, {9, 1}, {s}).payload_errors, 1U);
}

TEST(PlaybackCheck, AStatusOtherThan0IsAHeaderErrorAndNotMissing) {
    for (const std::int32_t status : {1, -1, -4}) {
        const auto c = counts_of({}, {0, 1}, {with_header(0, [&](auto& h) { h.status = status; })});
        EXPECT_EQ(c.header_errors, 1U);
        EXPECT_EQ(c.unique, 0U);
        EXPECT_EQ(c.missing, 0U);
        EXPECT_FALSE(c.all_right(1));
    }
}

TEST(PlaybackCheck, AnAnswerOfAnotherLengthIsAHeaderError) {
    for (const std::uint32_t length : {0U, 7U, 9U, 0xFFFFFFFFU})
        EXPECT_EQ(
            counts_of({}, {0, 1}, {with_header(0, [&](auto& h) { h.result_len = length; })}).header_errors,
            1U);
}

TEST(PlaybackCheck, ASecondAnswerIsADuplicateAndFails) {
    const auto c = counts_of({}, {0, 2}, {right_answer(0), right_answer(1), right_answer(1)});
    EXPECT_EQ(c.duplicates, 1U);
    EXPECT_EQ(c.matched, 2U);
    EXPECT_EQ(c.unique, 2U);
    EXPECT_FALSE(c.all_right(2));
}

TEST(PlaybackCheck, AnAnswerToAnotherPassIsUnexpectedAndFails) {
    const auto c =
        counts_of({}, {512, 2}, {right_answer(0), right_answer(512), right_answer(513), right_answer(514)});
    EXPECT_EQ(c.unexpected, 2U);
    EXPECT_EQ(c.matched, 2U);
    EXPECT_FALSE(c.all_right(2));
}

TEST(PlaybackCheck, IdsNearTheEndOfTheirRangeDoNotWrap) {
    const auto c = counts_of({}, {10, 2}, {right_answer(9), right_answer(0xFFFFFFFF)});
    EXPECT_EQ(c.unexpected, 2U);
    EXPECT_EQ(c.missing, 2U);
}

TEST(PlaybackCheck, IdleSamplesAndOtherFramesAreCountedAndDoNotFail) {
    auto idle = right_answer(0);
    idle.valid = false;
    ila_sample other;
    other.valid = true;
    const auto c = counts_of({}, {0, 1}, {idle, right_answer(0), other});
    EXPECT_EQ(c.idle, 1U);
    EXPECT_EQ(c.non_rpc, 1U);
    EXPECT_EQ(c.samples, 3U);
    EXPECT_TRUE(c.all_right(1));
}

TEST(PlaybackCheck, ARequestIsNoAnswerUnlessForwarded) {
    const auto request = *scripted_board::echo({}, window_of(4, 8));
    const auto c = counts_of({}, {4, 1}, {request});
    EXPECT_EQ(c.non_rpc, 1U);
    EXPECT_EQ(c.missing, 1U);
    EXPECT_TRUE(counts_of({8, true}, {4, 1}, {request}).all_right(1));
}

TEST(PlaybackCheck, WhatIsForwardedMustBeUnchanged) {
    auto changed = *scripted_board::echo({}, window_of(4, 8));
    changed.data[24] ^= std::byte{1};
    EXPECT_EQ(counts_of({8, true}, {4, 1}, {changed}).payload_errors, 1U);
    EXPECT_EQ(counts_of({8, true}, {4, 1}, {right_answer(4)}).non_rpc, 1U);
}

TEST(PlaybackCheck, CountsGoOnOverThePasses) {
    playback_check check({});
    for (std::uint32_t pass = 0; pass < 3; ++pass) {
        check.begin({pass * 10, 10});
        for (std::uint32_t i = 0; i < 10; ++i)
            if (i != pass) check.add(right_answer(pass * 10 + i));
        check.end();
    }
    EXPECT_EQ(check.counts().matched, 27U);
    EXPECT_EQ(check.counts().missing, 3U);
    EXPECT_THAT(check.remarks(),
                ElementsAre("message 0: no answer", "message 11: no answer", "message 22: no answer"));
}

TEST(PlaybackCheck, RemarksNameMessageAndBytesAndAreBounded) {
    playback_check check({});
    check.begin({0, 1000});
    auto wrong = right_answer(3);
    wrong.data[26] = std::byte{200};
    check.add(wrong);
    check.add(with_header(4, [](auto& h) { h.status = -1; }));
    check.end();
    EXPECT_THAT(check.remarks(), SizeIs(playback_check::most_remarks));
    EXPECT_THAT(check.remarks(), Contains("message 3: byte 2 is 200, expected 6"));
    EXPECT_THAT(check.remarks(), Contains("message 4: error status -1"));
    EXPECT_EQ(check.counts().missing, 998U);
}

TEST(PlaybackCheck, TakesARoundTripWhereBothTimesAreKnown) {
    playback_check check({});
    check.begin({0, 4});
    check.add(right_answer(0));
    auto without_clock = right_answer(1);
    without_clock.time = 0;
    check.add(without_clock);
    check.add(with_header(2, [](auto& h) { h.timestamp = 0; }));
    check.add(with_header(3, [](auto& h) { h.status = 1; }));
    check.end();
    ASSERT_THAT(check.round_trips(), SizeIs(1));
    EXPECT_EQ(check.round_trips()[0].shot, 0U);
    EXPECT_EQ(check.round_trips()[0].nanoseconds(), 3000);
}

TEST(PlaybackCheck, ARoundTripMayCrossASecond) {
    const ptp_round_trip r{1, {10, 999'999'000}, {11, 500}};
    EXPECT_EQ(r.nanoseconds(), 1500);
    const ptp_round_trip back{1, {11, 500}, {10, 999'999'000}};
    EXPECT_EQ(back.nanoseconds(), -1500);
}

} // namespace
} // namespace rocio::tools

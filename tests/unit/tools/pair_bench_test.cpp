#include "bench/pair_bench.hpp"

#include <rocio/types/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace rocio::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Sends at these microseconds.
std::vector<std::chrono::steady_clock::time_point> sent_at(std::initializer_list<int> times) {
    std::vector<std::chrono::steady_clock::time_point> sent;
    for (const int t : times) sent.emplace_back(std::chrono::microseconds{t});
    return sent;
}

TEST(PairBench, ASampleIsHalfOfTheTimeFromOneSendToTheNext) {
    EXPECT_THAT(half_round_trips(sent_at({0, 10, 14, 20}), 0), ElementsAre(5, 2, 3));
}

TEST(PairBench, WarmUpIsLeftOut) {
    EXPECT_THAT(half_round_trips(sent_at({0, 1000, 1010, 1014}), 1), ElementsAre(5, 2));
    EXPECT_THAT(half_round_trips(sent_at({0, 10, 20}), 2), IsEmpty());
    EXPECT_THAT(half_round_trips(sent_at({0, 10, 20}), 9), IsEmpty());
}

TEST(PairBench, WithoutASecondSendThereIsNoSample) {
    EXPECT_THAT(half_round_trips(sent_at({}), 0), IsEmpty());
    EXPECT_THAT(half_round_trips(sent_at({5}), 0), IsEmpty());
}

TEST(PairBench, ATenthComesBeforeWhatIsMeasured) {
    pair_bench_config c;
    c.count = 1000;
    EXPECT_EQ(c.warm_up(), 100U);
    EXPECT_EQ(c.messages(), 1100U);
    c.count = 9;
    EXPECT_EQ(c.warm_up(), 0U);
    EXPECT_EQ(c.messages(), 9U);
}

TEST(PairBench, TheSideThatIsGivenAPeerDials) {
    pair_bench_config c;
    EXPECT_FALSE(c.dials());
    c.peer.emplace();
    EXPECT_TRUE(c.dials());
}

TEST(PairBench, TheLimitOfInlineSendsIsIncluded) {
    pair_bench_config c;
    c.max_inline = 64;
    c.size = 64;
    EXPECT_TRUE(c.sent_inline());
    c.size = 65;
    EXPECT_FALSE(c.sent_inline());
}

TEST(PairBench, BytesOfOneSideAreAcceptedAsItsOwnOnly) {
    std::array<std::byte, 1000> bytes{};
    for (const bool dials : {false, true}) {
        fill_pattern(bytes, dials);
        EXPECT_NO_THROW(check_pattern(bytes, dials));
        EXPECT_THROW(check_pattern(bytes, !dials), exception);
    }
}

TEST(PairBench, EveryWrongByteIsFoundAndNamed) {
    std::array<std::byte, 300> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        fill_pattern(bytes, true);
        bytes[i] ^= std::byte{0x10};
        try {
            check_pattern(bytes, true);
            ADD_FAILURE() << "byte " << i << " was not missed";
        } catch (const exception& e) {
            EXPECT_EQ(e.code(), errc::bad_response);
            EXPECT_THAT(e.what(), HasSubstr("byte " + std::to_string(i) + " of 300"));
        }
    }
}

TEST(PairBench, MemoryThatNobodyWroteIsNotTakenForAMessage) {
    const std::array<std::byte, 2> untouched{};
    EXPECT_THROW(check_pattern(untouched, false), exception);
    EXPECT_THROW(check_pattern(untouched, true), exception);
}

TEST(PairBench, BytesOfEachBufferAreItsOwn) {
    std::array<std::byte, 100> first{}, other{};
    fill_pattern(first, true, 0);
    for (std::size_t buffer = 1; buffer < 256; ++buffer) {
        fill_pattern(other, true, buffer);
        EXPECT_NE(first, other) << "buffer " << buffer;
    }
}

TEST(PairBench, AWrongNumberIsToldWithTheOneThatWasDue) {
    const auto other = wrong_number(7, 9);
    EXPECT_EQ(other.code, errc::bad_response);
    EXPECT_THAT(other.message(), testing::AllOf(HasSubstr("7"), HasSubstr("9")));
    EXPECT_THAT(wrong_number(7, std::nullopt).message(), HasSubstr("no number"));
}

TEST(PairBench, AReadIsNoPingPongAndNeitherIsABandwidth) {
    pair_bench_config c;
    EXPECT_TRUE(c.is_ping_pong());
    c.what = measured::bandwidth;
    EXPECT_FALSE(c.is_ping_pong());
    c.what = measured::latency;
    c.operation = message_operation::read;
    EXPECT_FALSE(c.is_ping_pong());
}

TEST(PairBench, APingPongNeedsOneMoreThanItsIntervalsUnlessItIsPaced) {
    pair_bench_config c;
    c.count = 1000;
    EXPECT_EQ(c.ping_pong_messages(), 1101U);
    c.rate = 500;
    EXPECT_EQ(c.ping_pong_messages(), 1100U);
}

TEST(PairBench, AReadIsNeverInline) {
    pair_bench_config c;
    c.size = 8;
    EXPECT_TRUE(c.sent_inline());
    c.operation = message_operation::read;
    EXPECT_FALSE(c.sent_inline());
}

TEST(PairBench, EveryOperationHasItsName) {
    EXPECT_EQ(name_of(message_operation::send), "send");
    EXPECT_EQ(name_of(message_operation::send_imm), "send-imm");
    EXPECT_EQ(name_of(message_operation::write), "write");
    EXPECT_EQ(name_of(message_operation::write_imm), "write-imm");
    EXPECT_EQ(name_of(message_operation::read), "read");
}

} // namespace
} // namespace rocio::tools

#include "playback_fixture.hpp"

#include <rocio/fpga/hsb_registers.hpp>

namespace rocio::tools {
namespace {

namespace hsb = fpga::hsb;
using test::scripted_board;
using testing::Contains;
using testing::HasSubstr;
using testing::SizeIs;

using request = rpc::request_header;
using frame = scripted_board::frame;
using answer = std::optional<scripted_board::sample>;

TEST_F(playback_test, AMissingAnswerFails) {
    board.answer = [](const request& r, const frame& w) -> answer {
        if (r.request_id == 4) return std::nullopt;
        return scripted_board::increment(r, w);
    };
    const auto r = play(config(10));
    EXPECT_FALSE(r.passed());
    EXPECT_EQ(r.counts.missing, 1U);
    EXPECT_EQ(r.counts.matched, 9U);
    EXPECT_THAT(r.remarks, Contains("message 4: no answer"));
}

TEST_F(playback_test, AMissingLastAnswerFails) {
    board.answer = [](const request& r, const frame& w) -> answer {
        if (r.request_id == 9) return std::nullopt;
        return scripted_board::increment(r, w);
    };
    const auto r = play(config(10));
    EXPECT_EQ(r.counts.missing, 1U);
    EXPECT_FALSE(r.passed());
}

TEST_F(playback_test, NoAnswerAtAllFails) {
    board.answer = [](const request&, const frame&) -> answer { return std::nullopt; };
    const auto r = play(config(10));
    EXPECT_EQ(r.counts.missing, 10U);
    EXPECT_EQ(r.counts.samples, 0U);
    EXPECT_FALSE(r.passed());
}

TEST_F(playback_test, AnEmulatorThatNeverSaysDoneIsNotWaitedForForEver) {
    board.says_done = false;
    board.answer = [](const request& r, const frame& w) -> answer {
        if (r.request_id >= 8) return std::nullopt;
        return scripted_board::increment(r, w);
    };
    auto c = config(10);
    c.reply_timeout = std::chrono::milliseconds(10);
    const auto r = play(c);
    EXPECT_EQ(r.counts.missing, 2U);
    EXPECT_EQ(r.counts.matched, 8U);
}

TEST_F(playback_test, AnAnswerMissingInTheFirstPassIsNotFoundInTheSecond) {
    board.answer = [](const request& r, const frame& w) -> answer {
        if (r.request_id == 3 || r.request_id == 700) return std::nullopt;
        return scripted_board::increment(r, w);
    };
    const auto r = play(config(1000));
    EXPECT_EQ(r.counts.missing, 2U);
    EXPECT_EQ(r.counts.unexpected, 0U);
    EXPECT_EQ(r.counts.matched, 998U);
    EXPECT_THAT(r.remarks, Contains("message 700: no answer"));
}

TEST_F(playback_test, AWrongPayloadFails) {
    board.answer = [](const request& r, const frame& w) {
        auto s = scripted_board::increment(r, w);
        if (r.request_id == 2) s->data[30] = std::byte{0};
        return s;
    };
    const auto r = play(config(10));
    EXPECT_EQ(r.counts.payload_errors, 1U);
    EXPECT_FALSE(r.passed());
}

TEST_F(playback_test, AnErrorStatusFails) {
    board.answer = [](const request& r, const frame& w) {
        auto s = scripted_board::increment(r, w);
        if (r.request_id == 2) s->data[4] = std::byte{1};
        return s;
    };
    const auto r = play(config(10));
    EXPECT_EQ(r.counts.header_errors, 1U);
    EXPECT_FALSE(r.passed());
    EXPECT_THAT(r.remarks, Contains("message 2: error status 1"));
}

TEST_F(playback_test, ARepeatedIdFails) {
    board.answer = [](const request& r, const frame& w) {
        auto s = scripted_board::increment(r, w);
        if (r.request_id == 5) s->data[12] = std::byte{4};
        return s;
    };
    const auto r = play(config(10));
    EXPECT_EQ(r.counts.duplicates, 1U);
    EXPECT_EQ(r.counts.missing, 1U);
    EXPECT_FALSE(r.passed());
}

TEST_F(playback_test, AnEchoIsNoAnswer) {
    board.answer = scripted_board::echo;
    const auto r = play(config(10));
    EXPECT_EQ(r.counts.non_rpc, 10U);
    EXPECT_FALSE(r.passed());
}

/// Changes word `address` in every answer to a block read.
std::function<void(std::span<std::byte>)> misread(std::uint32_t address) {
    return [address](std::span<std::byte> datagram) {
        if (static_cast<fpga::hsb_command>(datagram[0]) != fpga::hsb_command::read_block) return;
        const auto parsed = fpga::parse_response(datagram);
        const auto& response = std::get<fpga::hsb_response>(parsed);
        for (std::size_t i = 0; i < response.pairs.size(); ++i)
            if (response.pairs[i].address == address)
                datagram[fpga::hsb_header_bytes + i * fpga::hsb_pair_bytes + 7] ^= std::byte{0x40};
    };
}

TEST_F(playback_test, AMemoryThatReadsBackOtherwiseIsReportedAndFails) {
    board.on_answer = misread(hsb::bram::address(3, 6));
    const auto r = play(config(10));
    EXPECT_EQ(r.memory_mismatches, 1U);
    EXPECT_EQ(r.counts.matched, 10U);
    EXPECT_FALSE(r.passed());
    EXPECT_THAT(lines, Contains("  BRAM readback verification FAILED: 1 words differ"));
    EXPECT_THAT(r.remarks, Contains(HasSubstr("player memory: word 99 of pass 1 is 70, written was 6")));
}

TEST_F(playback_test, ALossyControlChannelOnlyTakesLonger) {
    unsigned n = 0;
    board.reaches = [&n](std::span<const std::byte>) { return n++ % 5 != 2; };
    auto c = config(100);
    c.channel.answer_deadline = std::chrono::milliseconds(20);
    c.channel.tries = 1000;
    const auto r = play(c);
    EXPECT_TRUE(r.passed());
    EXPECT_GT(r.channel.retries, 10U);
    EXPECT_THAT(board.programs, SizeIs(1)) << "the player was started again by a repeated write";
}

TEST_F(playback_test, ABoardThatIsSilentEndsItWithASentence) {
    board.reaches = [](std::span<const std::byte>) { return false; };
    auto c = config(1);
    c.channel.answer_deadline = std::chrono::milliseconds(5);
    c.channel.tries = 3;
    try {
        play(c);
        FAIL() << "no exception";
    } catch (const exception& e) {
        EXPECT_EQ(e.code(), fpga::hsb_errc::no_answer);
        EXPECT_THAT(e.what(), HasSubstr("no answer after 3 tries"));
    }
}

TEST_F(playback_test, ABoardThatDiesInTheMiddleEndsItWithASentence) {
    bool dead = false;
    board.answer = [&dead](const request& r, const frame& w) {
        dead = r.request_id == 3;
        return scripted_board::increment(r, w);
    };
    board.reaches = [&dead](std::span<const std::byte>) { return !dead; };
    board.says_done = false;
    auto c = config(4);
    c.channel.answer_deadline = std::chrono::milliseconds(50);
    c.channel.tries = 3;
    EXPECT_THROW(play(c), exception);
}

TEST_F(playback_test, AStaleCaptureThatCannotBeClearedEndsIt) {
    board.on_answer = misread(hsb::ila::sample_count);
    try {
        play(config(1));
        FAIL() << "no exception";
    } catch (const exception& e) {
        EXPECT_EQ(e.code(), errc::invalid_state);
        EXPECT_THAT(e.what(), HasSubstr("still holds 64 samples after its reset"));
    }
}

TEST_F(playback_test, StopEndsTheWaitAndWhatIsMissingFails) {
    board.says_done = false;
    board.answer = [](const request& r, const frame& w) -> answer {
        if (r.request_id >= 3) return std::nullopt;
        return scripted_board::increment(r, w);
    };
    playback p(context.get_executor(), config(1000));
    begin(p);
    run_until([&] { return p.progress().answered == 3; });
    p.stop();
    run_until([this] { return report || failure; });
    ASSERT_TRUE(report);
    EXPECT_EQ(report->counts.matched, 3U);
    EXPECT_EQ(report->counts.missing, 509U);
    EXPECT_EQ(report->passes, 1U);
    EXPECT_FALSE(report->passed());
    EXPECT_EQ(registered(hsb::player::enable), hsb::player::off);
}

TEST_F(playback_test, AConfigurationThatCannotBeIsRefusedBeforeAnythingIsSent) {
    auto c = config(0);
    EXPECT_THROW(playback(context.get_executor(), c), exception);
    EXPECT_EQ(board.board().counts().datagrams, 0U);
}

} // namespace
} // namespace rocio::tools

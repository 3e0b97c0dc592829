#include "playback_fixture.hpp"

#include <rocio/fpga/hsb_registers.hpp>

namespace rocio::tools {
namespace {

namespace hsb = fpga::hsb;
using testing::Contains;
using testing::Each;
using testing::Field;
using testing::SizeIs;

TEST_F(playback_test, EveryMessageIsPlayedAndVerified) {
    const auto r = play(config(100));
    EXPECT_TRUE(r.passed());
    EXPECT_EQ(r.counts.matched, 100U);
    EXPECT_EQ(r.counts.samples, 100U);
    EXPECT_EQ(r.passes, 1U);
    EXPECT_THAT(r.remarks, testing::IsEmpty());
    EXPECT_EQ(r.memory_mismatches, 0U);
    EXPECT_THAT(lines, Contains("  BRAM readback verification PASSED"));
}

TEST_F(playback_test, TellsTheBoardWhereTheRingIs) {
    auto c = config(3);
    c.buffer = 0x12'3456'7880;
    c.page_size = 512;
    c.pages = 64;
    c.payload_size = 50;
    c.bridge_ip = boost::asio::ip::make_address_v4("10.0.0.7");
    EXPECT_TRUE(play(c).passed());
    ASSERT_TRUE(board.target);
    EXPECT_EQ(*board.target, (fpga::board_target{.queue_pair = 0x15,
                                                 .remote_key = 0x1234,
                                                 .buffer = 0x12'3456'7880,
                                                 .page_bytes = 512,
                                                 .pages = 64,
                                                 .frame_bytes = 128,
                                                 .host_ip = 0x0A000007,
                                                 .udp_port = 4791}));
    EXPECT_EQ(registered(0x0800 + hsb::hif::vp_mask) & 1U, 1U);
    EXPECT_EQ(registered(0x0800 + hsb::hif::packet_udp_port), 12288U);
    EXPECT_EQ(registered(hsb::sif_tx_threshold), 5U);
    EXPECT_EQ(registered(hsb::metadata_packet_control), 4791U | 1U << 16);
}

TEST_F(playback_test, OtherRegisterAddressesAreRespected) {
    auto c = config(1);
    c.hif_address = 0x0900;
    EXPECT_TRUE(play(c).passed());
    EXPECT_EQ(registered(0x0900 + hsb::hif::vp_mask) & 1U, 1U);
    EXPECT_EQ(registered(0x0800 + hsb::hif::vp_mask), 0U);
}

TEST_F(playback_test, ProgramsThePlayer) {
    auto c = config(7);
    c.spacing = std::chrono::microseconds(50);
    EXPECT_TRUE(play(c).passed());
    ASSERT_THAT(board.programs, SizeIs(1));
    const auto& program = board.programs[0];
    EXPECT_EQ(program.windows, 7U);
    EXPECT_EQ(program.window_bytes, 64U);
    EXPECT_EQ(program.pause, std::chrono::microseconds(50));
    EXPECT_FALSE(program.loop);
    const auto expected = make_window(6, 8);
    EXPECT_TRUE(std::ranges::equal(program.window(6), expected));
    EXPECT_EQ(registered(hsb::player::enable), hsb::player::off);
    EXPECT_EQ(registered(hsb::ila::control), hsb::ila::off);
}

TEST_F(playback_test, AThousandMessagesGoInTwoPassesWithoutARepeatedId) {
    const auto r = play(config(1000));
    EXPECT_TRUE(r.passed());
    EXPECT_EQ(r.counts.matched, 1000U);
    EXPECT_EQ(r.counts.missing, 0U);
    EXPECT_EQ(r.passes, 2U);
    ASSERT_THAT(board.programs, SizeIs(2));
    EXPECT_EQ(board.programs[0].windows, 512U);
    EXPECT_EQ(board.programs[1].windows, 488U);
    EXPECT_THAT(r.round_trips, SizeIs(1000));
    EXPECT_EQ(r.round_trips.back().nanoseconds(), 3000 + 999);
    EXPECT_THAT(lines, Contains("Pass 2 of 2: messages 512 to 999"));
}

TEST_F(playback_test, LongPayloadsArePlayedInManyPasses) {
    auto c = config(40);
    c.payload_size = 2000;
    c.page_size = 2048;
    c.pages = 4;
    const auto r = play(c);
    EXPECT_TRUE(r.passed());
    EXPECT_EQ(r.passes, 3U); // 16 windows fit
}

TEST_F(playback_test, ForwardedRequestsAreVerified) {
    auto c = config(20);
    c.forward = true;
    board.answer = test::scripted_board::echo;
    const auto r = play(c);
    EXPECT_TRUE(r.passed());
    EXPECT_EQ(r.counts.matched, 20U);
    EXPECT_THAT(r.round_trips, testing::IsEmpty());
}

TEST_F(playback_test, WithoutVerificationNothingIsCaptured) {
    auto c = config(5);
    c.verify = false;
    c.unverified_wait = std::chrono::milliseconds(5);
    const auto r = play(c);
    EXPECT_TRUE(r.passed());
    EXPECT_FALSE(r.verified);
    EXPECT_EQ(r.counts.samples, 0U);
    EXPECT_EQ(registered(hsb::ila::sample_count), 0U);
    EXPECT_EQ(r.played, 5U);
}

TEST_F(playback_test, ALoopRunsUntilItIsStoppedAndBringsTheEmulatorsCounts) {
    auto c = config(5);
    c.verify = false;
    c.loop = true;
    board.loop_counts = {5'000'000'000, 5'000'000'000, 0, 0, 0};
    playback p(context.get_executor(), c);
    begin(p);
    run_until([&] {
        return !board.programs.empty() && !lines.empty() && lines.back().starts_with("  Loop playback is");
    });
    EXPECT_TRUE(board.programs[0].loop);
    p.stop();
    run_until([this] { return report || failure; });
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->passed());
    ASSERT_TRUE(report->loop);
    EXPECT_EQ(report->loop->windows, 5'000'000'000U);
    EXPECT_TRUE(board.board().loop_counts_read());
}

TEST_F(playback_test, ALoopWithTimeoutsFails) {
    auto c = config(5);
    c.verify = false;
    c.loop = true;
    board.loop_counts = {10, 9, 0, 1, 0};
    playback p(context.get_executor(), c);
    p.stop();
    begin(p);
    run_until([this] { return report || failure; });
    ASSERT_TRUE(report && report->loop);
    EXPECT_EQ(report->loop->timeouts, 1U);
    EXPECT_FALSE(report->passed());
}

class fpga_playback_test : public playback_test {
  protected:
    playback_config fpga_config(std::uint32_t messages) {
        auto c = config(messages);
        c.emulator = false;
        c.bridge_mac = parse_mac("02:00:0a:01:02:03");
        c.capture_settling = c.restart_wait = std::chrono::milliseconds(20);
        c.reply_timeout = std::chrono::milliseconds(300);
        c.buffer = 0x1'0000'0080;
        return c;
    }
    /// The board says this version in register 0x80.
    void has_version(std::byte high, std::byte low) {
        board.on_answer = [high, low](std::span<std::byte> datagram) {
            const auto parsed = fpga::parse_response(datagram);
            const auto& response = std::get<fpga::hsb_response>(parsed);
            if (response.pairs.empty() || response.pairs[0].address != 0x80) return;
            datagram[fpga::hsb_header_bytes + 6] = high;
            datagram[fpga::hsb_header_bytes + 7] = low;
        };
    }
};

TEST_F(fpga_playback_test, AnFpgaIsResetFirstAndToldTheMacAddress) {
    const auto r = play(fpga_config(30));
    EXPECT_TRUE(r.passed());
    EXPECT_EQ(registered(0x04), 8U);
    EXPECT_EQ(registered(0x08), 3U);
    EXPECT_EQ(registered(0x1000 + hsb::vp::host_mac_low), 0x0A010203U);
    EXPECT_EQ(registered(0x1000 + hsb::vp::host_mac_high), 0x0200U);
    EXPECT_EQ(registered(0x0200'0300 + hsb::hif::vp_mask) & 1U, 1U);
}

TEST_F(fpga_playback_test, OlderOnesTakeTheBuffersAddressInUnitsOf128) {
    has_version(std::byte{0x26}, std::byte{0x01});
    EXPECT_TRUE(play(fpga_config(3)).passed());
    EXPECT_EQ(registered(0x1000 + hsb::vp::page_lsb), 0x0200'0001U);
    EXPECT_EQ(registered(0x1000 + hsb::vp::page_msb), 1U);
}

TEST_F(fpga_playback_test, NewerOnesTakeTheBuffersAddressItself) {
    has_version(std::byte{0x26}, std::byte{0x02});
    EXPECT_TRUE(play(fpga_config(3)).passed());
    EXPECT_EQ(registered(0x1000 + hsb::vp::page_lsb), 0x80U);
    EXPECT_EQ(registered(0x1000 + hsb::vp::page_msb), 1U);
}

TEST_F(fpga_playback_test, AnswersThatDoNotComeEndThePassAfterTheReplyTimeout) {
    board.answer = [](const rpc::request_header& r,
                      const test::scripted_board::frame& w) -> std::optional<test::scripted_board::sample> {
        if (r.request_id > 5) return std::nullopt;
        return test::scripted_board::increment(r, w);
    };
    const auto r = play(fpga_config(10));
    EXPECT_EQ(r.counts.missing, 4U);
    EXPECT_FALSE(r.passed());
}

TEST_F(playback_test, ProgressCountsAnswers) {
    playback p(context.get_executor(), config(1000));
    EXPECT_EQ(p.progress().passes, 2U);
    EXPECT_EQ(p.progress().messages, 1000U);
    begin(p);
    std::uint64_t before = 0;
    bool grows = true;
    run_until([&] {
        const auto now = p.progress().answered;
        grows = grows && now >= before;
        before = now;
        return report || failure;
    });
    EXPECT_TRUE(grows);
    EXPECT_EQ(p.progress().answered, 1000U);
    EXPECT_EQ(p.progress().pass, 2U);
}

} // namespace
} // namespace rocio::tools

#include "emulator_fixture.hpp"

#include <rocio/soft/fault_plan.hpp>

namespace rocio::test {
namespace {

using namespace fpga::hsb;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(EmulatedBoard, a_pass_reaches_the_bridge_in_order_and_its_answers_the_analyser) {
    on_network(1);
    config.passes = 1;
    config.linger = std::chrono::milliseconds{50};
    start();
    answer_everything();
    std::vector<ila_sample> samples;
    play([](EmulatedBoard& t, std::vector<ila_sample>& out) -> asio::awaitable<void> {
        const auto status = co_await t.client->write(together(t.programmed(12), armed(), enabled()));
        EXPECT_EQ(status, fpga::hsb_status::success);
        co_await t.client->wait_for(ila::status, ila::done_bit);
        const auto count = co_await t.client->read(ila::sample_count);
        for (std::uint32_t i = 0; i < count; ++i) {
            const auto sample = co_await t.client->sample(i);
            out.push_back(sample);
        }
    }(*this, samples));
    EXPECT_FALSE(failure);
    ASSERT_EQ(bridge->seen.size(), 12U);
    ASSERT_EQ(samples.size(), 12U);
    for (std::uint32_t i = 0; i < 12; ++i) {
        auto sent = bridge->seen[i].bytes;
        const auto request = rpc::request_header::decode(sent).value();
        EXPECT_EQ(bridge->seen[i].page, i);
        EXPECT_EQ(request.request_id, i);
        const auto answer = incremented(sent);
        EXPECT_TRUE(std::ranges::equal(std::span(samples[i].data).first(answer.size()), answer));
        EXPECT_TRUE(samples[i].valid && samples[i].last);
        EXPECT_EQ(samples[i].write_count, 1);
        const auto round_trip =
            nanoseconds_between(ptp_time::unpack(request.timestamp), ptp_time::unpack(samples[i].time));
        EXPECT_GT(round_trip, 0);
        EXPECT_LT(round_trip, 30'000'000'000);
        std::ranges::fill(std::span(sent).subspan(16, 8), std::byte{0});
        EXPECT_EQ(sent, window(i));
    }
    EXPECT_EQ(report.total.windows, 12U);
    EXPECT_EQ(report.total.responses, 12U);
    EXPECT_EQ(report.total.bytes, 12U * 64);
    EXPECT_TRUE(report.total.all_right());
    EXPECT_EQ(errors, "");
}

TEST_F(EmulatedBoard, says_what_scripts_wait_for) {
    on_network(2);
    config.one_session = true;
    start();
    answer_everything();
    play([](EmulatedBoard& t) -> asio::awaitable<void> {
        (void)co_await t.client->write(t.programmed(10));
        (void)co_await t.client->write(enabled());
    }(*this));
    char number[32];
    std::snprintf(number, sizeof number, "0x%x", emulator->number().value());
    EXPECT_THAT(lines, HasSubstr("=== HSB FPGA Emulator ===\nIB Device: soft:127.40.2.1\nControl port: "));
    EXPECT_THAT(lines, HasSubstr("\nVP address: 0x1000\n"));
    EXPECT_THAT(lines,
                HasSubstr("\n  GID index: 0\n  QP Number: " + std::string(number) + "\n  TX buffer: "));
    EXPECT_THAT(
        lines, HasSubstr("\n  Listening on UDP port " + std::to_string(emulator->control_endpoint().port())));
    EXPECT_THAT(lines, HasSubstr("  Emulator QP: " + std::string(number) + "\n"));
    EXPECT_THAT(lines, HasSubstr("\n[3/4] Waiting for RDMA configuration...\n"));
    EXPECT_THAT(lines, HasSubstr("  RDMA Target Config:\n    QP: 0x"));
    EXPECT_THAT(lines,
                HasSubstr("    Page inc: 384 bytes\n    Max buff: 63\n  Connecting QP to bridge QP 0x"));
    EXPECT_THAT(lines, HasSubstr("  QP connected!\n  Posted 64 receive WQEs\n"));
    EXPECT_THAT(lines, HasSubstr("\n=== Playback triggered ===\n  Window size: 64 bytes\n  Window count: 10\n"
                                 "  Timer spacing: 322 (raw)\n  Cycles per window: 1\n"
                                 "  Playback mode: single pass\n  ILA capture: not armed\n"));
    EXPECT_THAT(lines, HasSubstr("  Window 10/10 (responses: 10, errors: 0)\n"));
    EXPECT_THAT(lines, HasSubstr("  Windows sent: 10\n  Responses received: 10\n  RPC status failures: 0\n"
                                 "  Send errors: 0\n  Timeouts: 0\n  Duration: "));
    EXPECT_THAT(lines, HasSubstr("\n*** EMULATOR: ALL WINDOWS PROCESSED ***\n"));
}

TEST_F(EmulatedBoard, every_window_without_an_answer_times_out) {
    on_network(3);
    config.passes = 1;
    config.reply_timeout = std::chrono::milliseconds{30};
    start();
    play([](EmulatedBoard& t) -> asio::awaitable<void> {
        (void)co_await t.client->write(t.programmed(3));
        (void)co_await t.client->write(enabled());
    }(*this));
    EXPECT_EQ(bridge->seen.size(), 3U);
    EXPECT_EQ(report.total.timeouts, 3U);
    EXPECT_EQ(report.total.responses, 0U);
    EXPECT_FALSE(report.total.all_right());
    EXPECT_EQ(errors, "ERROR: Correction timeout for window 0\nERROR: Correction timeout for window 1\n"
                      "ERROR: Correction timeout for window 2\n");
    EXPECT_THAT(lines, HasSubstr("*** EMULATOR: ERRORS DETECTED ***"));
}

TEST_F(EmulatedBoard, answers_with_another_magic_or_a_bad_status_or_cut_short_are_failures_and_captured) {
    on_network(4);
    config.passes = 1;
    config.linger = std::chrono::milliseconds{50};
    start();
    bridge->on_message = [this](const scripted_bridge::message& m) {
        auto answer = incremented(m.bytes, bridge->seen.size() == 2 ? -7 : 0);
        if (bridge->seen.size() == 1) answer = m.bytes; // forwarded as it came
        if (bridge->seen.size() == 3) answer.resize(20);
        bridge->reply(answer);
    };
    std::uint32_t captured = 0;
    play([](EmulatedBoard& t, std::uint32_t& count) -> asio::awaitable<void> {
        (void)co_await t.client->write(together(t.programmed(4), armed(), enabled()));
        co_await t.client->wait_for(ila::status, ila::done_bit);
        count = co_await t.client->read(ila::sample_count);
    }(*this, captured));
    EXPECT_EQ(captured, 4U);
    EXPECT_EQ(report.total.responses, 4U);
    EXPECT_EQ(report.total.response_failures, 3U);
    EXPECT_EQ(report.total.timeouts, 0U);
    EXPECT_THAT(errors, HasSubstr("Failed RPC response for window 0 (magic=0x43555152, status="));
    EXPECT_THAT(errors, HasSubstr("Failed RPC response for window 1 (magic=0x43555153, status=-7)"));
    EXPECT_THAT(errors, HasSubstr("Short RPC response for window 2"));
}

TEST_F(EmulatedBoard, a_late_answer_counts_for_no_other_window_and_is_captured_as_its_own) {
    on_network(5);
    config.passes = 1;
    config.reply_timeout = std::chrono::milliseconds{200};
    config.linger = std::chrono::milliseconds{50};
    start();
    bridge->on_message = [this](const scripted_bridge::message& m) {
        if (bridge->seen.size() != 2) return;
        bridge->reply(incremented(bridge->seen[0].bytes)); // the answer to the window before
        bridge->reply(incremented(bridge->seen[0].bytes)); // and once more
        bridge->reply(incremented(m.bytes));
    };
    ila_sample first, second;
    play([](EmulatedBoard& t, ila_sample& a, ila_sample& b) -> asio::awaitable<void> {
        (void)co_await t.client->write(together(t.programmed(2), armed(), enabled()));
        co_await t.client->wait_for(ila::status, ila::done_bit);
        a = co_await t.client->sample(0);
        b = co_await t.client->sample(1);
    }(*this, first, second));
    EXPECT_EQ(report.total.timeouts, 1U);
    EXPECT_EQ(report.total.late, 1U);
    EXPECT_EQ(report.total.stray, 1U);
    EXPECT_EQ(report.total.responses, 1U);
    EXPECT_EQ(rpc::response_header::decode(first.data)->request_id, 0U);
    EXPECT_EQ(rpc::response_header::decode(second.data)->request_id, 1U);
    EXPECT_THAT(lines, HasSubstr("  Late responses: 1\n  Responses to nothing: 1\n"));
}

TEST_F(EmulatedBoard, pages_are_written_in_turn_and_go_on_with_the_next_pass) {
    on_network(6);
    config.passes = 2;
    start(4);
    answer_everything();
    play([](EmulatedBoard& t) -> asio::awaitable<void> {
        (void)co_await t.client->write(t.programmed(6));
        (void)co_await t.client->write(enabled());
        while (t.bridge->seen.size() < 6) (void)co_await t.client->read(0x80);
        (void)co_await t.client->write(t.programmed(3, 100));
        (void)co_await t.client->write(enabled());
    }(*this));
    EXPECT_THAT(pages_seen(), ElementsAre(0, 1, 2, 3, 0, 1, 2, 3, 0));
    EXPECT_EQ(rpc::request_header::decode(bridge->seen[8].bytes)->request_id, 102U);
    EXPECT_EQ(report.passes, 2U);
    EXPECT_TRUE(report.total.all_right());
}

TEST_F(EmulatedBoard, a_trigger_that_is_sent_again_starts_no_second_pass) {
    on_network(7);
    config.passes = 2;
    start();
    answer_everything();
    play([](EmulatedBoard& t) -> asio::awaitable<void> {
        (void)co_await t.client->write(t.programmed(2));
        const auto trigger = hsb_datagram(fpga::hsb_command::write_dword, 0x4000, enabled());
        const auto answer = co_await t.client->exchange(trigger);
        const auto again = co_await t.client->exchange(trigger);
        EXPECT_EQ(answer, again);
        while (t.bridge->seen.size() < 2) (void)co_await t.client->read(0x80);
        (void)co_await t.client->write(enabled());
    }(*this));
    EXPECT_EQ(bridge->seen.size(), 4U);
    EXPECT_EQ(report.control.repeated, 1U);
}

TEST_F(EmulatedBoard, a_lossy_network_costs_time_outs_and_nothing_else) {
    on_network(8);
    config.passes = 1;
    config.reply_timeout = std::chrono::milliseconds{20};
    open_options bad;
    bad.faults = fault_plan{.drop = 0.2, .seed = 3};
    config.device.reset();
    config.device = open_device("soft:" + board_address, bad);
    start();
    answer_everything();
    play([](EmulatedBoard& t) -> asio::awaitable<void> {
        (void)co_await t.client->write(t.programmed(60));
        (void)co_await t.client->write(enabled());
    }(*this));
    EXPECT_EQ(report.total.windows, 60U);
    EXPECT_GT(report.total.timeouts, 0U);
    EXPECT_EQ(report.total.responses + report.total.timeouts, 60U);
    EXPECT_LE(bridge->seen.size(), 60U);
    EXPECT_EQ(report.total.response_failures, 0U);
}

TEST_F(EmulatedBoard, switching_off_ends_a_pass_and_the_window_under_way_does_not_count) {
    on_network(9);
    config.passes = 2;
    start();
    play([](EmulatedBoard& t) -> asio::awaitable<void> {
        (void)co_await t.client->write(t.programmed(5));
        (void)co_await t.client->write(enabled());
        while (t.bridge->seen.empty()) (void)co_await t.client->read(0x80);
        (void)co_await t.client->write(enabled(player::off));
        t.answer_everything();
        (void)co_await t.client->write(enabled());
    }(*this));
    EXPECT_EQ(report.total.windows, 5U);
    EXPECT_EQ(bridge->seen.size(), 6U);
    EXPECT_TRUE(report.total.all_right());
}

} // namespace
} // namespace rocio::test

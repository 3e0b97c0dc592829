#include "emulator_fixture.hpp"

namespace rocio::test {
namespace {

using namespace fpga::hsb;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(EmulatedBoard, loops_until_it_is_switched_off_and_shows_what_it_counted) {
    on_network(20);
    config.one_session = true;
    start(8);
    answer_everything();
    std::uint32_t windows = 0, responses = 0, failures = 9;
    play([](EmulatedBoard& t, std::uint32_t& w, std::uint32_t& r, std::uint32_t& f) -> asio::awaitable<void> {
        (void)co_await t.client->write(t.programmed(3));
        (void)co_await t.client->write(enabled(player::loop));
        while (t.bridge->seen.size() < 20) (void)co_await t.client->read(0x80);
        (void)co_await t.client->write(enabled(player::off));
        co_await t.client->wait_for(loop_statistics::state, loop_statistics::complete);
        w = co_await t.client->read(loop_statistics::windows_low);
        r = co_await t.client->read(loop_statistics::responses_low);
        f = co_await t.client->read(loop_statistics::response_failures);
        (void)co_await t.client->write(one(loop_statistics::acknowledge, loop_statistics::magic_value));
    }(*this, windows, responses, failures));
    EXPECT_FALSE(failure);
    EXPECT_GE(windows, 19U);
    EXPECT_EQ(responses, windows);
    EXPECT_EQ(failures, 0U);
    EXPECT_TRUE(report.looped);
    EXPECT_TRUE(report.total.all_right());
    for (std::size_t i = 0; i < bridge->seen.size(); ++i) {
        EXPECT_EQ(bridge->seen[i].page, i % 8);
        EXPECT_EQ(rpc::request_header::decode(bridge->seen[i].bytes)->request_id, i % 3);
    }
    EXPECT_THAT(lines, HasSubstr("Playback mode: continuous replay"));
}

TEST_F(EmulatedBoard, in_one_session_a_loop_may_follow_a_pass_with_the_analyser) {
    on_network(21);
    config.one_session = true;
    start();
    answer_everything();
    std::uint32_t windows = 0;
    play([](EmulatedBoard& t, std::uint32_t& w) -> asio::awaitable<void> {
        (void)co_await t.client->write(together(t.programmed(4), armed(), enabled()));
        co_await t.client->wait_for(ila::status, ila::done_bit);
        (void)co_await t.client->write(one(ila::control, ila::off));
        (void)co_await t.client->write(enabled(player::loop));
        while (t.bridge->seen.size() < 10) (void)co_await t.client->read(0x80);
        (void)co_await t.client->write(enabled(player::off));
        co_await t.client->wait_for(loop_statistics::state, loop_statistics::complete);
        w = co_await t.client->read(loop_statistics::windows_low);
        (void)co_await t.client->write(one(loop_statistics::acknowledge, loop_statistics::magic_value));
    }(*this, windows));
    EXPECT_THAT(lines, HasSubstr("\nWaiting for playback control after ILA verification...\n"));
    EXPECT_THAT(lines, HasSubstr("  ILA verification frames: 4\n  Continuous replay frames: "));
    EXPECT_EQ(windows + 4, report.total.windows);
    EXPECT_EQ(report.verification_windows, 4U);
    EXPECT_TRUE(report.total.all_right());
}

TEST_F(EmulatedBoard, in_one_session_a_pass_with_the_analyser_waits_until_it_is_stopped) {
    on_network(22);
    config.one_session = true;
    start();
    answer_everything();
    play([](EmulatedBoard& t) -> asio::awaitable<void> {
        (void)co_await t.client->write(together(t.programmed(4), armed(), enabled()));
        co_await t.client->wait_for(ila::status, ila::done_bit);
        const auto count = co_await t.client->read(ila::sample_count);
        EXPECT_EQ(count, 4U);
        t.emulator->stop();
    }(*this));
    EXPECT_FALSE(failure);
    EXPECT_TRUE(report.total.all_right());
    EXPECT_THAT(lines, HasSubstr("ALL WINDOWS PROCESSED"));
}

TEST_F(EmulatedBoard, the_analyser_counts_anew_after_its_reset) {
    on_network(23);
    start();
    answer_everything();
    std::uint32_t first = 0, after_reset = 9, second = 0;
    play([](EmulatedBoard& t, std::uint32_t& a, std::uint32_t& b, std::uint32_t& c) -> asio::awaitable<void> {
        (void)co_await t.client->write(together(t.programmed(5), armed(), enabled()));
        co_await t.client->wait_for(ila::status, ila::done_bit);
        a = co_await t.client->read(ila::sample_count);
        (void)co_await t.client->write(t.programmed(2, 50));
        (void)co_await t.client->write(armed());
        b = co_await t.client->read(ila::sample_count);
        (void)co_await t.client->write(enabled());
        co_await t.client->wait_for(ila::status, ila::done_bit);
        c = co_await t.client->read(ila::sample_count);
        const auto sample = co_await t.client->sample(1);
        EXPECT_EQ(rpc::response_header::decode(sample.data)->request_id, 51U);
        const auto stale = co_await t.client->sample(4);
        EXPECT_FALSE(stale.valid);
        t.emulator->stop();
    }(*this, first, after_reset, second));
    EXPECT_EQ(first, 5U);
    EXPECT_EQ(after_reset, 0U);
    EXPECT_EQ(second, 2U);
    EXPECT_EQ(report.passes, 2U);
}

TEST_F(EmulatedBoard, ends_without_a_word_of_error_when_it_is_stopped_before_anything) {
    on_network(24);
    start();
    play([](EmulatedBoard& t) -> asio::awaitable<void> {
        t.emulator->stop();
        co_return;
    }(*this));
    EXPECT_FALSE(failure);
    EXPECT_EQ(errors, "");
    EXPECT_THAT(lines, HasSubstr("Shutdown requested"));
    EXPECT_THAT(lines, Not(HasSubstr("Emulator Results")));
}

TEST_F(EmulatedBoard, does_not_wait_for_its_configuration_for_ever) {
    on_network(25);
    config.configuration_timeout = std::chrono::milliseconds{50};
    start();
    play([]() -> asio::awaitable<void> { co_return; }());
    EXPECT_EQ(failure.code, errc::handshake_timed_out);
    EXPECT_EQ(failure.message(), "Timeout waiting for RDMA configuration");
}

TEST_F(EmulatedBoard, needs_the_bridges_address_from_the_register_or_the_command_line) {
    on_network(26);
    config.one_session = true;
    start();
    play([](EmulatedBoard& t) -> asio::awaitable<void> {
        auto nameless = t.programmed(1);
        nameless[0].value = 0; // HOST_IP
        (void)co_await t.client->write(nameless);
    }(*this));
    EXPECT_THAT(failure.message(), HasSubstr("No bridge IP available"));
}

TEST_F(EmulatedBoard, the_command_line_wins_over_the_register) {
    on_network(27);
    config.passes = 1;
    config.bridge = gid::parse("127.40.27.2");
    start();
    answer_everything();
    play([](EmulatedBoard& t) -> asio::awaitable<void> {
        auto elsewhere = t.programmed(2);
        elsewhere[0].value = 0x7F285063; // 127.40.80.99
        (void)co_await t.client->write(elsewhere);
        (void)co_await t.client->write(enabled());
    }(*this));
    EXPECT_TRUE(report.total.all_right());
    EXPECT_EQ(bridge->seen.size(), 2U);
}

TEST_F(EmulatedBoard, windows_that_do_not_fit_the_peers_pages_are_not_sent) {
    on_network(28);
    start();
    answer_everything();
    play([](EmulatedBoard& t) -> asio::awaitable<void> {
        (void)co_await t.client->write(t.programmed(1));
        (void)co_await t.client->write(player_words(1, scripted_bridge::page_bytes + 1));
        (void)co_await t.client->write(enabled());
        while (t.errors.empty()) (void)co_await t.client->read(0x80);
        t.emulator->stop();
    }(*this));
    EXPECT_THAT(errors, HasSubstr("windows of 385 bytes do not fit the peer's pages of 384"));
    EXPECT_TRUE(bridge->seen.empty());
}

TEST_F(EmulatedBoard, a_trigger_that_comes_to_nothing_fails_for_the_client_and_ends_a_session) {
    on_network(29);
    config.one_session = true;
    start();
    play([](EmulatedBoard& t) -> asio::awaitable<void> {
        (void)co_await t.client->write(t.target());
        const auto status = co_await t.client->write(enabled());
        EXPECT_EQ(status, fpga::hsb_status::general_error);
    }(*this));
    EXPECT_EQ(failure.message(), "Player was enabled with zero windows");
}

TEST_F(EmulatedBoard, goes_on_after_a_trigger_that_came_to_nothing) {
    on_network(30);
    config.passes = 1;
    start();
    answer_everything();
    play([](EmulatedBoard& t) -> asio::awaitable<void> {
        (void)co_await t.client->write(t.target());
        (void)co_await t.client->write(enabled());
        (void)co_await t.client->write(t.programmed(2));
        (void)co_await t.client->write(enabled());
    }(*this));
    EXPECT_FALSE(failure);
    EXPECT_EQ(bridge->seen.size(), 2U);
    EXPECT_EQ(errors, "ERROR: Player was enabled with zero windows\n");
}

TEST_F(EmulatedBoard, another_bridge_gets_a_new_queue_pair_whose_number_is_told_and_the_first_page) {
    on_network(31);
    config.passes = 2;
    config.reply_timeout = std::chrono::milliseconds{50};
    start();
    answer_everything();
    scripted_bridge other(context, "soft:127.40.31.3", 16);
    const auto old_number = emulator->number();
    play([](EmulatedBoard& t, scripted_bridge& b) -> asio::awaitable<void> {
        (void)co_await t.client->write(t.programmed(3));
        (void)co_await t.client->write(enabled());
        while (t.bridge->seen.size() < 3) (void)co_await t.client->read(0x80);
        b.connect(t.board_address, t.emulator->number());
        (void)co_await t.client->write(target_of(b, "127.40.31.3"));
        (void)co_await t.client->write(enabled());
        while (b.seen.empty()) (void)co_await t.client->read(0x80);
        b.close();
    }(*this, other));
    EXPECT_NE(emulator->number(), old_number);
    char number[64];
    std::snprintf(number, sizeof number, "  QP Number: 0x%x\n", emulator->number().value());
    EXPECT_THAT(lines, HasSubstr(number));
    EXPECT_EQ(other.seen[0].page, 0U);
    EXPECT_EQ(report.total.windows, 6U);
}

TEST_F(EmulatedBoard, an_answer_that_is_too_long_for_its_receives_is_an_error_that_says_so) {
    on_network(32);
    config.passes = 1;
    config.page_size = 64;
    config.reply_timeout = std::chrono::milliseconds{50};
    start();
    bridge->on_message = [this](const scripted_bridge::message&) {
        bridge->reply(std::vector<std::byte>(100));
    };
    play([](EmulatedBoard& t) -> asio::awaitable<void> {
        (void)co_await t.client->write(t.programmed(2));
        (void)co_await t.client->write(enabled());
    }(*this));
    EXPECT_FALSE(report.total.all_right());
    EXPECT_THAT(errors, HasSubstr("an answer is longer than 64 bytes: raise --page-size"));
    EXPECT_THAT(errors, HasSubstr("queue pair closed: "));
}

TEST_F(EmulatedBoard, two_boards_cannot_have_one_control_port) {
    on_network(33);
    start();
    auto second = config;
    second.device = open_device("soft:127.40.33.9");
    second.control = emulator->control_endpoint();
    try {
        tools::fpga_emulator twin(context, second);
        FAIL() << "it has taken the port";
    } catch (const exception& e) {
        EXPECT_EQ(e.code(), errc::address_in_use);
        EXPECT_THAT(e.what(), HasSubstr("control channel at UDP 127.40.33.1:"));
    }
    play([](EmulatedBoard& t) -> asio::awaitable<void> {
        t.emulator->stop();
        co_return;
    }(*this));
}

TEST_F(EmulatedBoard, serves_its_registers_before_and_between_passes_even_to_nonsense) {
    on_network(34);
    start();
    play([](EmulatedBoard& t) -> asio::awaitable<void> {
        const auto unset = co_await t.client->read(0x80);
        EXPECT_EQ(unset, 0U);
        const std::vector<std::byte> nonsense(6, std::byte{0x41});
        const auto refused = co_await t.client->exchange(nonsense);
        EXPECT_EQ(refused.at(4), std::byte{0x04});
        const auto odd = co_await t.client->write(one(0x1001, 5));
        EXPECT_EQ(odd, fpga::hsb_status::invalid_address);
        t.emulator->stop();
    }(*this));
    EXPECT_EQ(report.control.datagrams, 3U);
    EXPECT_EQ(report.control.refused, 2U);
}

} // namespace
} // namespace rocio::test

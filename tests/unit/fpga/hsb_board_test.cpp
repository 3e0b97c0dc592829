#include "hex.hpp"
#include "hsb_messages.hpp"
#include "test_bytes.hpp"

#include <rocio/fpga/hsb_board.hpp>

#include <gmock/gmock.h>

#include <array>

namespace rocio::test {
namespace {

using namespace fpga;
using ::testing::_;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::NiceMock;
using ::testing::SaveArg;
using ::testing::StrictMock;

struct mock_port : board_port {
    MOCK_METHOD(void, connect, (const board_target&), (override));
    MOCK_METHOD(void, send, (board_program), (override));
    MOCK_METHOD(void, stop, (), (override));
    MOCK_METHOD(void, refuse, (const error_info&), (override));
};

class HsbBoard : public ::testing::Test {
  protected:
    static constexpr std::uint64_t playback = 1, stranger = 2;

    std::vector<std::byte> ask(std::span<const std::byte> datagram, std::uint64_t sender = playback) {
        std::vector<std::byte> out(hsb_max_datagram);
        out.resize(board.answer(datagram, sender, out));
        return out;
    }
    hsb_status write(const hsb_registers& registers) {
        const auto answer = ask(hsb_datagram(hsb_command::write_block, ++sequence, registers));
        const auto response = std::get<hsb_response>(parse_response(answer));
        EXPECT_TRUE(response.answers(hsb_command::write_block, sequence));
        return response.status;
    }
    std::uint32_t read(std::uint32_t address) {
        const auto answer = ask(hsb_datagram(hsb_command::read_dword, ++sequence, {{address, 0}}));
        const auto response = std::get<hsb_response>(parse_response(answer));
        EXPECT_EQ(response.pairs.size(), 1U);
        EXPECT_EQ(response.pairs[0].address, address);
        return response.pairs[0].value;
    }
    hsb_status name_target() {
        return write({{0x1000, 0x12}, {0x1004, 0xABCD}, {0x1010, 3}, {0x1014, 127}, {0x1028, 0x7F280101}});
    }
    hsb_status load(std::uint32_t windows, std::uint32_t bytes = 64) {
        return write(player_words(windows, bytes));
    }
    hsb_status enable(std::uint32_t how = hsb::player::single_pass) {
        return write({{hsb::player::enable, how}});
    }

    NiceMock<mock_port> port;
    hsb_board board{port, {.register_limit = 32}};
    std::uint16_t sequence = 0x100;
};

TEST_F(HsbBoard, answers_what_was_written_and_0_elsewhere) {
    EXPECT_EQ(write({{0x800 + 0x0C, 1}}), hsb_status::success);
    EXPECT_EQ(read(0x80C), 1U);
    EXPECT_EQ(read(0x80), 0U);
    const auto answer = ask(hsb_datagram(hsb_command::read_block, 7, {{0x80C, 0}, {0x80, 0}}));
    EXPECT_EQ(to_hex(answer), "190100070000"
                              "0000080c00000001"
                              "0000008000000000"
                              "0007");
}

TEST_F(HsbBoard, acknowledges_a_write_only_if_asked) {
    EXPECT_EQ(to_hex(ask(hsb_datagram(hsb_command::write_dword, 7, {{4, 5}}, 1))), "0401000700");
    EXPECT_EQ(to_hex(ask(hsb_datagram(hsb_command::write_dword, 8, {{4, 6}}, 0))), "");
    EXPECT_EQ(read(4), 6U);
}

TEST_F(HsbBoard, ignores_a_datagram_shorter_than_a_header) {
    EXPECT_EQ(to_hex(ask(from_hex("0401000700"))), "");
    EXPECT_EQ(to_hex(ask({})), "");
    EXPECT_EQ(board.counts().ignored, 2U);
    EXPECT_EQ(board.counts().refused, 0U);
}

TEST_F(HsbBoard, refuses_what_it_does_not_know_with_a_status_if_an_answer_is_wanted) {
    EXPECT_EQ(to_hex(ask(from_hex("200100070000"))), "2001000704");
    EXPECT_EQ(to_hex(ask(from_hex("200000070000"))), "");
    EXPECT_EQ(to_hex(ask(from_hex("140500070000000000800000"))), "1405000706");
    EXPECT_EQ(to_hex(ask(from_hex("0901000700000000008000"))), "0901000705");
    EXPECT_EQ(board.counts().refused, 4U);
}

TEST_F(HsbBoard, a_block_takes_effect_up_to_the_bad_address_in_it) {
    EXPECT_EQ(write({{0x20, 1}, {0x23, 2}, {0x24, 3}}), hsb_status::invalid_address);
    EXPECT_EQ(read(0x20), 1U);
    EXPECT_EQ(read(0x24), 0U);
    const auto answer = ask(hsb_datagram(hsb_command::read_block, 9, {{0x20, 0}, {0x22, 0}}));
    EXPECT_EQ(to_hex(answer), "1901000903");
}

TEST_F(HsbBoard, has_room_for_its_own_registers_when_a_client_has_filled_all_others) {
    auto status = hsb_status::success;
    std::uint32_t taken = 0;
    for (; status == hsb_status::success && taken < 1000; ++taken) status = write({{0x10000 + 4 * taken, 1}});
    EXPECT_EQ(status, hsb_status::buffer_full);
    EXPECT_EQ(taken, 33U);
    board.publish({.windows = 5});
    EXPECT_EQ(read(hsb::loop_statistics::windows_low), 5U);
}

TEST_F(HsbBoard, names_a_target_once_qp_and_rkey_are_written) {
    StrictMock<mock_port> strict;
    hsb_board other(strict);
    std::array<std::byte, 64> out;
    const auto set = [&](std::uint32_t address, std::uint32_t value) {
        (void)other.answer(hsb_datagram(hsb_command::write_dword, ++sequence, {{address, value}}), playback,
                           out);
    };
    set(0x1028, 0x0A000001);
    set(0x1000, 0x12);
    EXPECT_FALSE(other.target());
    board_target told;
    EXPECT_CALL(strict, connect).WillOnce(SaveArg<0>(&told));
    set(0x1004, 0); // 0 is a key, too
    EXPECT_EQ(told.queue_pair, 0x12U);
    EXPECT_EQ(told.remote_key, 0U);
    EXPECT_EQ(told.host_ip, 0x0A000001U);
    EXPECT_EQ(told.page_bytes, 0U);
    EXPECT_EQ(told.pages, 1U);
}

TEST_F(HsbBoard, tells_the_whole_target_and_every_change_of_it) {
    board_target told;
    EXPECT_CALL(port, connect).Times(2).WillRepeatedly(SaveArg<0>(&told));
    EXPECT_EQ(write({{0x1000, 0x12},
                     {0x1004, 0xABCD},
                     {0x1008, 0x02000001},
                     {0x100C, 1},
                     {0x1010, 3},
                     {0x1014, 127},
                     {0x1018, 64},
                     {0x1028, 0x7F280101},
                     {0x102C, 4791 | hsb::vp::no_metadata_bit}}),
              hsb_status::success);
    EXPECT_EQ(told, (board_target{0x12, 0xABCD, 0x1'0000'0080, 384, 128, 64, 0x7F280101, 4791}));
    EXPECT_EQ(write({{0x1000, 0x12}}), hsb_status::success); // no change
    EXPECT_EQ(write({{0x1000, 0x13}}), hsb_status::success);
    EXPECT_EQ(told.queue_pair, 0x13U);
}

TEST_F(HsbBoard, a_target_whose_numbers_are_absurd_is_told_as_it_is) {
    EXPECT_EQ(write({{0x1000, 0xFFFFFFFF}, {0x1004, 1}, {0x1010, 0xFFFFFFFF}, {0x1014, 0xFFFFFFFF}}),
              hsb_status::success);
    EXPECT_EQ(board.target()->pages, 0x1'0000'0000U);
    EXPECT_EQ(board.target()->page_bytes, 0x7F'FFFF'FF80U);
}

TEST_F(HsbBoard, the_virtual_port_may_be_elsewhere) {
    hsb_board elsewhere(port, {.vp_address = 0x2040});
    std::array<std::byte, 64> out;
    EXPECT_CALL(port, connect(Field(&board_target::queue_pair, 9U)));
    (void)elsewhere.answer(hsb_datagram(hsb_command::write_block, 1, {{0x2040, 9}, {0x2044, 1}, {0x1000, 7}}),
                           playback, out);
}

TEST_F(HsbBoard, the_player_sends_what_the_memory_holds) {
    ASSERT_EQ(name_target(), hsb_status::success);
    const std::vector<std::vector<std::byte>> windows{message_bytes(1, 0, 100), message_bytes(2, 0, 100)};
    ASSERT_EQ(write(bram_words(windows)), hsb_status::success);
    ASSERT_EQ(write(player_words(2, 100, 322 * 120)), hsb_status::success);
    board_program sent;
    EXPECT_CALL(port, send).WillOnce(SaveArg<0>(&sent));
    EXPECT_EQ(enable(), hsb_status::success);
    EXPECT_EQ(sent.windows, 2U);
    EXPECT_EQ(sent.window_bytes, 100U);
    EXPECT_EQ(sent.stride, 128U);
    EXPECT_EQ(sent.pause, std::chrono::microseconds{120});
    EXPECT_FALSE(sent.loop);
    for (std::uint32_t w = 0; w < 2; ++w) {
        EXPECT_EQ(first_difference(sent.window(w).first(100), w + 1), 100U);
        EXPECT_THAT(sent.window(w).subspan(100), ::testing::Each(std::byte{0}));
    }
}

TEST_F(HsbBoard, the_order_of_registers_in_a_block_does_not_matter) {
    EXPECT_CALL(port, send(AllOf(Field(&board_program::windows, 3U), Field(&board_program::loop, true))));
    EXPECT_EQ(write({{hsb::player::enable, hsb::player::loop},
                     {hsb::player::window_number, 3},
                     {hsb::player::window_size, 64},
                     {0x1000, 0x12},
                     {0x1004, 1}}),
              hsb_status::success);
}

TEST_F(HsbBoard, without_a_timer_windows_are_10_microseconds_apart) {
    ASSERT_EQ(name_target(), hsb_status::success);
    ASSERT_EQ(write(player_words(1, 64, 0)), hsb_status::success);
    EXPECT_CALL(port, send(Field(&board_program::pause, std::chrono::microseconds{10})));
    EXPECT_EQ(enable(), hsb_status::success);
}

TEST_F(HsbBoard, switching_off_stops_and_switching_on_again_sends_again) {
    ASSERT_EQ(name_target(), hsb_status::success);
    ASSERT_EQ(load(1), hsb_status::success);
    ::testing::InSequence in_order;
    EXPECT_CALL(port, send);
    EXPECT_CALL(port, stop);
    EXPECT_CALL(port, send);
    EXPECT_EQ(enable(), hsb_status::success);
    EXPECT_EQ(enable(hsb::player::off), hsb_status::success);
    EXPECT_EQ(enable(), hsb_status::success);
}

TEST_F(HsbBoard, the_player_is_refused_what_cannot_be_sent_and_stays_off) {
    EXPECT_CALL(port, send).Times(0);
    const auto refused = [&](const char* why) {
        EXPECT_CALL(port, refuse(Field(&error_info::text, HasSubstr(why))));
        EXPECT_EQ(enable(), hsb_status::general_error) << why;
        EXPECT_EQ(read(hsb::player::enable), 0U);
        ::testing::Mock::VerifyAndClearExpectations(&port);
    };
    ASSERT_EQ(load(1), hsb_status::success);
    refused("before QP and RKEY");
    ASSERT_EQ(name_target(), hsb_status::success);
    ASSERT_EQ(load(0), hsb_status::success);
    refused("zero windows");
    ASSERT_EQ(load(1, 0), hsb_status::success);
    refused("zero bytes");
    ASSERT_EQ(load(513), hsb_status::success);
    refused("513 windows of 64 bytes");
    ASSERT_EQ(load(0xFFFFFFFF, 0xFFFFFFFF), hsb_status::success);
    refused("the memory holds 512 beats of 64 bytes");
}

TEST_F(HsbBoard, a_write_that_comes_again_is_answered_again_but_not_carried_out_again) {
    ASSERT_EQ(name_target(), hsb_status::success);
    ASSERT_EQ(load(1), hsb_status::success);
    EXPECT_CALL(port, send).Times(1);
    auto trigger =
        hsb_datagram(hsb_command::write_dword, 0x777, {{hsb::player::enable, hsb::player::single_pass}}, 3);
    const auto answer = ask(trigger);
    EXPECT_EQ(to_hex(answer), "0403077700");
    EXPECT_EQ(ask(trigger), answer);
    trigger[1] = std::byte{hsb_flags::acknowledge}; // as a client sends again: without the sequence check
    EXPECT_EQ(ask(trigger), answer);
    EXPECT_EQ(board.counts().repeated, 2U);
}

TEST_F(HsbBoard, the_same_write_later_or_from_another_or_by_another_number_is_a_new_one) {
    ASSERT_EQ(name_target(), hsb_status::success);
    ASSERT_EQ(load(1), hsb_status::success);
    EXPECT_CALL(port, send).Times(4);
    const hsb_registers on{{hsb::player::enable, hsb::player::single_pass}};
    (void)ask(hsb_datagram(hsb_command::write_dword, 0x777, on));
    (void)ask(hsb_datagram(hsb_command::write_dword, 0x778, on));
    (void)ask(hsb_datagram(hsb_command::write_dword, 0x778, on), stranger);
    (void)read(0x80);
    (void)ask(hsb_datagram(hsb_command::write_dword, 0x778, on), stranger);
    EXPECT_EQ(board.counts().repeated, 0U);
}

hsb::ila_sample sample_of(std::uint32_t seed) {
    hsb::ila_sample s;
    fill_message(s.data, seed);
    s.valid = true;
    return s;
}

TEST_F(HsbBoard, the_analyser_keeps_samples_by_window_while_it_is_on) {
    board.capture(0, sample_of(9));
    EXPECT_EQ(read(hsb::ila::sample_count), 0U);
    ASSERT_EQ(write({{hsb::ila::control, hsb::ila::enable}}), hsb_status::success);
    EXPECT_TRUE(board.captures());
    board.capture(3, sample_of(3));
    board.capture(1, sample_of(1)); // came late
    EXPECT_EQ(read(hsb::ila::sample_count), 4U);
    EXPECT_EQ(board.registers().sample(3), sample_of(3));
    EXPECT_EQ(board.registers().sample(1), sample_of(1));
    EXPECT_FALSE(board.registers().sample(0).valid);
    board.capture(hsb::ila::samples, sample_of(1));
    EXPECT_EQ(read(hsb::ila::sample_count), 4U);
    ASSERT_EQ(write({{hsb::ila::control, hsb::ila::off}}), hsb_status::success);
    board.capture(7, sample_of(7));
    EXPECT_EQ(read(hsb::ila::sample_count), 4U);
    EXPECT_EQ(board.registers().sample(3), sample_of(3));
}

TEST_F(HsbBoard, a_reset_of_the_analyser_clears_count_status_and_samples) {
    ASSERT_EQ(write({{hsb::ila::control, hsb::ila::enable}}), hsb_status::success);
    board.capture(3, sample_of(3));
    board.pass_done();
    EXPECT_EQ(read(hsb::ila::status), hsb::ila::done_bit);
    ASSERT_EQ(write({{hsb::ila::control, hsb::ila::reset}}), hsb_status::success);
    EXPECT_EQ(read(hsb::ila::sample_count), 0U);
    EXPECT_EQ(read(hsb::ila::status), 0U);
    EXPECT_EQ(board.registers().sample(3), hsb::ila_sample{});
    EXPECT_FALSE(board.captures());
}

TEST_F(HsbBoard, a_pass_without_the_analyser_leaves_its_status_alone) {
    board.pass_done();
    EXPECT_EQ(read(hsb::ila::status), 0U);
}

TEST_F(HsbBoard, shows_the_counts_of_a_loop_until_the_next) {
    ASSERT_EQ(name_target(), hsb_status::success);
    ASSERT_EQ(load(1), hsb_status::success);
    board.publish({.windows = 0x1'0000'0002,
                   .responses = 0x3'0000'0004,
                   .send_errors = 5,
                   .timeouts = 6,
                   .response_failures = 7});
    using namespace hsb::loop_statistics;
    EXPECT_EQ(read(magic), magic_value);
    EXPECT_EQ(read(state), complete);
    EXPECT_EQ(read(windows_low), 2U);
    EXPECT_EQ(read(windows_high), 1U);
    EXPECT_EQ(read(responses_low), 4U);
    EXPECT_EQ(read(responses_high), 3U);
    EXPECT_EQ(read(errors), 5U);
    EXPECT_EQ(read(timeouts), 6U);
    EXPECT_EQ(read(response_failures), 7U);
    EXPECT_FALSE(board.loop_counts_read());
    ASSERT_EQ(write({{acknowledge, magic_value}}), hsb_status::success);
    EXPECT_TRUE(board.loop_counts_read());
    EXPECT_CALL(port, send);
    EXPECT_EQ(enable(hsb::player::loop), hsb_status::success);
    EXPECT_EQ(read(magic), 0U);
    EXPECT_EQ(read(state), 0U);
    EXPECT_FALSE(board.loop_counts_read());
}

} // namespace
} // namespace rocio::test

#include "hsb_control_client_fixture.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

namespace rocio::fpga {
namespace {

using boost::asio::error::operation_aborted;
using testing::HasSubstr;

TEST_F(hsb_control_client_test, ALostRequestIsSentAgainWithTheSameNumber) {
    board->registers[0x80] = 5;
    board->then(test::lost).then(test::lost);
    hsb_control_client client(context, board->endpoint(), quick(300));
    const auto [ec, value] = read(client, 0x80);
    EXPECT_FALSE(ec) << ec.message();
    EXPECT_EQ(value, 5U);
    ASSERT_GE(board->requests.size(), 3U);
    EXPECT_EQ(board->requests[0].sequence, board->requests[2].sequence);
    EXPECT_GE(client.snapshot().retries, 2U);
    EXPECT_EQ(client.snapshot().requests, 1U);
}

TEST_F(hsb_control_client_test, AWriteWhoseAcknowledgementIsLostIsCarriedOutAgain) {
    board->then(test::lost);
    hsb_control_client client(context, board->endpoint(), quick(300));
    EXPECT_FALSE(write(client, 0x1000, 3));
    ASSERT_GE(board->writes.size(), 2U);
    EXPECT_EQ(board->writes[0], board->writes[1]);
}

TEST_F(hsb_control_client_test, ARetryIsNotCheckedForItsSequence) {
    auto config = quick(300);
    config.check_sequence = true;
    hsb_control_client client(context, board->endpoint(), config);
    EXPECT_FALSE(read(client, 0x80).ec);
    const auto before = board->requests.size();
    board->then(test::lost);
    EXPECT_FALSE(read(client, 0x80).ec);
    ASSERT_GE(board->requests.size(), before + 2);
    EXPECT_EQ(board->requests[before + 1].flags, hsb_flags::acknowledge);
}

TEST_F(hsb_control_client_test, ALateAnswerToAnEarlierRequestIsIgnored) {
    board->registers[0x80] = 1;
    hsb_control_client client(context, board->endpoint(), patient());
    EXPECT_EQ(read(client, 0x80).value, 1U);
    board->then([&](script& s, const seen_request& r) {
        s.answer_with(board->requests[0], std::array<hsb_register, 1>{{{0x80, 99}}});
        EXPECT_NE(r.sequence, board->requests[0].sequence);
        return true;
    });
    EXPECT_EQ(read(client, 0x80).value, 1U);
    EXPECT_EQ(client.snapshot().ignored, 1U);
}

TEST_F(hsb_control_client_test, AnAnswerThatComesAfterTheRetryIsTheAnswer) {
    board->registers[0x80] = 8;
    board->then(test::lost).then([](script& s, const seen_request& r) {
        s.answer(r);
        return true; // and once more
    });
    hsb_control_client client(context, board->endpoint(), quick(300));
    EXPECT_EQ(read(client, 0x80).value, 8U);
    board->registers[0x84] = 4;
    EXPECT_EQ(read(client, 0x84).value, 4U) << "the second answer to the first request was taken";
}

TEST_F(hsb_control_client_test, AnAnswerToAnotherCommandIsIgnored) {
    board->registers[0x80] = 3;
    board->then([](script& s, const seen_request& r) {
        auto other = r;
        other.command = hsb_command::write_dword;
        s.answer(other);
        return true;
    });
    hsb_control_client client(context, board->endpoint(), patient());
    EXPECT_EQ(read(client, 0x80).value, 3U);
    EXPECT_EQ(client.snapshot().ignored, 1U);
}

TEST_F(hsb_control_client_test, GarbageIsIgnored) {
    board->registers[0x80] = 3;
    board->then([](script& s, const seen_request&) {
        s.send({});
        s.send(std::vector<std::byte>(3, std::byte{0xFF}));
        s.send(std::vector<std::byte>(4096, std::byte{0xA5}));
        s.send(std::vector<std::byte>(9000, std::byte{0x94}));
        return true;
    });
    hsb_control_client client(context, board->endpoint(), patient());
    EXPECT_EQ(read(client, 0x80).value, 3U);
    EXPECT_EQ(client.snapshot().ignored, 4U);
}

TEST_F(hsb_control_client_test, AnAnswerFromElsewhereDoesNotReachIt) {
    board->registers[0x80] = 3;
    test::udp_server stranger(context, "127.42.1.3", [](auto, const auto&) {});
    board->then([&](script& s, const seen_request& r) {
        std::array<std::byte, 64> forged{};
        const hsb_response_header header{0x14, 1, r.sequence, hsb_status::success, r.sequence};
        const auto n = encode_response(forged, header, std::array<hsb_register, 1>{{{0x80, 666}}});
        stranger.send(std::span<const std::byte>(forged).first(n), s.client);
        return true;
    });
    hsb_control_client client(context, board->endpoint(), patient());
    EXPECT_EQ(read(client, 0x80).value, 3U);
    EXPECT_EQ(client.snapshot().ignored, 0U);
}

TEST_F(hsb_control_client_test, OtherRegistersThanAskedForAreABadResponse) {
    hsb_control_client client(context, board->endpoint(), patient());
    board->then([](script& s, const seen_request& r) {
        s.answer_with(r, std::array<hsb_register, 1>{{{0x84, 1}}});
        return false;
    });
    EXPECT_EQ(read(client, 0x80).ec, hsb_errc::bad_response);

    board->then([](script& s, const seen_request& r) {
        s.answer_with(r, std::array<hsb_register, 1>{{{0x80, 1}}});
        return false;
    });
    const std::array<std::uint32_t, 2> two{0x80, 0x84};
    std::array<std::uint32_t, 2> values{};
    EXPECT_EQ(wait([&](auto h) { client.async_read_block(two, values, h); }), hsb_errc::bad_response);
}

class HsbRefusal : public hsb_control_client_test, public testing::WithParamInterface<hsb_status> {};

TEST_P(HsbRefusal, IsAnErrorOfItsOwnAtOnce) {
    for (const auto dialect : {hsb_dialect::emulator, hsb_dialect::fpga}) {
        board->dialect = dialect;
        hsb_control_client client(context, board->endpoint(), patient());
        const auto refuse = [](script& s, const seen_request& r) {
            s.answer_with(r, {}, GetParam());
            return false;
        };
        board->then(refuse).then(refuse);
        const auto [ec, value] = read(client, 0x80);
        EXPECT_EQ(ec, GetParam());
        EXPECT_EQ(value, 0U);
        EXPECT_FALSE(is_fatal(ec));
        EXPECT_THAT(client.last_error().message(), HasSubstr("read of 0x00000080 from 127.42.1.1:"));
        EXPECT_THAT(client.last_error().message(), HasSubstr(describe(GetParam())));
        EXPECT_EQ(write(client, 0x1000, 1), GetParam());
        EXPECT_THAT(client.last_error().message(), HasSubstr("write of 0x00001000 to"));
        EXPECT_EQ(client.snapshot().refusals, 2U);
        EXPECT_EQ(client.snapshot().retries, 0U);
    }
}

INSTANTIATE_TEST_SUITE_P(EveryStatus, HsbRefusal,
                         testing::Values(hsb_status::general_error, hsb_status::invalid_address,
                                         hsb_status::unknown_command, hsb_status::invalid_length,
                                         hsb_status::invalid_flags, hsb_status::buffer_full,
                                         hsb_status::invalid_block_size, hsb_status::invalid_indirect_address,
                                         hsb_status::command_timed_out, hsb_status::sequence_check_failed,
                                         static_cast<hsb_status>(0xF0)));

TEST(HsbError, TellsWhatTheCallerCanMend) {
    EXPECT_EQ(error_code(hsb_status::invalid_address), condition::bad_configuration);
    EXPECT_EQ(error_code(hsb_status::invalid_block_size), condition::bad_configuration);
    EXPECT_NE(error_code(hsb_status::command_timed_out), condition::bad_configuration);
    EXPECT_NE(error_code(hsb_errc::no_answer), condition::timed_out);
    EXPECT_FALSE(error_code(hsb_status::success));
    EXPECT_FALSE(error_code(hsb_errc::success));
    EXPECT_STREQ(hsb_status_category().name(), "rocio.fpga.hsb_status");
    EXPECT_STREQ(hsb_error_category().name(), "rocio.fpga.hsb");
    EXPECT_THAT(error_code(hsb_errc::bad_response).message(), HasSubstr("registers"));
    EXPECT_THAT(hsb_error_category().message(99), HasSubstr("unknown"));
}

TEST_F(hsb_control_client_test, WithoutAnyAnswerItEndsAfterTheTries) {
    board->fall_silent();
    hsb_control_client client(context, board->endpoint(), quick(3));
    EXPECT_EQ(read(client, 0x80).ec, hsb_errc::no_answer);
    EXPECT_EQ(board->requests.size(), 3U);
    EXPECT_THAT(client.last_error().message(), HasSubstr("no answer after 3 tries of 60 ms"));
}

TEST_F(hsb_control_client_test, ABlockThatFailsInTheMiddleEndsThere) {
    auto config = patient();
    config.registers_per_request = 2;
    hsb_control_client client(context, board->endpoint(), config);
    board->then([](script&, const seen_request&) { return true; });
    board->then([](script& s, const seen_request& r) {
        s.answer_with(r, {}, hsb_status::invalid_address);
        return false;
    });
    std::vector<hsb_register> what;
    for (std::uint32_t i = 0; i < 6; ++i) what.push_back({4 * i, i});
    EXPECT_EQ(wait([&](auto h) { client.async_write_block(what, h); }), hsb_status::invalid_address);
    EXPECT_EQ(board->requests.size(), 2U);
    EXPECT_THAT(client.last_error().message(), HasSubstr("write of 0x00000008 and 1 more registers"));
}

TEST_F(hsb_control_client_test, WhereNobodyListensTheTextSaysSo) {
    const auto gone = board->endpoint();
    board.reset();
    hsb_control_client client(context, gone, quick(3));
    EXPECT_EQ(read(client, 0x80).ec, hsb_errc::no_answer);
    EXPECT_THAT(client.last_error().message(), HasSubstr("nobody listens there"));
}

TEST_F(hsb_control_client_test, ABoardThatStartsLaterIsFound) {
    const auto there = board->endpoint();
    board.reset();
    hsb_control_client client(context, there, quick(300));
    std::optional<error_code> result;
    client.async_write(0x1000, 1, [&](const error_code& ec) { result = ec; });
    run_until([&] { return client.snapshot().retries > 1; });
    boost::asio::ip::udp::socket late(context, there);
    std::array<std::byte, 128> in{};
    boost::asio::ip::udp::endpoint from;
    std::size_t got = 0;
    late.async_receive_from(boost::asio::buffer(in), from,
                            [&](const error_code&, std::size_t n) { got = n; });
    run_until([&] { return got > 0; });
    std::array<std::byte, 64> out{};
    const auto header = answer_header(std::span<const std::byte>(in).first(got));
    ASSERT_TRUE(header);
    const auto n = encode_response(out, *header, {});
    late.send_to(boost::asio::buffer(out.data(), n), from);
    run_until([&] { return result.has_value(); });
    EXPECT_FALSE(*result) << result->message();
}

TEST_F(hsb_control_client_test, ACancelledOperationEndsAndTheNextWorks) {
    board->then(test::lost);
    hsb_control_client client(context, board->endpoint(), patient());
    boost::asio::cancellation_signal signal;
    std::optional<error_code> result;
    client.async_write(
        0x1000, 1,
        boost::asio::bind_cancellation_slot(signal.slot(), [&](const error_code& ec) { result = ec; }));
    run_until([&] { return !board->requests.empty(); });
    signal.emit(boost::asio::cancellation_type::total);
    run_until([&] { return result.has_value(); });
    EXPECT_EQ(*result, operation_aborted);
    EXPECT_FALSE(write(client, 0x1000, 2));
}

TEST_F(hsb_control_client_test, PartialCancellationIsNoneOfItsKinds) {
    hsb_control_client client(context, board->endpoint(), patient());
    boost::asio::cancellation_signal signal;
    std::optional<error_code> result;
    client.async_write(
        0x1000, 1,
        boost::asio::bind_cancellation_slot(signal.slot(), [&](const error_code& ec) { result = ec; }));
    signal.emit(boost::asio::cancellation_type::partial);
    run_until([&] { return result.has_value(); });
    EXPECT_FALSE(*result);
}

TEST_F(hsb_control_client_test, CancelBeforeTheFirstDatagramEndsIt) {
    hsb_control_client client(context, board->endpoint(), patient());
    std::optional<error_code> result;
    client.async_write(0x1000, 1, [&](const error_code& ec) { result = ec; });
    client.cancel();
    run_until([&] { return result.has_value(); });
    EXPECT_EQ(*result, operation_aborted);
    EXPECT_FALSE(write(client, 0x1000, 2));
}

TEST_F(hsb_control_client_test, CancelWithNothingOutstandingDoesNothing) {
    hsb_control_client client(context, board->endpoint(), patient());
    client.cancel();
    EXPECT_FALSE(write(client, 0x1000, 2));
}

TEST_F(hsb_control_client_test, DestructionEndsTheOutstandingOperation) {
    board->fall_silent();
    std::optional<hsb_control_client> client(std::in_place, context, board->endpoint(), patient());
    std::optional<error_code> result;
    std::array<std::uint32_t, 1> addresses{0x80}, values{};
    client->async_read_block(addresses, values, [&](const error_code& ec) { result = ec; });
    run_until([&] { return !board->requests.empty(); });
    client.reset();
    run_until([&] { return result.has_value(); });
    EXPECT_EQ(*result, operation_aborted);
}

TEST_F(hsb_control_client_test, AssignmentEndsTheOutstandingOperationOfTheOldOne) {
    board->fall_silent();
    hsb_control_client client(context, board->endpoint(), patient());
    std::optional<error_code> result;
    client.async_write(0x80, 1, [&](const error_code& ec) { result = ec; });
    client = hsb_control_client(context, board->endpoint(), patient());
    run_until([&] { return result.has_value(); });
    EXPECT_EQ(*result, operation_aborted);
}

TEST_F(hsb_control_client_test, AContextThatEndsFirstDestroysTheHandlerUncalled) {
    const auto kept = std::make_shared<int>(0);
    bool called = false;
    {
        boost::asio::io_context other;
        hsb_control_client client(other, board->endpoint(), patient());
        client.async_write(0x80, 1, [kept, &called](const error_code&) { called = true; });
        other.poll();
    }
    EXPECT_FALSE(called);
    EXPECT_EQ(kept.use_count(), 1);
}

TEST_F(hsb_control_client_test, AMovedClientTakesItsOperationAlong) {
    hsb_control_client client(context, board->endpoint(), patient());
    std::optional<error_code> result;
    client.async_write(0x80, 1, [&](const error_code& ec) { result = ec; });
    auto taken = std::move(client);
    run_until([&] { return result.has_value(); });
    EXPECT_FALSE(*result);
    EXPECT_FALSE(write(taken, 0x80, 2));
    EXPECT_EQ(board->registers[0x80], 2U);
}

TEST_F(hsb_control_client_test, EveryOtherDatagramLostInAThousandRegisters) {
    hsb_control_client client(context, board->endpoint(), quick(300));
    for (int i = 0; i < 12; i += 2)
        board->then(test::lost).then([](script&, const seen_request&) { return true; });
    std::vector<hsb_register> what;
    for (std::uint32_t i = 0; i < 1000; ++i) what.push_back({0x5010'0000 + 4 * i, ~i});
    EXPECT_FALSE(wait([&](auto h) { client.async_write_block(what, h); }));
    for (const auto& r : what) EXPECT_EQ(board->registers[r.address], r.value);
    EXPECT_GE(client.snapshot().retries, 6U);
}

} // namespace
} // namespace rocio::fpga

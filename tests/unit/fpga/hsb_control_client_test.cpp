#include "hsb_control_client_fixture.hpp"

#include <numeric>

namespace rocio::fpga {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;

TEST_F(hsb_control_client_test, ReadsTheRegisterAskedFor) {
    board->registers[0x5000'0004] = 0xCAFE;
    hsb_control_client client(context, board->endpoint(), patient());
    const auto [ec, value] = read(client, 0x5000'0004);
    EXPECT_FALSE(ec) << ec.message();
    EXPECT_EQ(value, 0xCAFEU);
    ASSERT_EQ(board->requests.size(), 1U);
    EXPECT_EQ(board->requests[0].command, hsb_command::read_dword);
    EXPECT_EQ(board->requests[0].flags, hsb_flags::acknowledge);
}

TEST_F(hsb_control_client_test, WritesAndWaitsForTheAcknowledgement) {
    hsb_control_client client(context, board->endpoint(), patient());
    EXPECT_FALSE(write(client, 0x1000, 17));
    EXPECT_THAT(board->writes, ElementsAre(hsb_register{0x1000, 17}));
    EXPECT_EQ(board->requests[0].command, hsb_command::write_dword);
}

TEST_F(hsb_control_client_test, NumbersItsRequestsOneAfterTheOther) {
    hsb_control_client client(context, board->endpoint(), patient());
    for (std::uint32_t i = 0; i < 3; ++i) EXPECT_FALSE(write(client, 0x1000, i));
    ASSERT_EQ(board->requests.size(), 3U);
    EXPECT_EQ(board->requests[1].sequence, board->requests[0].sequence + 1);
    EXPECT_EQ(board->requests[2].sequence, board->requests[0].sequence + 2);
}

TEST_F(hsb_control_client_test, UnderstandsTheFpgasOwnAnswers) {
    board->dialect = hsb_dialect::fpga;
    board->registers[0x80] = 0x2606;
    hsb_control_client client(context, board->endpoint(), patient());
    EXPECT_EQ(read(client, 0x80).value, 0x2606U);
    EXPECT_FALSE(write(client, 0x1000, 1));
    const std::array<hsb_register, 2> two{{{0x1000, 2}, {0x1004, 3}}};
    EXPECT_FALSE(wait([&](auto h) { client.async_write_block(two, h); }));
    EXPECT_EQ(board->registers[0x1004], 3U);
}

TEST_F(hsb_control_client_test, ABlockGoesInDatagramsOfAFewRegistersInOrder) {
    auto config = patient();
    config.registers_per_request = 4;
    hsb_control_client client(context, board->endpoint(), config);
    std::vector<hsb_register> what;
    for (std::uint32_t i = 0; i < 10; ++i) what.push_back({0x5010'0000 + 4 * i, 100 + i});
    EXPECT_FALSE(wait([&](auto h) { client.async_write_block(what, h); }));
    EXPECT_EQ(board->writes, what);
    ASSERT_EQ(board->requests.size(), 3U);
    EXPECT_EQ(board->requests[0].registers.size(), 4U);
    EXPECT_EQ(board->requests[2].registers.size(), 2U);
    EXPECT_EQ(board->requests[2].command, hsb_command::write_block);
}

TEST_F(hsb_control_client_test, ABlockReadFillsTheValuesInTheOrderAsked) {
    auto config = patient();
    config.registers_per_request = 3;
    hsb_control_client client(context, board->endpoint(), config);
    std::vector<std::uint32_t> addresses, values(7), expected;
    for (std::uint32_t i = 0; i < 7; ++i) {
        addresses.push_back(0x4010'0000 + 0x8000 * (6 - i));
        board->registers[addresses.back()] = 7000 + i;
        expected.push_back(7000 + i);
    }
    EXPECT_FALSE(wait([&](auto h) { client.async_read_block(addresses, values, h); }));
    EXPECT_EQ(values, expected);
    EXPECT_EQ(board->requests.size(), 3U);
}

TEST_F(hsb_control_client_test, ThousandsOfRegistersArriveWhole) {
    hsb_control_client client(context, board->endpoint(), patient());
    std::vector<hsb_register> what;
    for (std::uint32_t i = 0; i < 8192; ++i) what.push_back({0x5010'0000 + 4 * i, i * 2654435761U});
    EXPECT_FALSE(wait([&](auto h) { client.async_write_block(what, h); }));
    EXPECT_EQ(board->writes, what);
    EXPECT_EQ(board->requests.size(), (8192U + 179) / 180);
    EXPECT_EQ(client.snapshot().retries, 0U);
}

TEST_F(hsb_control_client_test, AnEmptyBlockIsDoneAtOnceWithoutARequest) {
    hsb_control_client client(context, board->endpoint(), patient());
    EXPECT_FALSE(wait([&](auto h) { client.async_write_block({}, h); }));
    EXPECT_FALSE(wait([&](auto h) { client.async_read_block({}, {}, h); }));
    EXPECT_TRUE(board->requests.empty());
}

TEST_F(hsb_control_client_test, ABlockReadWithAnotherNumberOfValuesIsRefused) {
    hsb_control_client client(context, board->endpoint(), patient());
    const std::array<std::uint32_t, 2> addresses{0x1000, 0x1004};
    std::array<std::uint32_t, 1> values{};
    EXPECT_EQ(wait([&](auto h) { client.async_read_block(addresses, values, h); }), errc::invalid_argument);
    EXPECT_TRUE(board->requests.empty());
}

TEST_F(hsb_control_client_test, ASecondOperationIsRefusedAndTheFirstGoesOn) {
    board->registers[0x80] = 9;
    hsb_control_client client(context, board->endpoint(), patient());
    std::optional<read_result> first;
    client.async_read(0x80, [&](const error_code& ec, std::uint32_t v) { first = read_result{ec, v}; });
    EXPECT_EQ(read(client, 0x84).ec, errc::invalid_state);
    run_until([&] { return first.has_value(); });
    EXPECT_FALSE(first->ec);
    EXPECT_EQ(first->value, 9U);
    EXPECT_EQ(board->requests.size(), 1U);
}

TEST_F(hsb_control_client_test, NeverCompletesInsideTheInitiatingFunction) {
    hsb_control_client client(context, board->endpoint(), patient());
    bool called = false;
    client.async_write_block({}, [&](const error_code&) { called = true; });
    EXPECT_FALSE(called);
    run_until([&] { return called; });
}

TEST_F(hsb_control_client_test, AHandlerMayBeginTheNextOperation) {
    hsb_control_client client(context, board->endpoint(), patient());
    int done = 0;
    std::function<void(const error_code&)> next = [&](const error_code& ec) {
        EXPECT_FALSE(ec);
        if (++done < 5) client.async_write(0x1000, static_cast<std::uint32_t>(done), next);
    };
    client.async_write(0x1000, 0, next);
    run_until([&] { return done == 5; });
    EXPECT_EQ(board->registers[0x1000], 4U);
}

TEST_F(hsb_control_client_test, ChecksTheSequenceFromTheSecondRequestOn) {
    auto config = patient();
    config.check_sequence = true;
    hsb_control_client client(context, board->endpoint(), config);
    for (int i = 0; i < 3; ++i) read(client, 0x80);
    EXPECT_THAT(board->requests, ElementsAre(Field(&seen_request::flags, hsb_flags::acknowledge),
                                             Field(&seen_request::flags, 3), Field(&seen_request::flags, 3)));
}

TEST_F(hsb_control_client_test, DoesNotCheckTheSequenceAfterARefusal) {
    auto config = patient();
    config.check_sequence = true;
    hsb_control_client client(context, board->endpoint(), config);
    read(client, 0x80);
    board->then([](script& s, const seen_request& r) {
        s.answer(r, hsb_status::sequence_check_failed);
        return false;
    });
    EXPECT_EQ(read(client, 0x80).ec, hsb_status::sequence_check_failed);
    EXPECT_FALSE(read(client, 0x80).ec);
    EXPECT_FALSE(read(client, 0x80).ec);
    EXPECT_EQ(board->requests[2].flags, hsb_flags::acknowledge);
    EXPECT_EQ(board->requests[3].flags, 3);
}

TEST_F(hsb_control_client_test, WorksWithIpv6) {
    script other(context, "::1");
    other.registers[0x80] = 6;
    hsb_control_client client(context, other.endpoint(), patient());
    EXPECT_EQ(read(client, 0x80).value, 6U);
}

TEST(HsbControlConfig, RefusesWhatCannotBe) {
    EXPECT_FALSE(validate(hsb_control_config{}));
    hsb_control_config c;
    c.tries = 0;
    EXPECT_EQ(validate(c).code, errc::invalid_argument);
    c = {};
    c.answer_deadline = std::chrono::milliseconds(0);
    EXPECT_THAT(validate(c).message(), testing::HasSubstr("answer_deadline"));
    c = {};
    c.registers_per_request = 512;
    EXPECT_THAT(validate(c).message(), testing::HasSubstr("1 to 511"));
}

TEST(HsbControlConfig, AClientOfARefusedOneIsNotMade) {
    boost::asio::io_context context;
    const boost::asio::ip::udp::endpoint there(boost::asio::ip::make_address("127.42.1.2"), 8192);
    hsb_control_config c;
    c.tries = 0;
    EXPECT_THROW(hsb_control_client(context, there, c), exception);
    EXPECT_THROW(hsb_control_client(context, {there.address(), 0}), exception);
    EXPECT_NO_THROW(hsb_control_client(context, there));
}

} // namespace
} // namespace rocio::fpga

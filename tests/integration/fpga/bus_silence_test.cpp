#include "bus_bytes.hpp"
#include "register_bus_fixture.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <array>
#include <random>

namespace rocio::fpga {
namespace {

using asio::ip::udp;
using test::byte_string;
using test::words_of;
using testing::AllOf;
using testing::HasSubstr;
using namespace std::chrono_literals;

/// Buses before boards that say nothing, or the wrong thing.
class bus_silence : public bus_test_base {
  protected:
    /// A port at which nobody listens.
    static udp::endpoint nobody(asio::io_context& context, const char* address) {
        udp::socket taken(context, {asio::ip::make_address(address), 0});
        return taken.local_endpoint();
    }
    static srp_rssi_config rssi(std::chrono::milliseconds deadline) { return rssi_way::config(deadline); }

    /// One datagram to the server and what comes back.
    byte_string ask(const udp::endpoint& where, const byte_string& message) {
        udp::socket socket(context, {asio::ip::make_address("127.44.9.200"), 0});
        socket.send_to(asio::buffer(message), where);
        std::optional<std::size_t> got;
        byte_string answer(9000);
        socket.async_receive(asio::buffer(answer), [&](const error_code&, std::size_t n) { got = n; });
        run_until([&] { return got.has_value(); });
        answer.resize(got.value_or(0));
        return answer;
    }
};

TEST_F(bus_silence, AClosedUdpPortIsNamedAsOne) {
    srp_udp_bus bus(context, nobody(context, "127.44.9.1"), {.answer_deadline = 50ms, .tries = 5});
    EXPECT_EQ(read(bus, 0x100).ec, bus_errc::no_answer);
    EXPECT_THAT(bus.last_error().message(),
                AllOf(HasSubstr("127.44.9.1"), HasSubstr("nobody listens there")));
    EXPECT_EQ(bus.snapshot().retries, 4U);
}

TEST_F(bus_silence, AnOpenUdpPortThatSaysNothingIsAnotherMatter) {
    udp::socket mute(context, {asio::ip::make_address("127.44.9.2"), 0});
    srp_udp_bus bus(context, mute.local_endpoint(), {.answer_deadline = 50ms, .tries = 4});
    EXPECT_EQ(read(bus, 0x100).ec, bus_errc::no_answer);
    EXPECT_THAT(bus.last_error().message(), HasSubstr("no answer after 4 tries of 50 ms"));
}

TEST_F(bus_silence, RssiCountsTheSynsThatWereNotAnswered) {
    udp::socket mute(context, {asio::ip::make_address("127.44.9.3"), 0});
    srp_rssi_bus bus(context, mute.local_endpoint(), rssi(450ms));
    EXPECT_EQ(read(bus, 0x100).ec, bus_errc::not_connected);
    EXPECT_THAT(bus.last_error().message(),
                AllOf(HasSubstr("SYNs were not answered"), HasSubstr("has RSSI at this port")));
    EXPECT_EQ(bus.snapshot().state, rssi_state::closed) << "it does not go on trying for nobody";
    context.restart();
    context.run(); // ends
}

TEST_F(bus_silence, RssiSaysThatNobodyListens) {
    srp_rssi_bus bus(context, nobody(context, "127.44.9.4"), rssi(450ms));
    EXPECT_EQ(read(bus, 0x100).ec, bus_errc::not_connected);
    EXPECT_THAT(bus.last_error().message(), HasSubstr("nobody listens there"));
}

TEST_F(bus_silence, AnOperationDuringTheBackOffWaitsForTheNextConnection) {
    std::optional<srp_rssi_server> server(std::in_place, context.get_executor(),
                                          udp::endpoint(asio::ip::make_address("127.44.9.5"), 0), registers,
                                          calm_rssi());
    const auto where = server->local_endpoint();
    auto config = rssi(20s);
    config.first_back_off = 400ms;
    srp_rssi_bus bus(context, where, config);
    EXPECT_FALSE(write(bus, 0x100, 1));
    server.reset();
    run_until([&] { return bus.snapshot().resets == 1; });
    server.emplace(context.get_executor(), where, registers, calm_rssi());
    const auto begun = std::chrono::steady_clock::now();
    EXPECT_FALSE(write(bus, 0x100, 2)) << bus.last_error().message();
    EXPECT_GE(std::chrono::steady_clock::now() - begun, 300ms);
    EXPECT_EQ(bus.snapshot().connections, 2U);
}

TEST_F(bus_silence, CancelDuringTheBackOffEndsTheWait) {
    std::optional<srp_rssi_server> server(std::in_place, context.get_executor(),
                                          udp::endpoint(asio::ip::make_address("127.44.9.6"), 0), registers,
                                          calm_rssi());
    auto config = rssi(20s);
    config.first_back_off = config.longest_back_off = 60s;
    srp_rssi_bus bus(context, server->local_endpoint(), config);
    EXPECT_FALSE(write(bus, 0x100, 1));
    server.reset();
    run_until([&] { return bus.snapshot().resets == 1; });
    asio::cancellation_signal signal;
    std::optional<error_code> result;
    bus.async_write(0x100, 2,
                    asio::bind_cancellation_slot(signal.slot(), [&](const error_code& ec) { result = ec; }));
    context.poll();
    signal.emit(asio::cancellation_type::terminal);
    run_until([&] { return result.has_value(); });
    EXPECT_EQ(result, asio::error::operation_aborted);
    context.restart();
    context.run(); // ends long before the back-off
}

TEST_F(bus_silence, AnSrpServerRefusesByStatusWhatTheFirmwareRefuses) {
    srp_udp_server server(context.get_executor(), {asio::ip::make_address("127.44.9.7"), 0}, registers);
    const auto where = server.local_endpoint();
    const auto status = [&](const byte_string& m) {
        const auto answer = ask(where, m);
        const auto reply = parse_srp_reply(answer);
        return reply ? reply->status : 0xFFFF'FFFF;
    };
    EXPECT_EQ(status(words_of({0x0A000003, 1, 0x102, 0, 3})), 0x1000U);
    EXPECT_EQ(status(words_of({0x0A000003, 1, 0x100, 0, 8191})), 0x1000U);
    EXPECT_EQ(status(words_of({0x0A000004, 1, 0x100, 0, 3})), 0x0800U);
    EXPECT_EQ(status(words_of({0x0A000103, 1, 0x100, 0, 3})), 0x0400U);
    EXPECT_EQ(status(words_of({0x0A000003, 1, 0x100, 0, 3})), 0U);
    EXPECT_TRUE(registers.writes.empty());
}

/// What the strangers sent has all been looked at when the bus's own operations are done.
template <class Write>
void expect_unharmed(asio::io_context& context, const udp::endpoint& server, Write write) {
    udp::socket stranger(context, {asio::ip::make_address("127.44.9.201"), 0});
    std::mt19937 draw(9);
    for (std::uint32_t round = 0; round < 20; ++round) {
        for (int i = 0; i < 20; ++i) {
            byte_string noise(draw() % 200);
            for (auto& b : noise) b = static_cast<std::byte>(draw());
            stranger.send_to(asio::buffer(noise), server);
        }
        EXPECT_FALSE(write(round));
    }
}

TEST_F(bus_silence, NoiseFromStrangersDoesNotDisturbAnRssiClient) {
    srp_rssi_server server(context.get_executor(), {asio::ip::make_address("127.44.9.8"), 0}, registers,
                           calm_rssi());
    srp_rssi_bus bus(context, server.local_endpoint(), rssi(20s));
    expect_unharmed(context, server.local_endpoint(), [&](std::uint32_t v) { return write(bus, 0x100, v); });
    EXPECT_EQ(bus.snapshot().connections, 1U);
    EXPECT_EQ(server.snapshot().connections, 1U);
}

TEST_F(bus_silence, NoiseFromStrangersDoesNotDisturbAnSrpClient) {
    srp_udp_server server(context.get_executor(), {asio::ip::make_address("127.44.9.9"), 0}, registers);
    srp_udp_bus bus(context, server.local_endpoint());
    expect_unharmed(context, server.local_endpoint(), [&](std::uint32_t v) { return write(bus, 0x100, v); });
    EXPECT_EQ(bus.snapshot().ignored, 0U) << "the kernel keeps out who is not the board";
}

TEST_F(bus_silence, ABoardThatAnswersNonsenseIsNotBelieved) {
    udp::socket board(context, {asio::ip::make_address("127.44.9.10"), 0});
    srp_udp_bus bus(context, board.local_endpoint(), {.answer_deadline = 20s, .tries = 1});
    std::optional<read_result> result;
    bus.async_read(0x100, [&](const error_code& ec, std::uint32_t v) { result = read_result{ec, v}; });
    std::array<std::byte, 100> request{};
    udp::endpoint client;
    std::optional<std::size_t> got;
    board.async_receive_from(asio::buffer(request), client,
                             [&](const error_code&, std::size_t n) { got = n; });
    run_until([&] { return got.has_value(); });
    const auto asked = std::span<const std::byte>(request).first(*got);
    auto elsewhere = byte_string(asked.begin(), asked.end());
    elsewhere[8] ^= std::byte{4};
    for (const auto& answer :
         {byte_string{}, test::pattern(28), encode_srp_reply(elsewhere, words_of({1}), 0),
          encode_srp_reply(asked, {}, 0), encode_srp_reply(asked, words_of({1, 2}), 0),
          encode_srp_reply(asked, words_of({77}), 0)})
        board.send_to(asio::buffer(answer), client);
    run_until([&] { return result.has_value(); });
    EXPECT_EQ(result->value, 77U);
    EXPECT_EQ(bus.snapshot().ignored, 5U);
}

#ifndef ROCIO_TEST_WITHOUT_ZMQ
TEST_F(bus_silence, ABridgeThatIsNotThereIsAskedForByProbes) {
    memory_bridge_bus bus(context, {asio::ip::make_address("127.44.9.11"), 10000},
                          {.answer_deadline = 450ms});
    EXPECT_EQ(read(bus, 0x100).ec, bus_errc::not_connected);
    EXPECT_THAT(bus.last_error().message(), AllOf(HasSubstr("probes"), HasSubstr("the port after it")));
}
#endif

} // namespace
} // namespace rocio::fpga

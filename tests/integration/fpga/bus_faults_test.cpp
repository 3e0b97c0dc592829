#include "register_bus_fixture.hpp"

#include <vector>

namespace rocio::fpga {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using namespace std::chrono_literals;

class bus_faults : public bus_test_base {
  protected:
    static constexpr control_faults rough{.drop = 0.1, .duplicate = 0.1, .reorder = 0.1, .seed = 20};

    static asio::ip::udp::endpoint at(const char* address) { return {asio::ip::make_address(address), 0}; }

    /// Writes, reads back and moves blocks; the words must be right each time.
    template <class Bus>
    void expect_all_right(Bus& bus) {
        for (std::uint32_t i = 0; i < 30; ++i) {
            EXPECT_FALSE(write(bus, 0x1000 + 4 * i, i * 7919)) << bus.last_error().message();
            EXPECT_EQ(read(bus, 0x1000 + 4 * i).value, i * 7919);
        }
        std::vector<std::uint32_t> out(1024), in(1024);
        for (std::uint32_t i = 0; i < out.size(); ++i) out[i] = i * 2654435761U;
        EXPECT_FALSE(wait([&](auto h) { bus.async_write_block(0x4'0000, out, h); }));
        EXPECT_FALSE(wait([&](auto h) { bus.async_read_block(0x4'0000, in, h); }));
        EXPECT_EQ(in, out);
        std::uint32_t done = 0, right = 0;
        for (std::uint32_t i = 0; i < 200; ++i) {
            bus.async_read(0x4'0000 + 4 * i, [&, i](const error_code& ec, std::uint32_t value) {
                ++done;
                right += !ec && value == out[i];
            });
        }
        run_until([&] { return done == 200; });
        EXPECT_EQ(right, 200U);
    }
};

TEST_F(bus_faults, SrpOverUdpRepeatsWhatIsLostAndIgnoresWhatComesTwice) {
    srp_udp_server server(context.get_executor(), at("127.44.8.1"), registers, rough);
    srp_udp_bus bus(context, server.local_endpoint(), {.answer_deadline = 50ms, .tries = 200});
    expect_all_right(bus);
    EXPECT_GT(bus.snapshot().retries, 10U);
    EXPECT_GT(bus.snapshot().ignored, 0U);
    EXPECT_EQ(bus.snapshot().failures, 0U);
}

TEST_F(bus_faults, RssiRepeatsAndSortsWhatTheNetworkLosesAndMixes) {
    srp_rssi_server server(context.get_executor(), at("127.44.8.2"), registers, calm_rssi(), rough);
    srp_rssi_config config;
    config.srp.answer_deadline = 30s;
    srp_rssi_bus bus(context, server.local_endpoint(), config);
    expect_all_right(bus);
    const auto s = bus.snapshot();
    EXPECT_GT(s.segments.retransmits, 0U);
    EXPECT_GT(s.segments.duplicates, 0U);
    EXPECT_GT(s.segments.out_of_order, 0U);
    EXPECT_EQ(s.parameters.retransmit_timeout, 50) << "the server's parameters are in use";
}

TEST_F(bus_faults, ASecondRssiClientCutsTheFirstOffAndTheFirstConnectsAgain) {
    srp_rssi_server server(context.get_executor(), at("127.44.8.3"), registers, calm_rssi());
    srp_rssi_config config;
    config.srp.answer_deadline = 20s;
    srp_rssi_bus first(context, server.local_endpoint(), config);
    srp_rssi_bus second(context, server.local_endpoint(), config);
    EXPECT_FALSE(write(first, 0x100, 1));
    EXPECT_EQ(first.snapshot().state, rssi_state::open);

    EXPECT_FALSE(write(second, 0x100, 2)) << second.last_error().message();
    run_until([&] { return first.snapshot().resets == 1; });
    EXPECT_EQ(server.snapshot().resets, 1U);

    EXPECT_FALSE(write(first, 0x100, 3)) << first.last_error().message();
    run_until([&] { return second.snapshot().resets == 1; });
    EXPECT_EQ(first.snapshot().connections, 2U);
    EXPECT_EQ(registers.values.at(0x100), 3U);
}

TEST_F(bus_faults, WhatIsInFlightWhenTheBoardResetsFailsAndSaysThatItMayBeDone) {
    srp_rssi_server server(context.get_executor(), at("127.44.8.4"), registers, calm_rssi());
    srp_rssi_config config;
    config.srp.answer_deadline = 20s;
    srp_rssi_bus bus(context, server.local_endpoint(), config);
    EXPECT_FALSE(write(bus, 0x100, 1));
    std::optional<error_code> result;
    bus.async_write(0x104, 2, [&](const error_code& ec) { result = ec; });
    server.close(); // sends a reset
    run_until([&] { return result.has_value(); });
    EXPECT_EQ(result, bus_errc::connection_lost);
    EXPECT_THAT(
        bus.last_error().message(),
        AllOf(HasSubstr("write of 0x104"), HasSubstr("reset the connection"), HasSubstr("may or may not")));
    EXPECT_EQ(bus.snapshot().resets, 1U);
}

TEST_F(bus_faults, ABoardThatGoesWithoutAWordIsFoundOutByRetransmits) {
    auto config = calm_rssi();
    config.parameters.max_retransmits = 5;
    asio::io_context boards_own; // that stops running is a board without power
    srp_rssi_server server(boards_own.get_executor(), at("127.44.8.5"), registers, config);
    srp_rssi_bus bus(context, server.local_endpoint());
    std::optional<error_code> result;
    bus.async_write(0x100, 1, [&](const error_code& ec) { result = ec; });
    const auto limit = std::chrono::steady_clock::now() + patience;
    while (!result && std::chrono::steady_clock::now() < limit) {
        context.run_for(1ms);
        boards_own.run_for(1ms);
    }
    ASSERT_EQ(result, error_code());
    EXPECT_EQ(write(bus, 0x104, 2), bus_errc::connection_lost);
    EXPECT_THAT(bus.last_error().message(), HasSubstr("never acknowledged"));
}

TEST_F(bus_faults, AnIdleRssiConnectionIsKept) {
    auto config = calm_rssi();
    config.parameters.null_timeout = 1200;
    srp_rssi_server server(context.get_executor(), at("127.44.8.7"), registers, config);
    srp_rssi_bus bus(context, server.local_endpoint());
    EXPECT_FALSE(write(bus, 0x100, 1));
    context.restart();
    context.run_for(3s);
    EXPECT_EQ(bus.snapshot().state, rssi_state::open);
    EXPECT_EQ(server.snapshot().resets, 0U);
    EXPECT_EQ(read(bus, 0x100).value, 1U);
    EXPECT_EQ(bus.snapshot().connections, 1U);
}

#ifndef ROCIO_TEST_WITHOUT_ZMQ
TEST_F(bus_faults, ABridgesOwnWordsReachTheUser) {
    memory_bridge_server server(context.get_executor(), {asio::ip::make_address("127.44.8.8"), 0}, registers);
    registers.failing[0x40] = bus_response::slave_error;
    memory_bridge_bus bus(context, server.local_endpoint());
    EXPECT_EQ(read(bus, 0x40).ec, bus_errc::refused);
    EXPECT_THAT(bus.last_error().message(), HasSubstr("the bridge refuses: error on the board's bus"));
}
#endif

TEST_F(bus_faults, SrpNamesTheStatusBits) {
    srp_udp_server server(context.get_executor(), at("127.44.8.9"), registers);
    registers.failing[0x40] = bus_response::decode_error;
    srp_udp_bus bus(context, server.local_endpoint());
    EXPECT_EQ(read(bus, 0x40).ec, srp_error(3));
    EXPECT_EQ(read(bus, 0x40).ec, condition::bad_configuration);
}

} // namespace
} // namespace rocio::fpga

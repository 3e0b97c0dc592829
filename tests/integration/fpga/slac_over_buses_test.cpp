// A SLAC engine brought up over real sockets: each bus to an emulated board on loopback.

#include <rocio/fpga/any_register_bus.hpp>
#include <rocio/fpga/memory_bridge_bus.hpp>
#include <rocio/fpga/memory_bridge_server.hpp>
#include <rocio/fpga/slac_board.hpp>
#include <rocio/fpga/slac_engine.hpp>
#include <rocio/fpga/srp_rssi_bus.hpp>
#include <rocio/fpga/srp_rssi_server.hpp>
#include <rocio/fpga/srp_udp_bus.hpp>
#include <rocio/fpga/srp_udp_server.hpp>
#include <rocio/fpga/udp_engine.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>

namespace rocio::fpga {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using testing::HasSubstr;

struct last_stream final : slac_stream_port {
    void start(const slac_stream& stream) override { flows = stream; }
    void stop() override { flows.reset(); }
    std::optional<slac_stream> flows{};
};

class slac_over_buses : public testing::Test {
  protected:
    static constexpr std::chrono::seconds patience{60};

    asio::io_context context;
    last_stream port;
    slac_board board{port};
    std::optional<srp_udp_server> udp_server{};
    std::optional<srp_rssi_server> rssi_server{};
    std::optional<memory_bridge_server> bridge_server{};

    static asio::ip::udp::endpoint udp_at(const char* address) {
        return {asio::ip::make_address(address), 0};
    }

    any_register_bus over_udp(const control_faults& faults = {}, const srp_config& config = {}) {
        udp_server.emplace(context.get_executor(), udp_at("127.44.9.1"), board, faults);
        return srp_udp_bus(context, udp_server->local_endpoint(), config);
    }
    any_register_bus over_rssi(const control_faults& faults = {}) {
        rssi_server.emplace(context.get_executor(), udp_at("127.44.9.2"), board, rssi_config{}, faults);
        return srp_rssi_bus(context, rssi_server->local_endpoint());
    }
    any_register_bus over_bridge() {
        const asio::ip::tcp::endpoint where(asio::ip::make_address("127.44.9.3"), 0);
        bridge_server.emplace(context.get_executor(), where, board);
        return memory_bridge_bus(context, bridge_server->local_endpoint());
    }

    static slac_engine_config config() {
        slac_engine_config c;
        c.prbs_base = 0x0016'0000;
        c.reset_pause = c.settle_pause = c.disarm_pause = 1ms;
        c.liveness_interval = 10ms;
        return c;
    }
    static local_parameters local() {
        local_parameters l;
        l.address = gid::from_v4({192, 168, 2, 1});
        l.queue_pair = qpn(0x123456);
        l.send_psn = l.receive_psn = psn(0xABCDEF);
        l.region = {0x1000, std::uint64_t{64} * 4096, rkey{9}};
        l.max_payload = 4096;
        l.depth = 64;
        return l;
    }
    static slac_engine make(asio::io_context& on, any_register_bus bus) {
        slac_engine engine(on, std::move(bus), gid::from_v4({192, 168, 2, 10}), config());
        udp_engine_target host;
        host.host = asio::ip::make_address_v4("192.168.2.1");
        engine.before(std::make_shared<udp_engine_program>(host));
        return engine;
    }

    template <class Done>
    void run_until(Done done) {
        const auto limit = std::chrono::steady_clock::now() + patience;
        context.restart();
        while (!done()) ASSERT_GT(context.run_one_until(limit), 0U) << "nothing left to do, or out of time";
    }
    template <class Begin>
    error_code wait(Begin begin) {
        std::optional<error_code> result;
        begin([&](const error_code& ec, auto...) { result = ec; });
        run_until([&] { return result.has_value(); });
        return result.value_or(error_code());
    }
    error_code exchange(slac_engine& engine) {
        return wait([&](auto h) { engine.async_exchange(local(), h); });
    }
    error_code ready(slac_engine& engine) {
        return wait([&](auto h) { engine.async_ready(h); });
    }
    error_code release(slac_engine& engine) {
        return wait([&](auto h) { engine.async_release(h); });
    }

    void passes_from_exchange_to_release(any_register_bus bus) {
        auto engine = make(context, std::move(bus));
        ASSERT_FALSE(exchange(engine)) << engine.last_error().text;
        ASSERT_FALSE(ready(engine)) << engine.last_error().text;
        ASSERT_TRUE(port.flows);
        EXPECT_EQ(port.flows->host_qpn, 0x123456U);
        EXPECT_EQ(port.flows->sq_psn, 0xABCDEFU);
        EXPECT_EQ(port.flows->host_ip, 0xC0A8'0201U);
        EXPECT_EQ(port.flows->host_port, 4791U);
        std::optional<error_code> lost;
        engine.async_wait_lost([&](const error_code& ec) { lost = ec; });
        run_until([&] { return engine.snapshot().looks >= 3; });
        EXPECT_FALSE(wait([&](auto h) { engine.async_read_counters(h); }));
        EXPECT_FALSE(release(engine)) << engine.last_error().text;
        EXPECT_EQ(lost, asio::error::operation_aborted);
        EXPECT_FALSE(port.flows);
        EXPECT_EQ(board.resources_allocated(), 0U);
        EXPECT_EQ(board.requests(), 10U);
    }
};

TEST_F(slac_over_buses, SrpOverUdp) {
    passes_from_exchange_to_release(over_udp());
}

TEST_F(slac_over_buses, SrpOverRssi) {
    passes_from_exchange_to_release(over_rssi());
}

TEST_F(slac_over_buses, TheMemoryBridge) {
    passes_from_exchange_to_release(over_bridge());
}

TEST_F(slac_over_buses, ADisturbedRssiLinkMakesNoDifference) {
    passes_from_exchange_to_release(over_rssi({.drop = 0.02, .duplicate = 0.02, .reorder = 0.02, .seed = 3}));
}

TEST_F(slac_over_buses, ADisturbedUdpLinkConnectsOrSaysWhyAndLeavesNothing) {
    unsigned connected = 0;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        const srp_config patient{.answer_deadline = 20ms, .tries = 200};
        auto engine = make(
            context, over_udp({.drop = 0.01, .duplicate = 0.05, .reorder = 0.02, .seed = seed}, patient));
        auto ec = exchange(engine);
        if (!ec) ec = ready(engine);
        if (ec) {
            EXPECT_THAT(engine.last_error().text, HasSubstr(": ")) << "the stage comes first";
        } else {
            ++connected;
            ASSERT_TRUE(port.flows);
            EXPECT_EQ(port.flows->sq_psn, 0xABCDEFU) << "no old write got through";
            EXPECT_EQ(port.flows->counter_wrap, 64U);
        }
        EXPECT_FALSE(release(engine)) << engine.last_error().text;
        EXPECT_EQ(board.resources_allocated(), 0U) << "seed " << seed;
        EXPECT_FALSE(port.flows);
    }
    EXPECT_GT(connected, 0U);
}

TEST_F(slac_over_buses, ABoardThatGoesAwayIsLost) {
    auto engine = make(context, over_udp({}, {.answer_deadline = 200ms, .tries = 2}));
    ASSERT_FALSE(exchange(engine)) << engine.last_error().text;
    ASSERT_FALSE(ready(engine));
    udp_server->close();
    EXPECT_EQ(wait([&](auto h) { engine.async_wait_lost(h); }), errc::peer_lost);
    EXPECT_THAT(engine.last_error().text, HasSubstr("cannot be read"));
    EXPECT_TRUE(release(engine)) << "it keeps what it has";
    EXPECT_EQ(board.resources_allocated(), 3U);
}

TEST_F(slac_over_buses, AnAddressWithoutAnEngineSaysWhichRegister) {
    auto c = config();
    c.engine_base = 0x0025'0000;
    slac_engine engine(context, over_udp(), gid::from_v4({192, 168, 2, 10}), c);
    EXPECT_TRUE(exchange(engine));
    EXPECT_THAT(engine.last_error().text, HasSubstr("0x00250f00"));
    EXPECT_THAT(engine.last_error().text, HasSubstr("engine-base"));
    EXPECT_FALSE(release(engine));
}

} // namespace
} // namespace rocio::fpga

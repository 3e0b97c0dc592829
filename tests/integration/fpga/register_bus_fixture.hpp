#pragma once

#include "fake_registers.hpp"

#include <rocio/fpga/any_register_bus.hpp>
#include <rocio/fpga/memory_bridge_bus.hpp>
#include <rocio/fpga/memory_bridge_server.hpp>
#include <rocio/fpga/srp_rssi_bus.hpp>
#include <rocio/fpga/srp_rssi_server.hpp>
#include <rocio/fpga/srp_udp_bus.hpp>
#include <rocio/fpga/srp_udp_server.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

namespace rocio::fpga {

namespace asio = boost::asio;

static_assert(register_bus<srp_udp_bus>);
static_assert(register_bus<srp_rssi_bus>);
static_assert(register_bus<memory_bridge_bus>);

/// A board's server and the bus that reaches it, for tests that are the same for all.
struct udp_way {
    using bus_type = srp_udp_bus;
    using server_type = srp_udp_server;
    using endpoint = asio::ip::udp::endpoint;
    static constexpr const char* address = "127.44.7.1";

    static srp_config config(std::chrono::milliseconds deadline) {
        return {.answer_deadline = deadline, .tries = 1};
    }
};

/// With times that a busy machine keeps.
inline rssi_config calm_rssi() {
    rssi_config c;
    c.parameters.retransmit_timeout = 50;
    c.parameters.max_retransmits = 100;
    c.parameters.null_timeout = 20'000;
    return c;
}

struct rssi_way {
    using bus_type = srp_rssi_bus;
    struct server_type : srp_rssi_server {
        template <class Executor>
        server_type(const Executor& executor, const asio::ip::udp::endpoint& where, register_space& space)
            : srp_rssi_server(executor, where, space, calm_rssi()) {}
    };
    using endpoint = asio::ip::udp::endpoint;
    static constexpr const char* address = "127.44.7.2";

    static srp_rssi_config config(std::chrono::milliseconds deadline) {
        srp_rssi_config c;
        c.srp.answer_deadline = deadline;
        return c;
    }
};

struct bridge_way {
    using bus_type = memory_bridge_bus;
    using server_type = memory_bridge_server;
    using endpoint = asio::ip::tcp::endpoint;
    static constexpr const char* address = "127.44.7.3";

    static memory_bridge_config config(std::chrono::milliseconds deadline) {
        return {.answer_deadline = deadline};
    }
};

class bus_test_base : public ::testing::Test {
  protected:
    static constexpr std::chrono::seconds patience{30};

    asio::io_context context;
    test::fake_registers registers;

    template <class Done>
    void run_until(Done done) {
        const auto limit = std::chrono::steady_clock::now() + patience;
        context.restart();
        while (!done()) ASSERT_GT(context.run_one_until(limit), 0U) << "nothing left to do, or out of time";
    }
    template <class Begin>
    error_code wait(Begin begin) {
        std::optional<error_code> result;
        begin([&](const error_code& ec) { result = ec; });
        run_until([&] { return result.has_value(); });
        return result.value_or(error_code());
    }
    struct read_result {
        error_code ec{};
        std::uint32_t value = 0;
    };
    template <class Bus>
    read_result read(Bus& bus, std::uint64_t address) {
        std::optional<read_result> result;
        bus.async_read(address, [&](const error_code& ec, std::uint32_t value) {
            result = read_result{ec, value};
        });
        run_until([&] { return result.has_value(); });
        return result.value_or(read_result{});
    }
    template <class Bus>
    error_code write(Bus& bus, std::uint64_t address, std::uint32_t value) {
        return wait([&](auto handler) { bus.async_write(address, value, handler); });
    }
};

template <class Way>
class every_bus : public bus_test_base {
  protected:
    using bus_type = typename Way::bus_type;
    using server_type = typename Way::server_type;

    std::optional<server_type> server{std::in_place, context.get_executor(), any_port(), registers};

    static typename Way::endpoint any_port() { return {asio::ip::make_address(Way::address), 0}; }
    bus_type make_bus(std::chrono::milliseconds deadline = patience) {
        return bus_type(context, server->local_endpoint(), Way::config(deadline));
    }
};

} // namespace rocio::fpga

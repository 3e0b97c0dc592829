#pragma once

#include "memory_register_bus.hpp"
#include "register_map.hpp"

#include <rocio/fpga/hsb_channel.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

namespace rocio::fpga {

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// A channel over registers in memory.
class hsb_channel_fixture : public ::testing::Test {
  protected:
    using fate = test::memory_register_bus::fate;
    using access = test::memory_register_bus::access;
    static constexpr std::chrono::seconds patience{20};
    static constexpr std::uint32_t hif = 0x02000300, vp = 0x1000, mask = hif + 0x0C;

    hsb_channel_fixture() {
        bus->board = &board;
        board.values[hsb::version] = 0x2606;
        local.address = *gid::parse("192.168.0.101");
        local.queue_pair = qpn{0x1234};
        local.region = {0, 1 << 20, rkey{0x99}};
        config.fpga = *gid::parse("192.168.0.2");
        config.frame_size = 1000;
        config.watch_interval = 5ms;
    }

    hsb_channel make() { return hsb_channel(context, test::memory_register_bus(context, bus), config); }

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
    std::pair<error_code, peer_parameters> exchange(hsb_channel& channel) {
        std::optional<std::pair<error_code, peer_parameters>> result;
        channel.async_exchange(
            local, [&](const error_code& ec, const peer_parameters& p) { result.emplace(ec, p); });
        run_until([&] { return result.has_value(); });
        return result.value_or(std::pair<error_code, peer_parameters>{});
    }
    error_code ready(hsb_channel& channel) {
        return wait([&](auto h) { channel.async_ready(std::move(h)); });
    }
    error_code lost(hsb_channel& channel) {
        return wait([&](auto h) { channel.async_wait_lost(std::move(h)); });
    }
    error_code release(hsb_channel& channel) {
        return wait([&](auto h) { channel.async_release(std::move(h)); });
    }
    void stream(hsb_channel& channel) {
        ASSERT_FALSE(exchange(channel).first) << channel.last_error().message();
        ASSERT_FALSE(ready(channel)) << channel.last_error().message();
    }

    asio::io_context context;
    test::register_map board;
    std::shared_ptr<test::memory_register_bus::control> bus =
        std::make_shared<test::memory_register_bus::control>();
    local_parameters local;
    hsb_channel_config config;
};

} // namespace rocio::fpga

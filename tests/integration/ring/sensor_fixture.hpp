#pragma once

#include "hsb/sensor_emulator.hpp"
#include "hsb/sensor_pattern.hpp"
#include "io_context_fixture.hpp"
#include "test_device.hpp"

#include <rocio/fpga/hsb_channel.hpp>
#include <rocio/fpga/hsb_control_client.hpp>
#include <rocio/open/open_device.hpp>
#include <rocio/ring/sensor_receiver.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/udp.hpp>
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rocio::test {

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// An emulated board at 127.46.N.2 and a host at 127.46.N.1, each on a soft device of its own.
class sensor_fixture : public io_context_fixture {
  protected:
    static constexpr std::uint32_t frame_size = 1000; // neither whole units nor whole packets

    static std::string address(int net, int host) {
        return "127.46." + std::to_string(net) + "." + std::to_string(host);
    }

    void make_board(int net, std::uint16_t version, double rate, const open_options& opening = {}) {
        board_address = address(net, 2);
        tools::sensor_emulator_config c;
        c.stream.device = open_device("soft:" + board_address, opening);
        c.stream.rate = rate;
        c.stream.error = [this](const std::string& text) { complaints.push_back(text); };
        c.board.ip_version = version;
        c.control = {asio::ip::make_address(board_address), 0};
        board.emplace(context, c);
        running = true;
        asio::co_spawn(context, board->run(), [this](const std::exception_ptr& e) {
            running = false;
            EXPECT_EQ(e, nullptr);
        });
    }
    void end_board() {
        if (!board) return;
        board->stop();
        run_until([this] { return !running; });
    }

    void make_receiver(int net, std::uint32_t pages, sensor_policy policy = sensor_policy::every) {
        if (!host_device) host_device = open_device("soft:" + address(net, 1));
        sensor_receiver_config c;
        c.device = host_device;
        c.frame_size = frame_size;
        c.pages = pages;
        c.policy = policy;
        receiver.emplace(context, c);
    }

    fpga::hsb_channel_config channel_config() const {
        fpga::hsb_channel_config c;
        c.fpga = *gid::parse(board_address);
        c.frame_size = frame_size;
        c.mtu = 512; // packets of 384 bytes, so that each frame has several
        c.watch_interval = 100ms;
        return c;
    }
    fpga::hsb_control_client client(std::chrono::milliseconds deadline = 5s, unsigned tries = 3) {
        fpga::hsb_control_config c;
        c.answer_deadline = deadline;
        c.tries = tries;
        return fpga::hsb_control_client(context, board->control_endpoint(), c);
    }
    fpga::hsb_channel channel() { return channel(client(), channel_config()); }
    fpga::hsb_channel channel(fpga::hsb_control_client bus, const fpga::hsb_channel_config& config) {
        fpga::hsb_channel made(context, std::move(bus), config);
        channels.push_back(made.status());
        return made;
    }

    error_code connect(any_handshake how) {
        std::optional<error_code> result;
        receiver->async_connect(std::move(how), [&](const error_code& ec) { result = ec; });
        run_until([&] { return result.has_value(); });
        return result.value_or(error_code());
    }
    /// The error that the receiver gives instead of a frame.
    error_code next_error() {
        for (;;) {
            auto [ec, frame] = next_or_error();
            if (ec || HasFatalFailure()) return ec;
        }
    }
    sensor_frame next() {
        auto [ec, frame] = next_or_error();
        EXPECT_FALSE(ec) << receiver->last_error().message();
        return std::move(frame);
    }
    std::pair<error_code, sensor_frame> next_or_error() {
        std::optional<std::pair<error_code, sensor_frame>> result;
        receiver->async_receive(
            [&](const error_code& ec, sensor_frame frame) { result.emplace(ec, std::move(frame)); });
        run_until([&] { return result.has_value(); });
        if (!result) return {};
        return std::move(*result);
    }
    void eventually(const std::function<bool()>& holds) { run_until(holds); }

    bool all_released() const {
        return std::ranges::all_of(channels, [](const auto& c) {
            const auto state = c.snapshot().state;
            return state.empty() || state == "released";
        });
    }

    void TearDown() override {
        if (receiver) receiver->stop();
        eventually([this] { return all_released(); }); // while there is a board to tell
        end_board();
        receiver.reset();
        board.reset();
        io_context_fixture::TearDown();
    }

    std::string board_address;
    std::shared_ptr<device> host_device;
    std::optional<tools::sensor_emulator> board;
    std::optional<sensor_receiver> receiver;
    std::vector<std::string> complaints;
    std::vector<fpga::hsb_channel_status> channels;
    bool running = false;
};

} // namespace rocio::test

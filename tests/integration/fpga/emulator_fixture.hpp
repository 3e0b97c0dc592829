#pragma once

#include "cudaq/fpga_emulator.hpp"
#include "raw_control_client.hpp"
#include "scripted_bridge.hpp"

#include <boost/asio/co_spawn.hpp>
#include <gmock/gmock.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rocio::test {

/// An emulated board on 127.40.N.1 and its bridge on 127.40.N.2, in one context.
class EmulatedBoard : public ::testing::Test {
  public: // for the scripts, which are coroutines of their own
    static constexpr std::chrono::seconds patience{30};

    /// Each test has a network of its own.
    void on_network(unsigned n) {
        board_address = "127.40." + std::to_string(n) + ".1";
        bridge_address = "127.40." + std::to_string(n) + ".2";
        config.device = open_device("soft:" + board_address);
        config.control = {asio::ip::make_address(board_address), 0};
        config.reply_timeout = std::chrono::seconds{20};
        config.page_size = scripted_bridge::page_bytes;
        config.line = [this](const std::string& line) { lines += line + "\n"; };
        config.error = [this](const std::string& line) { errors += line + "\n"; };
    }
    void start(std::uint32_t pages = 64) {
        bridge.emplace(context, "soft:" + bridge_address, pages);
        emulator.emplace(context, config);
        client.emplace(context, emulator->control_endpoint());
        bridge->connect(board_address, emulator->number());
    }
    /// Runs the emulator and the script to their ends.
    void play(asio::awaitable<void> script) {
        bool script_ended = false, emulator_ended = false;
        asio::co_spawn(context, emulator->run(), [&](const std::exception_ptr& e, const error_info& result) {
            EXPECT_FALSE(e);
            failure = result;
            emulator_ended = true;
            bridge->close();
        });
        asio::co_spawn(context, std::move(script), [&](const std::exception_ptr& e) {
            if (e) ADD_FAILURE() << "the script threw";
            script_ended = true;
        });
        context.run_for(patience);
        EXPECT_TRUE(script_ended) << "the script waits still; lines:\n" << lines << errors;
        EXPECT_TRUE(emulator_ended) << "the emulator runs still; lines:\n" << lines << errors;
        EXPECT_TRUE(context.stopped()) << "work is left";
        report = emulator->report();
    }

    void answer_everything() {
        bridge->on_message = [this](const scripted_bridge::message& m) {
            bridge->reply(incremented(m.bytes));
        };
    }

    /// As playback makes them: payload[j] = id + j.
    static std::vector<std::byte> window(std::uint32_t id, std::uint32_t payload = 8) {
        std::vector<std::byte> out(rpc::request_header::size + payload);
        EXPECT_TRUE((rpc::request_header{0x191b6322, payload, id, 0}.encode(out)));
        for (std::uint32_t j = 0; j < payload; ++j)
            out[rpc::request_header::size + j] = static_cast<std::byte>(id + j);
        out.resize((out.size() + 63) / 64 * 64);
        return out;
    }
    hsb_registers target() const { return target_of(*bridge, bridge_address); }
    static hsb_registers target_of(const scripted_bridge& b, const std::string& address) {
        const auto octets = *gid::parse(address)->v4();
        std::uint32_t ip = 0;
        for (const auto octet : octets) ip = ip << 8 | octet;
        return {{0x1028, ip},
                {0x102C, 4791},
                {0x1018, 64},
                {0x1010, scripted_bridge::page_bytes / 128},
                {0x1014, b.pages() - 1},
                {0x1008, 0},
                {0x100C, 0},
                {0x1000, b.number()},
                {0x1004, b.key()}};
    }
    /// The target, and `n` windows with ids from `first`.
    hsb_registers programmed(std::uint32_t n, std::uint32_t first = 0) const {
        auto all = target();
        std::vector<std::vector<std::byte>> windows;
        for (std::uint32_t i = 0; i < n; ++i) windows.push_back(window(first + i));
        for (const auto& list : {bram_words(windows), player_words(n, 64)})
            all.insert(all.end(), list.begin(), list.end());
        return all;
    }
    static hsb_registers armed() {
        using namespace fpga::hsb;
        return {{ila::control, ila::off}, {ila::control, ila::reset}, {ila::control, ila::enable}};
    }
    static hsb_registers enabled(std::uint32_t how = fpga::hsb::player::single_pass) {
        return {{fpga::hsb::player::enable, how}};
    }
    /// Lists one after the other.
    static hsb_registers together(hsb_registers first, const hsb_registers& second,
                                  const hsb_registers& third) {
        first.insert(first.end(), second.begin(), second.end());
        first.insert(first.end(), third.begin(), third.end());
        return first;
    }
    static hsb_registers one(std::uint32_t address, std::uint32_t value) { return {{address, value}}; }
    std::vector<std::uint32_t> pages_seen() const {
        std::vector<std::uint32_t> out;
        for (const auto& m : bridge->seen) out.push_back(m.page);
        return out;
    }

    asio::io_context context{1};
    tools::fpga_emulator_config config;
    std::string board_address, bridge_address, lines, errors;
    std::optional<scripted_bridge> bridge;
    std::optional<tools::fpga_emulator> emulator;
    std::optional<raw_control_client> client;
    error_info failure;
    tools::emulator_report report;
};

} // namespace rocio::test

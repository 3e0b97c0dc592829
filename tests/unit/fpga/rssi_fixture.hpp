#pragma once

#include "bus_bytes.hpp"

#include <rocio/fpga/rssi_connection.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace rocio::fpga {

using test::byte_string;
using test::pattern;
using namespace std::chrono_literals;

/// One machine, and a test that plays its peer.
class rssi_script : public ::testing::Test {
  protected:
    using time_point = rssi_connection::time_point;

    struct seen {
        rssi_header header{};
        byte_string payload{};
    };

    time_point now{1000h};

    /// All it has to send now, read with the codec.
    std::vector<seen> sent(rssi_connection& machine) {
        std::vector<seen> out;
        std::array<std::byte, 9216> buffer{};
        for (auto n = machine.next_segment(buffer, now); n != 0; n = machine.next_segment(buffer, now)) {
            const auto bytes = std::span<const std::byte>(buffer).first(n);
            const auto h = parse_rssi(bytes);
            EXPECT_TRUE(h) << "it sends what nobody can read";
            if (!h) continue;
            out.push_back({*h, {bytes.begin() + static_cast<std::ptrdiff_t>(h->size()), bytes.end()}});
            if (out.size() > 1000) break;
        }
        return out;
    }
    void give(rssi_connection& machine, const rssi_header& h, const byte_string& payload = {}) {
        byte_string bytes(h.size());
        encode(bytes, h);
        bytes.insert(bytes.end(), payload.begin(), payload.end());
        machine.on_segment(bytes, now);
    }
    void pass(rssi_connection& machine, std::chrono::milliseconds time) {
        now += time;
        machine.on_deadline(now);
    }
    static std::vector<byte_string> taken(rssi_connection& machine) {
        std::vector<byte_string> out;
        for (auto p = machine.receive(); p; p = machine.receive()) out.push_back(*p);
        return out;
    }

    /// The peer's first number is 50, so its data begins with 51; the machine's begins with 101.
    rssi_connection open_client(const rssi_parameters& boards = {}, const rssi_config& config = {}) {
        rssi_connection machine(rssi_role::client, config);
        machine.connect(now);
        EXPECT_EQ(sent(machine).size(), 1U);
        give(machine, {.syn = true, .ack = true, .sequence = 50, .acknowledge = 100, .parameters = boards});
        EXPECT_EQ(machine.state(), rssi_state::open);
        EXPECT_EQ(sent(machine).size(), 1U) << "the acknowledgement";
        return machine;
    }
    rssi_connection open_server(const rssi_config& config = {}, const rssi_parameters& clients = {}) {
        rssi_connection machine(rssi_role::server, config);
        give(machine, {.syn = true, .sequence = 50, .parameters = clients});
        EXPECT_EQ(sent(machine).size(), 1U);
        give(machine, {.ack = true, .sequence = 51, .acknowledge = 100});
        EXPECT_EQ(machine.state(), rssi_state::open);
        return machine;
    }
};

} // namespace rocio::fpga

#pragma once

#include "child_program.hpp"
#include "io_context_fixture.hpp"
#include "rpc_messages.hpp"

#include <rocio/open/open_device.hpp>
#include <rocio/ring/ring_transceiver.hpp>

#include <gmock/gmock.h>

#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rocio::test {

/// The bridge as a process on one soft device, and the FPGA's half of its ring on another, which this test
/// plays.
class bridge_fixture : public io_context_fixture {
  protected:
    using words = std::vector<std::string>;
    static constexpr std::uint32_t slots = 8, slot_size = 384, payload = 40;

    static std::string setting(const char* name) {
        const char* const value = std::getenv(name);
        if (value == nullptr) throw std::runtime_error(std::string(name) + " is not set");
        return value;
    }
    static std::string program() { return setting("ROCIO_TEST_PROGRAM"); }
    /// One of the names CUDA-Q's scripts know.
    static std::string original(const std::string& name) { return setting("ROCIO_TEST_HSB") + "/" + name; }
    static std::string library() { return setting("ROCIO_TEST_HANDLERS"); }

    /// Addresses of this test: 127.41.`net`.1 is the bridge's, .2 the FPGA's.
    void meet_on(int net) {
        const auto network = "127.41." + std::to_string(net);
        bridge_ip = network + ".1";
        fpga_ip = network + ".2";
        ring_config c;
        c.device = open_device("soft:" + fpga_ip);
        c.slots = slots;
        c.slot_size = c.frame_size = slot_size;
        c.tx_mode = ring_tx_mode::write_with_immediate;
        fpga.emplace(context, c);
        fpga->setup();
    }

    words arguments() const {
        return {"--device=soft:" + bridge_ip,
                "--peer-ip=" + fpga_ip,
                "--remote-qp=" + std::to_string(fpga->local().queue_pair.value()),
                "--num-pages=" + std::to_string(slots),
                "--page-size=" + std::to_string(slot_size),
                "--payload-size=" + std::to_string(payload)};
    }

    static std::uint64_t parsed(const std::string& text, int base) {
        std::uint64_t value = 0;
        const auto end = std::from_chars(text.data(), text.data() + text.size(), value, base).ptr;
        EXPECT_EQ(end, text.data() + text.size()) << text;
        return value;
    }

    static words joined(words first, const words& more) {
        first.insert(first.end(), more.begin(), more.end());
        return first;
    }

    /// Starts `command` with arguments() and connects to the ring that it tells.
    void start(words command, const words& more = {}) {
        bridge.emplace(joined(joined(std::move(command), arguments()), more));
        peer_parameters peer;
        peer.queue_pair =
            qpn(static_cast<std::uint32_t>(parsed(bridge->wait_for("  QP Number: 0x", limit), 16)));
        peer.region.key.value = static_cast<std::uint32_t>(parsed(bridge->wait_for("  RKey: ", limit), 10));
        peer.region.address = parsed(bridge->wait_for("  Buffer Addr: 0x", limit), 16);
        peer.address = *gid::parse(bridge_ip);
        peer.path_mtu = fpga->local().path_mtu;
        bridge->wait_for("Waiting", limit);
        fpga->connect(peer);
    }
    void start_bridge(const words& more = {}) { start({program(), "bridge"}, more); }

    void send(const byte_vector& message) {
        const auto slot = next_slot++ % slots;
        run_until([&] { return fpga->tx_free(slot); });
        std::ranges::copy(message, fpga->tx_slot(slot).begin());
        ASSERT_FALSE(fpga->publish(slot, message.size()));
    }
    /// The next message from the bridge, as long as a slot.
    byte_vector receive() {
        byte_vector bytes;
        run_until([&] {
            if (waiting.empty())
                (void)fpga->poll([&](std::uint32_t slot) {
                    waiting.emplace_back(fpga->rx_slot(slot).begin(), fpga->rx_slot(slot).end());
                    fpga->release(slot);
                });
            return !waiting.empty();
        });
        if (waiting.empty()) return bytes;
        bytes = waiting.front();
        waiting.erase(waiting.begin());
        return bytes;
    }

    static byte_vector increment_request(std::uint32_t id, std::size_t length = 8,
                                         std::uint64_t timestamp = 0) {
        byte_vector arguments(length);
        for (std::size_t j = 0; j < length; ++j) arguments[j] = static_cast<std::byte>(id + j);
        return request_bytes("rpc_increment", arguments, id, timestamp);
    }
    void expect_increment(std::uint32_t id, std::size_t length = 8) {
        const auto bytes = receive();
        ASSERT_FALSE(bytes.empty());
        const auto header = response_of(bytes);
        EXPECT_EQ(header.status, 0);
        EXPECT_EQ(header.request_id, id);
        ASSERT_EQ(header.result_len, length);
        for (std::size_t j = 0; j < length; ++j)
            EXPECT_EQ(bytes[24 + j], static_cast<std::byte>(id + j + 1)) << "byte " << j;
    }
    /// Ends it with a signal; gives its exit status.
    int end(int signal = SIGTERM) {
        bridge->kill(signal);
        return bridge->wait_for_end(limit);
    }
    /// All it said from the first line of its end on.
    std::string last_words() const {
        const auto at = bridge->said().find("\n=== Shutting down");
        return at == std::string::npos ? "" : bridge->said().substr(at);
    }

    void TearDown() override {
        if (fpga) fpga->stop();
        io_context_fixture::TearDown();
    }

    static constexpr std::chrono::seconds limit{60};
    std::string bridge_ip, fpga_ip;
    std::optional<ring_transceiver> fpga;
    std::optional<child_program> bridge;
    std::uint32_t next_slot = 0;
    std::vector<byte_vector> waiting;
};

} // namespace rocio::test

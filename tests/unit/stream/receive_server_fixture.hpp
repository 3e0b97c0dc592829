#pragma once

#include "io_context_fixture.hpp"
#include "scripted_device.hpp"

#include <rocio/stream/receive_server.hpp>

#include <gmock/gmock.h>

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace rocio::test {

/// A receive server on a scripted device, connected with a peer that the script plays.
class receive_server_fixture : public io_context_fixture {
  protected:
    static constexpr std::uint32_t depth = 4;
    static constexpr std::uint32_t payload = 64;

    receive_server_config config() const {
        receive_server_config c;
        c.name = "test";
        c.device = dev;
        c.max_payload = payload;
        c.rx_queue_depth = depth;
        return c;
    }
    receive_server& make_server() { return make_server(config()); }
    receive_server& make_server(const receive_server_config& c) { return server.emplace(context, c); }

    /// The steps of a connection, without a handshake.
    error_info connect() {
        auto core = server->core();
        if (auto e = core->set_transport({})) return e;
        local_parameters ours;
        if (auto e = core->prepare(ours)) return e;
        peer_parameters theirs;
        theirs.address = gid::parse("10.0.0.2").value();
        theirs.queue_pair = qpn{0xABCDEF};
        theirs.region.key.value = 0x77;
        if (auto e = core->establish(theirs)) return e;
        core->connected(nullptr);
        return {};
    }
    receive_server& connected_server() {
        make_server();
        const auto e = connect();
        EXPECT_FALSE(e) << e.message();
        return *server;
    }

    /// The peer SENDs `text` with immediate; false if no slot is posted.
    bool peer_sends(std::string_view text, std::uint32_t immediate) {
        return dev->complete_receive(pair, std::as_bytes(std::span(text)), immediate);
    }
    static constexpr std::uint32_t imm(std::uint32_t counter, std::uint8_t channel) {
        return counter << 8 | channel;
    }

    static std::string text_of(const frame& f) {
        return {reinterpret_cast<const char*>(f.payload().data()), f.size()};
    }

    void TearDown() override {
        server.reset();
        io_context_fixture::TearDown();
        EXPECT_THAT(dev->violations(), ::testing::IsEmpty());
        EXPECT_EQ(dev->live_queue_pairs(), 0U);
        EXPECT_EQ(dev->live_regions(), 0U);
    }

    std::shared_ptr<scripted_device> dev = std::make_shared<scripted_device>();
    std::optional<receive_server> server;
    std::size_t pair = 0; ///< The queue pair of the current session, by order of creation.
};

} // namespace rocio::test

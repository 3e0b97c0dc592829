#pragma once

#include "raw_peer.hpp"

#include <rocio/connect/tcp_rendezvous.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace rocio::test {

using namespace std::chrono_literals;
using asio::ip::tcp;
using rendezvous::message;
using rendezvous::message_kind;
using rendezvous::refusal_reason;
using ::testing::HasSubstr;

/// The end of an operation.
struct ended {
    bool done = false;
    error_code ec{};
    peer_parameters peer{};
};

/// Writes an operation's end down.
inline auto into(ended& e) {
    return [&e](const error_code& ec, auto... rest) {
        EXPECT_FALSE(e.done) << "completed twice";
        e.done = true;
        e.ec = ec;
        ((void)(e.peer = rest), ...);
    };
}

inline std::size_t open_descriptors() {
    std::size_t n = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++n;
    return n;
}

inline local_parameters side(std::uint32_t number, mtu path_mtu = mtu::b4096) {
    local_parameters p;
    p.address = *gid::parse("127.40.0.1");
    p.queue_pair = qpn(number);
    p.send_psn = psn(number * 3);
    p.path_mtu = path_mtu;
    return p;
}

/// Both ends of rendezvous on one context. Steps that should succeed have the default deadlines; steps that
/// should time out have short ones.
class TcpFixture : public ::testing::Test {
  protected:
    /// Until nothing is left to do: a forgotten operation shows here.
    void run() {
        context->restart();
        context->run_for(20s);
        ASSERT_TRUE(context->stopped()) << "something still waits";
    }
    template <class Done>
    void run_until(Done done) {
        const auto limit = std::chrono::steady_clock::now() + 20s;
        context->restart();
        while (!done()) ASSERT_GT(context->run_one_until(limit), 0U) << "nothing left to do, or out of time";
    }
    void run_until(const ended& e) {
        run_until([&] { return e.done; });
    }
    void settle() {
        context->restart();
        context->poll();
    }

    static tcp_listener_config listening(const tcp_rendezvous_config& handshake = {}) {
        tcp_listener_config config;
        config.endpoint = {asio::ip::make_address("127.40.0.1"), 0};
        config.handshake = handshake;
        return config;
    }

    /// The two ends of one rendezvous, as far as the hello.
    struct two_ends {
        std::optional<tcp_connector> connecting;
        std::optional<tcp_peer> listening;
        ended asked{};

        void drop() {
            connecting.reset();
            listening.reset();
        }
    };
    /// The connecting side has asked, the listening side has accepted.
    std::unique_ptr<two_ends> meet(const local_parameters& local = side(100),
                                   const tcp_rendezvous_config& connecting = {},
                                   const tcp_rendezvous_config& at_listener = {}) {
        tcp_listener listener(*context, listening(at_listener));
        auto ends = std::make_unique<two_ends>();
        ends->connecting.emplace(*context, listener.local_endpoint(), connecting);
        ends->connecting->async_exchange(local, into(ends->asked));
        error_code accepted = asio::error::would_block;
        listener.async_accept([&](const error_code& ec, tcp_peer peer) {
            accepted = ec;
            ends->listening.emplace(std::move(peer));
        });
        run_until([&] { return accepted != asio::error::would_block; });
        EXPECT_FALSE(accepted) << accepted.message();
        return ends;
    }
    /// Both ends stand.
    std::unique_ptr<two_ends> connect(const tcp_rendezvous_config& connecting = {},
                                      const tcp_rendezvous_config& at_listener = {}) {
        auto ends = meet(side(100), connecting, at_listener);
        ended answered, ready_a, ready_b;
        ends->listening->async_exchange(side(200), into(answered));
        run_until(ends->asked);
        run_until(answered);
        ends->connecting->async_ready(into(ready_a));
        ends->listening->async_ready(into(ready_b));
        run_until(ready_a);
        run_until(ready_b);
        EXPECT_FALSE(ready_a.ec) << ends->connecting->last_error().message();
        EXPECT_FALSE(ready_b.ec) << ends->listening->last_error().message();
        return ends;
    }

    /// A connector against a hand-driven listening side that has read its hello.
    struct asked_raw {
        tcp::acceptor acceptor;
        tcp_connector connector;
        raw_peer peer;
        ended exchange{};
        ended ready{};
        ended lost{};
        message hello{};
    };
    std::unique_ptr<asked_raw> ask_raw(const tcp_rendezvous_config& config = {}) {
        tcp::acceptor acceptor(*context, tcp::endpoint(asio::ip::make_address("127.40.0.2"), 0));
        const auto at = acceptor.local_endpoint();
        auto a = std::unique_ptr<asked_raw>(
            new asked_raw{std::move(acceptor), tcp_connector(*context, at, config), raw_peer(*context)});
        a->connector.async_exchange(side(100), into(a->exchange));
        a->peer.accept(a->acceptor);
        const auto hello = a->peer.receive();
        EXPECT_TRUE(hello && hello->kind == message_kind::hello);
        if (hello) a->hello = *hello;
        return a;
    }
    static message accept_message(std::chrono::milliseconds liveness = 0ms) {
        return {message_kind::accept, {side(300), 0, liveness}, {}};
    }
    static message hello_message() { return {message_kind::hello, {side(300), 0, 0ms}, {}}; }
    /// As ask_raw(), and both sides have said that they are ready.
    std::unique_ptr<asked_raw> stand_raw(const tcp_rendezvous_config& config = {},
                                         std::chrono::milliseconds liveness = 0ms) {
        auto a = ask_raw(config);
        a->peer.send(accept_message(liveness));
        run_until(a->exchange);
        a->connector.async_ready(into(a->ready));
        const auto ready = a->peer.receive();
        EXPECT_TRUE(ready && ready->kind == message_kind::ready);
        a->peer.send(message_kind::ready);
        run_until(a->ready);
        EXPECT_FALSE(a->ready.ec) << a->connector.last_error().message();
        return a;
    }

    std::optional<asio::io_context> context{std::in_place};
};

} // namespace rocio::test

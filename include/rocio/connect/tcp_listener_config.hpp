#pragma once

#include <rocio/connect/tcp_rendezvous_config.hpp>
#include <rocio/types/log_sink.hpp>

#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstddef>
#include <memory>

namespace rocio {

struct tcp_listener_config {
    /// Where to listen. Default: loopback only, on a free port (see basic_tcp_listener::local_endpoint()).
    boost::asio::ip::tcp::endpoint endpoint{boost::asio::ip::address_v4::loopback(), 0};
    /// For each handshake; its exchange_deadline is also the time in which a new connection must have said
    /// hello.
    tcp_rendezvous_config handshake{};
    /// Connections that have not yet said hello, at most; one more drops the oldest.
    std::size_t max_unfinished = 64;
    /// Refused hellos are written at level warning, connections that end without a word at level debug.
    std::shared_ptr<log_sink> log{};
};

/// errc::invalid_argument with a sentence.
error_info validate(const tcp_listener_config& config);

} // namespace rocio

#pragma once

#include "http_front.hpp"
#include "session_table.hpp"

#include <rocio/status/status_server_config.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace rocio::detail {

/// What the sessions of one listener share. The table is the strand's; the counters are read from any thread.
struct session_host {
    session_host(std::shared_ptr<http_front> answers, status_server_config with)
        : front(std::move(answers)), config(std::move(with)) {}

    std::shared_ptr<http_front> front;
    status_server_config config;
    session_table sessions{};

    std::atomic<std::uint64_t> open{0};
    std::atomic<std::uint64_t> requests{0};
    std::atomic<std::uint64_t> timeouts{0};
};

/// Serves `socket` until either side ends the connection. To be called on the listener's strand, which must
/// be the socket's executor; the session is in the table when this returns.
void start_http_session(boost::asio::ip::tcp::socket socket, std::shared_ptr<session_host> host);

/// A whole answer on the wire for a connection that is not served at all: 503.
std::string busy_response(const http_front& front);

} // namespace rocio::detail

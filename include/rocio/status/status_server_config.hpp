#pragma once

#include <rocio/status/status_routes_config.hpp>
#include <rocio/types/log_sink.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace rocio {

struct status_server_config {
    /// Numeric IPv4 or IPv6 address to listen on. The status is readable by whoever can reach it: loopback by
    /// default.
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;        ///< 0: a free one, see status_server::port().
    std::size_t max_sessions = 64; ///< At least 1. Past it the session idle for longest is closed, else 503.

    /// From the first byte of a request to its last. All deadlines must be above zero.
    std::chrono::milliseconds request_timeout{10'000};
    std::chrono::milliseconds write_timeout{10'000}; ///< For a whole answer.
    std::chrono::milliseconds idle_timeout{30'000};  ///< Between requests, and before the first.

    status_routes_config routes{}; ///< Token, origins, snapshots, events.

    std::shared_ptr<log_sink> log{}; ///< For trouble with accepting; null says nothing.
};

/// What a status server did so far; a value.
struct status_server_snapshot {
    std::string address;
    std::uint16_t port = 0;
    std::uint64_t sessions = 0;        ///< Open now.
    std::uint64_t subscribers = 0;     ///< Of `/events`, now.
    std::uint64_t accepted = 0;        ///< Connections, those refused included.
    std::uint64_t requests = 0;        ///< Answered, errors included.
    std::uint64_t timeouts = 0;        ///< Sessions ended by a deadline.
    std::uint64_t evicted = 0;         ///< Sessions without a whole request closed to make room.
    std::uint64_t refused = 0;         ///< Connections answered 503: every session was busy.
    std::uint64_t accept_failures = 0; ///< Mostly for want of file descriptors; accepting goes on.
};

} // namespace rocio

#pragma once

#include <rocio/connect/cm_config.hpp>
#include <rocio/types/log_sink.hpp>

#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <cstddef>
#include <memory>

namespace rocio {

struct cm_acceptor_config {
    /// Where to listen: an address of the device, or 0.0.0.0 or [::] for all of its addresses of that family.
    /// Port 0 takes a free one of rdma_cm's.
    boost::asio::ip::tcp::endpoint endpoint{boost::asio::ip::address_v4::any(), 0};
    /// For each connection.
    cm_config handshake{};
    /// Requests that nobody has accepted yet, at most; one more is rejected.
    std::size_t max_waiting = 64;
    /// A request that nobody accepted in this time is rejected.
    std::chrono::milliseconds patience{5000};
    /// Requests that are turned away are written at level warning.
    std::shared_ptr<log_sink> log{};
};

/// errc::invalid_argument with a sentence.
error_info validate(const cm_acceptor_config& config);

} // namespace rocio

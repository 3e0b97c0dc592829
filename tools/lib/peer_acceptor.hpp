#pragma once

#include "lib/connection_kind.hpp"

#include <rocio/connect/any_handshake.hpp>
#include <rocio/connect/rdma_cm.hpp>
#include <rocio/connect/tcp_rendezvous.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <memory>
#include <utility>

namespace rocio::tools {

/// Takes peers by TCP rendezvous or rdma_cm. Not thread-safe; use it on its context.
class peer_acceptor {
  public:
    virtual ~peer_acceptor() = default;

    /// The next peer; nothing with an error.
    virtual boost::asio::awaitable<std::pair<error_code, std::unique_ptr<any_handshake>>> next() = 0;
    virtual boost::asio::ip::tcp::endpoint endpoint() const = 0;
    virtual void close() = 0;
};

struct peer_acceptor_config {
    connection_kind kind = connection_kind::tcp;
    tcp_listener_config tcp{};
    cm_acceptor_config cm{};
};

/// Listens. `dev` is used by rdma_cm only. Throws rocio::exception.
std::unique_ptr<peer_acceptor> listen(boost::asio::io_context& context, const std::shared_ptr<device>& dev,
                                      const peer_acceptor_config& config);

} // namespace rocio::tools

#pragma once

#include "lib/connection_kind.hpp"
#include "lib/hand_peer.hpp"

#include <rocio/connect/any_handshake.hpp>
#include <rocio/connect/handshake_snapshot.hpp>
#include <rocio/connect/rdma_cm.hpp>
#include <rocio/connect/tcp_rendezvous.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <memory>
#include <optional>
#include <string>

namespace rocio::tools {

/// The next peer, or why there is none. Neither: there will be no further one, and that is right.
struct next_peer {
    std::unique_ptr<any_handshake> handshake{};
    error_info failure{};
};

/// Where a receiver's peers come from, one after the other. Not thread-safe; use it on its context.
class peer_source {
  public:
    virtual ~peer_source() = default;

    virtual boost::asio::awaitable<next_peer> next() = 0;
    /// How the connection with the last peer ended, or why there was none; `connected` tells which.
    virtual void ended(const error_info& /*why*/, bool /*connected*/) {}
    /// "waiting for a sender at …": what next() does, for a person.
    virtual std::string description() const = 0;
    /// How the connections were made so far; any thread. Nothing where no one dials.
    virtual std::optional<handshake_snapshot> handshake() const { return std::nullopt; }
    /// Ends next(); no further peer.
    virtual void close() = 0;
};

/// Takes whoever dials.
class listening_source : public peer_source {
  public:
    virtual boost::asio::ip::tcp::endpoint endpoint() const = 0;
    std::string description() const override;
};

struct listening_config {
    connection_kind kind = connection_kind::tcp; ///< tcp or cm.
    tcp_listener_config tcp{};
    cm_acceptor_config cm{};
};

/// Listens. `dev` is used by rdma_cm only. Throws rocio::exception.
std::unique_ptr<listening_source> listen(boost::asio::io_context& context, const std::shared_ptr<device>& dev,
                                         const listening_config& config);

/// One peer, brought up by hand.
std::unique_ptr<peer_source> by_hand(boost::asio::io_context& context, hand_peer_config config);

} // namespace rocio::tools

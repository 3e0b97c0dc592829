#pragma once

#include <rocio/fpga/register_space.hpp>
#include <rocio/types/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <memory>

namespace rocio::fpga {

/// Serves the registers of an emulated board as rogue's memory bridge over ZeroMQ does: requests at a port,
/// replies at the next one. As rogue's, it gives the replies to its clients in turn: it is for one.
///
/// libzmq runs one thread of its own; nothing of the user's runs there. Thread safety: distinct objects:
/// safe. Shared objects: unsafe; use it on `executor`, on which the registers are accessed.
class memory_bridge_server {
  public:
    /// Binds to the port of `where` and the next one (port 0: two free ones) and serves from then on. `space`
    /// must live until close(). Throws rocio::exception: errc::address_in_use, errc::address_not_available,
    /// errc::not_supported when built with -DROCIO_ZMQ=OFF, the system's codes.
    memory_bridge_server(const boost::asio::any_io_executor& executor,
                         const boost::asio::ip::tcp::endpoint& where, register_space& space);
    memory_bridge_server(memory_bridge_server&&) noexcept = default;
    memory_bridge_server& operator=(memory_bridge_server&&) = delete;
    /// close().
    ~memory_bridge_server();

    /// Of the requests; after close(), too.
    boost::asio::ip::tcp::endpoint local_endpoint() const;
    /// The registers are not accessed any more. Idempotent.
    void close();

  private:
    struct state;
    std::shared_ptr<state> state_;
};

} // namespace rocio::fpga

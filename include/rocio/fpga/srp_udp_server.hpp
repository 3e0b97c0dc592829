#pragma once

#include <rocio/fpga/control_faults.hpp>
#include <rocio/fpga/register_space.hpp>
#include <rocio/types/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/udp.hpp>

#include <memory>

namespace rocio::fpga {

/// Serves the registers of an emulated board by SRPv3 over plain UDP, to any number of clients. It refuses
/// what the firmware refuses, by the same status bits.
///
/// Thread safety: distinct objects: safe. Shared objects: unsafe; use it on `executor`, on which the
/// registers are accessed.
class srp_udp_server {
  public:
    /// Binds to `where` (port 0: a free one) and serves from then on. `space` must live until close(). Throws
    /// rocio::exception: errc::address_in_use, errc::address_not_available, the system's codes.
    srp_udp_server(const boost::asio::any_io_executor& executor, const boost::asio::ip::udp::endpoint& where,
                   register_space& space, const control_faults& faults = {});
    srp_udp_server(srp_udp_server&&) noexcept = default;
    srp_udp_server& operator=(srp_udp_server&&) = delete;
    /// close().
    ~srp_udp_server();

    /// As it was bound; after close(), too.
    boost::asio::ip::udp::endpoint local_endpoint() const;
    /// The registers are not accessed any more. Idempotent.
    void close();

  private:
    struct state;
    std::shared_ptr<state> state_;
};

} // namespace rocio::fpga

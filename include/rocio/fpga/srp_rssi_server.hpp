#pragma once

#include <rocio/fpga/control_faults.hpp>
#include <rocio/fpga/register_space.hpp>
#include <rocio/fpga/rssi_connection.hpp>
#include <rocio/types/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/udp.hpp>

#include <cstdint>
#include <memory>

namespace rocio::fpga {

/// An emulated board's end of RSSI, as values.
struct srp_rssi_server_snapshot {
    rssi_state state = rssi_state::listening;
    rssi_counters segments{};      ///< Of the present connection.
    std::uint64_t connections = 0; ///< That were asked for.
    std::uint64_t resets = 0;      ///< Connections that ended, by either side.
};

/// Serves the registers of an emulated board by SRPv3 over packetizer and RSSI, to one client: the SYN of
/// another one cuts the first off, as the firmware does.
///
/// Thread safety: distinct objects: safe. Shared objects: unsafe; use it on `executor`, on which the
/// registers are accessed.
class srp_rssi_server {
  public:
    /// Binds to `where` (port 0: a free one) and serves from then on. `space` must live until close(). Throws
    /// rocio::exception: errc::invalid_argument, errc::address_in_use, errc::address_not_available, the
    /// system's codes.
    srp_rssi_server(const boost::asio::any_io_executor& executor, const boost::asio::ip::udp::endpoint& where,
                    register_space& space, const rssi_config& rssi = {}, const control_faults& faults = {});
    srp_rssi_server(srp_rssi_server&&) noexcept = default;
    srp_rssi_server& operator=(srp_rssi_server&&) = delete;
    /// close().
    ~srp_rssi_server();

    /// As it was bound; after close(), too.
    boost::asio::ip::udp::endpoint local_endpoint() const;
    srp_rssi_server_snapshot snapshot() const;
    /// Resets the client; the registers are not accessed any more. Idempotent.
    void close();

  private:
    struct state;
    std::shared_ptr<state> state_;
};

} // namespace rocio::fpga

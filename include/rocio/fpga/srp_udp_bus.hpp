#pragma once

#include <rocio/fpga/register_client.hpp>
#include <rocio/fpga/srp.hpp>
#include <rocio/fpga/srp_config.hpp>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/ip/udp.hpp>

#include <type_traits>

namespace rocio::fpga {

namespace detail {

/// Throws rocio::exception: errc::invalid_argument, the system's codes.
register_client_core_ptr make_srp_udp_core(const asio::any_io_executor& executor,
                                           const asio::ip::udp::endpoint& peer, const srp_config& config);

} // namespace detail

/// A register bus that speaks SRPv3 in plain UDP datagrams, one to a transaction. A request that is not
/// answered in time is sent again with the same number, so a write may be carried out more than once. Blocks
/// of more than 1448 bytes need jumbo frames or are fragmented.
template <class Executor = asio::any_io_executor>
class basic_srp_udp_bus : public basic_register_client<Executor> {
  public:
    template <class Other>
    struct rebind_executor {
        using other = basic_srp_udp_bus<Other>;
    };

    /// Opens a socket; sends nothing. Boards listen at srp_default_port. Throws rocio::exception:
    /// errc::invalid_argument for a configuration that validate() refuses or a port of 0, the system's codes
    /// (network_unreachable, …).
    explicit basic_srp_udp_bus(const Executor& executor, const asio::ip::udp::endpoint& peer,
                               const srp_config& config = {})
        : basic_register_client<Executor>(executor, detail::make_srp_udp_core(executor, peer, config)) {}
    template <class Context>
    requires std::is_convertible_v<Context&, asio::execution_context&>
    explicit basic_srp_udp_bus(Context& context, const asio::ip::udp::endpoint& peer,
                               const srp_config& config = {})
        : basic_srp_udp_bus(Executor(context.get_executor()), peer, config) {}

    /// Any thread.
    register_client_snapshot snapshot() const { return this->client_snapshot(); }
};

using srp_udp_bus = basic_srp_udp_bus<>;

} // namespace rocio::fpga

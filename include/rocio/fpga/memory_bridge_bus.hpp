#pragma once

#include <rocio/fpga/memory_bridge_config.hpp>
#include <rocio/fpga/register_client.hpp>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <type_traits>

namespace rocio::fpga {

namespace detail {

/// Throws rocio::exception: errc::invalid_argument, errc::not_supported, the system's codes.
register_client_core_ptr make_memory_bridge_core(const asio::any_io_executor& executor,
                                                 const asio::ip::tcp::endpoint& peer,
                                                 const memory_bridge_config& config);

} // namespace detail

/// A register bus through rogue's memory bridge over ZeroMQ (memory.TcpServer of a rogue root, or of the
/// KCU105 design in simulation). It waits until the bridge answers a probe, then sends each request once; a
/// request that was not answered makes it probe again.
///
/// libzmq runs one thread of its own for each bus; nothing of the user's runs there. Destruction waits until
/// that thread has closed its sockets.
template <class Executor = asio::any_io_executor>
class basic_memory_bridge_bus : public basic_register_client<Executor> {
  public:
    template <class Other>
    struct rebind_executor {
        using other = basic_memory_bridge_bus<Other>;
    };

    /// Begins to connect to `peer`'s port and the next one. Throws rocio::exception: errc::invalid_argument
    /// for a configuration that validate() refuses or a port of 0 or 65535, errc::not_supported when built
    /// with -DROCIO_ZMQ=OFF, the system's codes.
    explicit basic_memory_bridge_bus(const Executor& executor, const asio::ip::tcp::endpoint& peer,
                                     const memory_bridge_config& config = {})
        : basic_register_client<Executor>(executor, detail::make_memory_bridge_core(executor, peer, config)) {
    }
    template <class Context>
    requires std::is_convertible_v<Context&, asio::execution_context&>
    explicit basic_memory_bridge_bus(Context& context, const asio::ip::tcp::endpoint& peer,
                                     const memory_bridge_config& config = {})
        : basic_memory_bridge_bus(Executor(context.get_executor()), peer, config) {}

    /// Any thread.
    register_client_snapshot snapshot() const { return this->client_snapshot(); }
};

using memory_bridge_bus = basic_memory_bridge_bus<>;

} // namespace rocio::fpga

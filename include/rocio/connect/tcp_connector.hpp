#pragma once

#include <rocio/connect/tcp_handshake.hpp>
#include <rocio/connect/tcp_rendezvous_config.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <type_traits>
#include <utility>

namespace rocio {

/// The connecting side of rocio's rendezvous over TCP: dials a tcp_listener. Serves one connection.
/// `co_await async_connect(qp, tcp_connector(executor, parse_endpoint("10.0.0.2:4000")))`.
///
/// No name is resolved, so no resolver thread is started: see parse_endpoint().
template <class Executor = asio::any_io_executor>
class basic_tcp_connector : public basic_tcp_handshake<Executor> {
  public:
    template <class Other>
    struct rebind_executor {
        using other = basic_tcp_connector<Other>;
    };

    /// Throws rocio::exception(errc::invalid_argument) for a deadline outside its range.
    explicit basic_tcp_connector(const Executor& executor, const asio::ip::tcp::endpoint& peer,
                                 const tcp_rendezvous_config& config = {})
        : basic_tcp_handshake<Executor>(executor, detail::make_tcp_session(executor, peer, config)) {}
    template <class Context>
    requires std::is_convertible_v<Context&, asio::execution_context&>
    explicit basic_tcp_connector(Context& context, const asio::ip::tcp::endpoint& peer,
                                 const tcp_rendezvous_config& config = {})
        : basic_tcp_connector(Executor(context.get_executor()), peer, config) {}

    basic_tcp_connector(basic_tcp_connector&&) noexcept = default;
    template <class Other>
    requires std::is_convertible_v<Other, Executor>
    explicit basic_tcp_connector(basic_tcp_connector<Other>&& other)
        : basic_tcp_handshake<Executor>(std::move(other)) {}
    basic_tcp_connector& operator=(basic_tcp_connector&&) noexcept = default;
};

using tcp_connector = basic_tcp_connector<>;

} // namespace rocio

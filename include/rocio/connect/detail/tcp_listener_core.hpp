#pragma once

#include <rocio/connect/detail/accept_initiation.hpp>
#include <rocio/connect/detail/tcp_session.hpp>
#include <rocio/connect/tcp_listener_config.hpp>
#include <rocio/connect/tcp_listener_snapshot.hpp>

#include <memory>

namespace rocio {

template <class>
class basic_tcp_peer;

namespace detail {

using accept_completion = async::control_handler<void(error_code, tcp_session_ptr)>;

/// Everything of a listener that does not depend on the executor's type.
class tcp_listener_core;
using tcp_listener_ptr = std::shared_ptr<tcp_listener_core>;

/// Listens from now on. Throws rocio::exception: errc::invalid_argument, the system's codes.
tcp_listener_ptr make_tcp_listener(const asio::any_io_executor& executor, const tcp_listener_config& config);

// All may be called from any thread; `listener` is not null.
void start_accept(const tcp_listener_ptr& listener, accept_completion handler);
void cancel(const tcp_listener_ptr& listener);
void close(const tcp_listener_ptr& listener);
/// Drops the owner's reference: closes.
void abandon(tcp_listener_ptr&& listener) noexcept;
asio::ip::tcp::endpoint local_endpoint_of(const tcp_listener_ptr& listener);
tcp_listener_snapshot snapshot_of(const tcp_listener_ptr& listener);
handshake_snapshot handshake_of(const tcp_listener_ptr& listener);

} // namespace detail
} // namespace rocio

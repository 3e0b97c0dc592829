#pragma once

#include <rocio/connect/cm_acceptor_config.hpp>
#include <rocio/connect/cm_acceptor_snapshot.hpp>
#include <rocio/connect/detail/accept_initiation.hpp>
#include <rocio/connect/detail/cm_session.hpp>

#include <memory>

namespace rocio {

template <class>
class basic_cm_peer;

namespace detail {

using cm_accept_completion = async::control_handler<void(error_code, cm_session_ptr)>;

/// Everything of an acceptor that does not depend on the executor's type.
class cm_acceptor_core;
using cm_acceptor_ptr = std::shared_ptr<cm_acceptor_core>;

/// Listens from now on. Throws rocio::exception.
cm_acceptor_ptr make_cm_acceptor(const asio::any_io_executor& executor, const std::shared_ptr<device>& dev,
                                 const cm_acceptor_config& config);

// All may be called from any thread; `acceptor` is not null.
void start_accept(const cm_acceptor_ptr& acceptor, cm_accept_completion handler);
void cancel(const cm_acceptor_ptr& acceptor);
void close(const cm_acceptor_ptr& acceptor);
/// Drops the owner's reference: closes.
void abandon(cm_acceptor_ptr&& acceptor) noexcept;
asio::ip::tcp::endpoint local_endpoint_of(const cm_acceptor_ptr& acceptor);
cm_acceptor_snapshot snapshot_of(const cm_acceptor_ptr& acceptor);
handshake_snapshot handshake_of(const cm_acceptor_ptr& acceptor);

} // namespace detail
} // namespace rocio

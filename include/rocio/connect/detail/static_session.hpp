#pragma once

#include <rocio/connect/detail/tcp_session.hpp>

#include <memory>

namespace rocio::detail {

/// A handshake with a peer whose numbers are known beforehand; everything that does not depend on the
/// executor's type.
class static_session;
using static_session_ptr = std::shared_ptr<static_session>;

static_session_ptr make_static_session(const asio::any_io_executor& executor, const peer_parameters& peer);

// A null session answers errc::invalid_state.
void start_static_exchange(const static_session_ptr& session, exchange_completion handler);
void start_static_ready(const static_session_ptr& session, step_completion handler);
void start_static_wait_lost(const static_session_ptr& session, step_completion handler);
void start_static_release(const static_session_ptr& session, step_completion handler);
error_info last_error_of(const static_session_ptr& session);
/// Drops the owner's reference: ends the waits.
void abandon(static_session_ptr&& session) noexcept;

using static_session_handle = session_handle<static_session>;

} // namespace rocio::detail

#pragma once

#include <rocio/async/control_handler.hpp>
#include <rocio/connect/detail/session_handle.hpp>
#include <rocio/connect/tcp_rendezvous_config.hpp>
#include <rocio/types/error.hpp>
#include <rocio/types/parameters.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <memory>
#include <string>

namespace rocio::detail {

using step_completion = async::control_handler<void(error_code)>;
using exchange_completion = async::control_handler<void(error_code, peer_parameters)>;

/// One rendezvous over TCP, either side; everything that does not depend on the executor's type. All of its
/// functions may be called from any thread; the operations run on a strand of its own.
class tcp_session;
using tcp_session_ptr = std::shared_ptr<tcp_session>;

/// Throws rocio::exception(errc::invalid_argument).
tcp_session_ptr make_tcp_session(const asio::any_io_executor& executor, const asio::ip::tcp::endpoint& peer,
                                 const tcp_rendezvous_config& config);

// A null session answers errc::invalid_state.
void start_tcp_exchange(const tcp_session_ptr& session, const local_parameters& local,
                        exchange_completion handler);
void start_tcp_ready(const tcp_session_ptr& session, step_completion handler);
void start_tcp_wait_lost(const tcp_session_ptr& session, step_completion handler);
void start_tcp_release(const tcp_session_ptr& session, step_completion handler);
void start_tcp_refuse(const tcp_session_ptr& session, const std::string& text, step_completion handler);

error_info last_error_of(const tcp_session_ptr& session);
asio::ip::tcp::endpoint remote_endpoint_of(const tcp_session_ptr& session);
peer_parameters hello_of(const tcp_session_ptr& session);

/// Drops an owner's reference: ends what the session waits for and closes its connection.
void abandon(tcp_session_ptr&& session) noexcept;

using tcp_session_handle = session_handle<tcp_session>;

} // namespace rocio::detail

#pragma once

#include <rocio/connect/cudaq_config.hpp>
#include <rocio/connect/detail/session_handle.hpp>
#include <rocio/connect/detail/tcp_session.hpp>

#include <memory>

namespace rocio::detail {

/// One side of CUDA-Q's rendezvous; everything that does not depend on the executor's type. All of its
/// functions may be called from any thread; the operations run on a strand of its own.
class cudaq_session;
using cudaq_session_ptr = std::shared_ptr<cudaq_session>;

/// Both throw rocio::exception: errc::invalid_argument, the service also the system's codes.
cudaq_session_ptr make_cudaq_caller(const asio::any_io_executor& executor,
                                    const asio::ip::tcp::endpoint& service, const cudaq_config& config);
cudaq_session_ptr make_cudaq_service(const asio::any_io_executor& executor,
                                     const asio::ip::tcp::endpoint& where, const cudaq_config& config);

// A null session answers errc::invalid_state.
void start_cudaq_exchange(const cudaq_session_ptr& session, const local_parameters& local,
                          exchange_completion handler);
void start_cudaq_ready(const cudaq_session_ptr& session, step_completion handler);
void start_cudaq_wait_lost(const cudaq_session_ptr& session, step_completion handler);
void start_cudaq_release(const cudaq_session_ptr& session, step_completion handler);

error_info last_error_of(const cudaq_session_ptr& session);
asio::ip::tcp::endpoint local_endpoint_of(const cudaq_session_ptr& session);
handshake_snapshot handshake_of(const cudaq_session_ptr& session);
void abandon(cudaq_session_ptr&& session) noexcept;

using cudaq_session_handle = session_handle<cudaq_session>;

} // namespace rocio::detail

#pragma once

#include <rocio/connect/cm_config.hpp>
#include <rocio/connect/detail/session_handle.hpp>
#include <rocio/connect/detail/tcp_session.hpp>
#include <rocio/device/device.hpp>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace rocio::detail {

/// One connection by rdma_cm, either side; everything that does not depend on the executor's type. All of its
/// functions may be called from any thread; the operations run on a strand of its own.
class cm_session;
using cm_session_ptr = std::shared_ptr<cm_session>;

/// Throws rocio::exception: errc::invalid_argument, errc::not_supported, the system's codes.
cm_session_ptr make_cm_session(const asio::any_io_executor& executor, const std::shared_ptr<device>& dev,
                               const asio::ip::tcp::endpoint& peer, const cm_config& config);

// A null session answers errc::invalid_state.
void start_cm_exchange(const cm_session_ptr& session, const local_parameters& local,
                       exchange_completion handler);
void start_cm_ready(const cm_session_ptr& session, step_completion handler);
void start_cm_wait_lost(const cm_session_ptr& session, step_completion handler);
void start_cm_release(const cm_session_ptr& session, step_completion handler);
void start_cm_reject(const cm_session_ptr& session, const std::string& text, step_completion handler);

error_info last_error_of(const cm_session_ptr& session);
asio::ip::tcp::endpoint remote_endpoint_of(const cm_session_ptr& session);
std::vector<std::byte> private_data_of(const cm_session_ptr& session);

/// Drops an owner's reference: ends what the session waits for, and its connection.
void abandon(cm_session_ptr&& session) noexcept;

using cm_session_handle = session_handle<cm_session>;

} // namespace rocio::detail

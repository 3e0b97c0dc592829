#pragma once

#include <rocio/connect/detail/tcp_session.hpp>

#include <memory>
#include <utility>

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

/// The owner of a session.
class static_session_handle {
  public:
    explicit static_session_handle(static_session_ptr session) noexcept : session_(std::move(session)) {}
    static_session_handle(static_session_handle&&) noexcept = default;
    static_session_handle& operator=(static_session_handle&& other) noexcept {
        if (this != &other) abandon(std::exchange(session_, std::move(other.session_)));
        return *this;
    }
    ~static_session_handle() { abandon(std::move(session_)); }

    const static_session_ptr& get() const noexcept { return session_; }

  private:
    static_session_ptr session_;
};

} // namespace rocio::detail

#pragma once

#include <rocio/async/control_initiation.hpp>
#include <rocio/async/default_token.hpp>
#include <rocio/connect/detail/tcp_session.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>

#include <string>
#include <utility>

namespace rocio {

/// What both sides of rocio's rendezvous over TCP have in common: a handshake (see rocio/types/handshake.hpp)
/// for one connection, used once. The sides tell each other their numbers, then that they can receive; then
/// the TCP connection stays open, and both watch each other over it. Made as a tcp_connector or taken from a
/// tcp_listener as a tcp_peer.
///
/// At most one of async_exchange(), async_ready() and async_wait_lost() may be outstanding; another one ends
/// with errc::invalid_state. The destructor ends what is outstanding with operation_aborted and closes the
/// TCP connection without a goodbye, which the other side sees as errc::peer_lost.
///
/// Thread safety: distinct objects: safe. Shared objects: unsafe.
template <class Executor>
class basic_tcp_handshake {
    template <class>
    friend class basic_tcp_handshake;
    template <class Signature>
    using initiation = async::control_initiation<Signature, Executor>;

  public:
    using executor_type = Executor;
    executor_type get_executor() const noexcept { return executor_; }

    /// Tells the other side our numbers and learns its own.
    ///
    /// Effect: the connecting side connects and says hello, the listening side answers its hello. Numbers
    /// that do not fit together are refused; then both sides end with the same reason. Preconditions: the
    /// first operation of this object. Lifetimes: `local` is copied. Completion signature: void(error_code,
    /// peer_parameters); the numbers are validated. Executor: the handler's, default this object's; never
    /// inside this call. Cancellation: `terminal` and `total`; async_release() then tells the other side.
    /// Errors: errc::handshake_timed_out (last_error() names the step), errc::handshake_malformed,
    /// errc::version_mismatch, errc::invalid_peer_parameters, errc::geometry_mismatch,
    /// errc::path_mtu_mismatch, errc::refused_by_peer, errc::peer_closed, errc::peer_lost, those of the
    /// system when it cannot connect. Thread safety: as this object.
    template <asio::completion_token_for<void(error_code, peer_parameters)> Token = default_token_t<Executor>>
    auto async_exchange(const local_parameters& local, Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code, peer_parameters)>(
            initiation<void(error_code, peer_parameters)>{executor_}, token, &detail::start_tcp_exchange,
            session_.get(), local);
    }

    /// Tells the other side that we can receive and waits until it says so too.
    ///
    /// Preconditions: async_exchange() succeeded and our queue pair can receive and send.
    /// Completion signature: void(error_code).
    /// Executor: the handler's, default this object's; never inside this call.
    /// Cancellation: `terminal` and `total`; async_release() then tells the other side.
    /// Errors: as async_exchange().
    /// Thread safety: as this object.
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_ready(Token&& token = default_token_t<Executor>()) {
        return initiate(&detail::start_tcp_ready, std::forward<Token>(token));
    }

    /// Waits until the other side is gone. Signs of life go out while it is outstanding, so it should be
    /// whenever the connection stands.
    ///
    /// Preconditions: async_ready() succeeded.
    /// Completion signature: void(error_code), never success.
    /// Executor: the handler's, default this object's; never inside this call.
    /// Cancellation: `terminal` and `total`; may be called again.
    /// Errors: errc::peer_closed after a goodbye, errc::peer_lost when the TCP connection ended without one
    /// or the other side was silent for liveness_deadline; operation_aborted after async_release(). Thread
    /// safety: as this object.
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_wait_lost(Token&& token = default_token_t<Executor>()) {
        return initiate(&detail::start_tcp_wait_lost, std::forward<Token>(token));
    }

    /// Says goodbye and closes the TCP connection, within release_deadline. Ends whatever else is outstanding
    /// with operation_aborted. May be called at any time and again.
    ///
    /// Completion signature: void(error_code): always success.
    /// Executor: the handler's, default this object's; never inside this call.
    /// Cancellation: none; it is short.
    /// Errors: none.
    /// Thread safety: as this object.
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_release(Token&& token = default_token_t<Executor>()) {
        return initiate(&detail::start_tcp_release, std::forward<Token>(token));
    }

    /// The last failure with its sentence.
    error_info last_error() const { return detail::last_error_of(session_.get()); }
    /// The other side's address; unspecified while there is none.
    asio::ip::tcp::endpoint remote_endpoint() const { return detail::remote_endpoint_of(session_.get()); }

  protected:
    basic_tcp_handshake(const Executor& executor, detail::tcp_session_ptr session)
        : executor_(executor), session_(std::move(session)) {}
    template <class Other>
    explicit basic_tcp_handshake(basic_tcp_handshake<Other>&& other)
        : executor_(other.executor_), session_(std::move(other.session_)) {}
    basic_tcp_handshake(basic_tcp_handshake&&) noexcept = default;
    basic_tcp_handshake& operator=(basic_tcp_handshake&& other) noexcept {
        executor_ = other.executor_;
        session_ = std::move(other.session_);
        return *this;
    }
    ~basic_tcp_handshake() = default;

    const detail::tcp_session_ptr& session() const noexcept { return session_.get(); }

    template <class Start, class Token>
    auto initiate(Start start, Token&& token) {
        return asio::async_initiate<Token, void(error_code)>(initiation<void(error_code)>{executor_}, token,
                                                             start, session_.get());
    }

  private:
    Executor executor_;
    detail::tcp_session_handle session_;
};

} // namespace rocio

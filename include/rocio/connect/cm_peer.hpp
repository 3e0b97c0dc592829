#pragma once

#include <rocio/connect/cm_handshake.hpp>

#include <string>
#include <type_traits>
#include <utility>

namespace rocio {

/// The listening side of one connection by rdma_cm, as basic_cm_acceptor::async_accept() gives it: the other
/// side asks for a connection and waits. Give it to async_connect(), or reject it.
template <class Executor = asio::any_io_executor>
class basic_cm_peer : public basic_cm_handshake<Executor> {
  public:
    template <class Other>
    struct rebind_executor {
        using other = basic_cm_peer<Other>;
    };

    /// None: every operation ends with errc::invalid_state.
    explicit basic_cm_peer(const Executor& executor) : basic_cm_handshake<Executor>(executor, nullptr) {}
    basic_cm_peer(const Executor& executor, detail::cm_session_ptr session)
        : basic_cm_handshake<Executor>(executor, std::move(session)) {}
    basic_cm_peer(basic_cm_peer&&) noexcept = default;
    template <class Other>
    requires std::is_convertible_v<Other, Executor>
    explicit basic_cm_peer(basic_cm_peer<Other>&& other) : basic_cm_handshake<Executor>(std::move(other)) {}
    basic_cm_peer& operator=(basic_cm_peer&&) noexcept = default;

    /// Turns the other side away: a cm_connector's async_exchange() ends with errc::refused_by_peer and
    /// `text` (at most 128 printable characters of it) in last_error(); other programs see reject reason 28.
    ///
    /// Preconditions: instead of async_exchange().
    /// Completion signature: void(error_code).
    /// Executor: the handler's, default this object's; never inside this call.
    /// Cancellation: none; it does not wait.
    /// Errors: errc::invalid_state. That the other side is gone already is none.
    /// Thread safety: as this object.
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_reject(std::string text, Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code)>(
            async::control_initiation<void(error_code), Executor>{this->get_executor()}, token,
            &detail::start_cm_reject, this->session(), std::move(text));
    }
};

using cm_peer = basic_cm_peer<>;

} // namespace rocio

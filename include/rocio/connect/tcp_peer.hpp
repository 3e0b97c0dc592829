#pragma once

#include <rocio/connect/tcp_handshake.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <string>
#include <type_traits>
#include <utility>

namespace rocio {

template <class>
class basic_tcp_listener;

/// The listening side of one rendezvous, as basic_tcp_listener::async_accept() gives it: the other side has
/// said a valid hello and waits for our numbers. Give it to async_connect(), or refuse it.
template <class Executor = asio::any_io_executor>
class basic_tcp_peer : public basic_tcp_handshake<Executor> {
  public:
    template <class Other>
    struct rebind_executor {
        using other = basic_tcp_peer<Other>;
    };

    /// None: every operation ends with errc::invalid_state.
    explicit basic_tcp_peer(const Executor& executor) : basic_tcp_handshake<Executor>(executor, nullptr) {}
    basic_tcp_peer(const Executor& executor, detail::tcp_session_ptr session)
        : basic_tcp_handshake<Executor>(executor, std::move(session)) {}
    basic_tcp_peer(basic_tcp_peer&&) noexcept = default;
    template <class Other>
    requires std::is_convertible_v<Other, Executor>
    explicit basic_tcp_peer(basic_tcp_peer<Other>&& other)
        : basic_tcp_handshake<Executor>(std::move(other)) {}
    basic_tcp_peer& operator=(basic_tcp_peer&&) noexcept = default;

    /// What the other side said in its hello: enough to choose a queue pair's type and depth for it.
    peer_parameters hello() const { return detail::hello_of(this->session()); }

    /// Turns the other side away: its async_exchange() ends with errc::refused_by_peer and `text` (at most
    /// 256 printable characters of it) in last_error().
    ///
    /// Preconditions: instead of async_exchange().
    /// Completion signature: void(error_code).
    /// Executor: the handler's, default this object's; never inside this call.
    /// Cancellation: none; it does not wait.
    /// Errors: errc::invalid_state.
    /// Thread safety: as this object.
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_refuse(std::string text, Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code)>(
            async::control_initiation<void(error_code), Executor>{this->get_executor()}, token,
            &detail::start_tcp_refuse, this->session(), std::move(text));
    }
};

using tcp_peer = basic_tcp_peer<>;

} // namespace rocio

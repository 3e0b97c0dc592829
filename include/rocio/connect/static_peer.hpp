#pragma once

#include <rocio/async/control_initiation.hpp>
#include <rocio/async/default_token.hpp>
#include <rocio/connect/detail/static_session.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/execution_context.hpp>

#include <type_traits>
#include <utility>

namespace rocio {

/// A peer whose numbers the program knows already, from a file, a command line or a control plane of its own.
/// A handshake (see rocio/types/handshake.hpp) that tells the peer nothing and does not watch it: whoever
/// uses it makes sure that the peer can receive before anything is sent, and finds out by retry_exceeded that
/// it is gone.
///
/// Thread safety: distinct objects: safe. Shared objects: unsafe.
template <class Executor = asio::any_io_executor>
class basic_static_peer {
    template <class>
    friend class basic_static_peer;
    using step_initiation = async::control_initiation<void(error_code), Executor>;

  public:
    using executor_type = Executor;
    template <class Other>
    struct rebind_executor {
        using other = basic_static_peer<Other>;
    };

    explicit basic_static_peer(const Executor& executor, const peer_parameters& peer)
        : executor_(executor), session_(detail::make_static_session(executor, peer)) {}
    template <class Context>
    requires std::is_convertible_v<Context&, asio::execution_context&>
    explicit basic_static_peer(Context& context, const peer_parameters& peer)
        : basic_static_peer(Executor(context.get_executor()), peer) {}

    basic_static_peer(basic_static_peer&&) noexcept = default;
    template <class Other>
    requires std::is_convertible_v<Other, Executor>
    explicit basic_static_peer(basic_static_peer<Other>&& other)
        : executor_(other.executor_), session_(std::move(other.session_)) {}
    basic_static_peer& operator=(basic_static_peer&& other) noexcept {
        executor_ = other.executor_;
        session_ = std::move(other.session_);
        return *this;
    }
    ~basic_static_peer() = default;

    executor_type get_executor() const noexcept { return executor_; }

    /// Gives the numbers this object was made with.
    ///
    /// Completion signature: void(error_code, peer_parameters).
    /// Executor: the handler's, default this object's; never inside this call.
    /// Cancellation: none; it does not wait.
    /// Errors: errc::invalid_peer_parameters.
    template <asio::completion_token_for<void(error_code, peer_parameters)> Token = default_token_t<Executor>>
    auto async_exchange(const local_parameters&, Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code, peer_parameters)>(
            async::control_initiation<void(error_code, peer_parameters), Executor>{executor_}, token,
            &detail::start_static_exchange, session_.get());
    }
    /// Does nothing: void(error_code), always success. Executor and cancellation as async_exchange().
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_ready(Token&& token = default_token_t<Executor>()) {
        return initiate(&detail::start_static_ready, std::forward<Token>(token));
    }
    /// Does not end by itself, only with operation_aborted.
    ///
    /// Completion signature: void(error_code).
    /// Executor: the handler's, default this object's; never inside this call.
    /// Cancellation: `terminal` and `total`; async_release() ends it too.
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_wait_lost(Token&& token = default_token_t<Executor>()) {
        return initiate(&detail::start_static_wait_lost, std::forward<Token>(token));
    }
    /// Ends async_wait_lost(): void(error_code), always success. Executor and cancellation as
    /// async_exchange().
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_release(Token&& token = default_token_t<Executor>()) {
        return initiate(&detail::start_static_release, std::forward<Token>(token));
    }

    /// Why the numbers cannot be used, if they cannot.
    error_info last_error() const { return detail::last_error_of(session_.get()); }

  private:
    template <class Start, class Token>
    auto initiate(Start start, Token&& token) {
        return asio::async_initiate<Token, void(error_code)>(step_initiation{executor_}, token, start,
                                                             session_.get());
    }

    Executor executor_;
    detail::static_session_handle session_;
};

using static_peer = basic_static_peer<>;

} // namespace rocio

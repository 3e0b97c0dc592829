#pragma once

#include <rocio/async/control_initiation.hpp>
#include <rocio/async/default_token.hpp>
#include <rocio/connect/detail/cudaq_session.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <type_traits>
#include <utility>

namespace rocio {

/// CUDA-Q's rendezvous over TCP, either side: 12 bytes each way (queue pair number, rkey and RoCE IPv4
/// address, all big-endian), then the connection closes. A handshake (see rocio/types/handshake.hpp) for one
/// connection, used once, so that either end can be theirs. PSNs are 0 on both sides, addresses in the
/// receive ring begin at 0, and slots and sizes are not told: both sides must be configured alike. There is
/// no liveness.
///
/// At most one operation may be outstanding. The destructor ends it with operation_aborted.
///
/// Thread safety: distinct objects: safe. Shared objects: unsafe.
template <class Executor>
class basic_cudaq_handshake {
    template <class Signature>
    using initiation = async::control_initiation<Signature, Executor>;

  public:
    using executor_type = Executor;
    executor_type get_executor() const noexcept { return executor_; }

    /// Learns the other side's numbers. The caller tells its own first; the service tells its own in
    /// async_ready(), when its queue pair can receive, so that the caller's first frame is not lost.
    ///
    /// Completion signature: void(error_code, peer_parameters). Executor: the handler's, default this
    /// object's; never inside this call. Cancellation: `terminal` and `total`. Errors:
    /// errc::handshake_timed_out, errc::peer_lost, errc::invalid_peer_parameters, errc::invalid_argument for
    /// an IPv6 address of ours, which the 12 bytes cannot hold.
    template <asio::completion_token_for<void(error_code, peer_parameters)> Token = default_token_t<Executor>>
    auto async_exchange(const local_parameters& local, Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code, peer_parameters)>(
            initiation<void(error_code, peer_parameters)>{executor_}, token, &detail::start_cudaq_exchange,
            session_.get(), local);
    }
    /// Service: tells our numbers; caller: nothing. Completion signature: void(error_code). The rest as
    /// async_exchange().
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_ready(Token&& token = default_token_t<Executor>()) {
        return initiate(&detail::start_cudaq_ready, std::forward<Token>(token));
    }
    /// Does not end by itself, only with operation_aborted. Completion signature: void(error_code).
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_wait_lost(Token&& token = default_token_t<Executor>()) {
        return initiate(&detail::start_cudaq_wait_lost, std::forward<Token>(token));
    }
    /// Closes what is open. Completion signature: void(error_code): always success.
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_release(Token&& token = default_token_t<Executor>()) {
        return initiate(&detail::start_cudaq_release, std::forward<Token>(token));
    }
    /// The last failure with its sentence.
    error_info last_error() const { return detail::last_error_of(session_.get()); }

  protected:
    basic_cudaq_handshake(const Executor& executor, detail::cudaq_session_ptr session)
        : executor_(executor), session_(std::move(session)) {}
    basic_cudaq_handshake(basic_cudaq_handshake&&) noexcept = default;
    basic_cudaq_handshake& operator=(basic_cudaq_handshake&&) noexcept = default;
    ~basic_cudaq_handshake() = default;

    const detail::cudaq_session_ptr& session() const noexcept { return session_.get(); }

  private:
    template <class Start, class Token>
    auto initiate(Start start, Token&& token) {
        return asio::async_initiate<Token, void(error_code)>(initiation<void(error_code)>{executor_}, token,
                                                             start, session_.get());
    }

    Executor executor_;
    detail::cudaq_session_handle session_;
};

/// The side that dials.
template <class Executor = asio::any_io_executor>
class basic_cudaq_caller : public basic_cudaq_handshake<Executor> {
  public:
    /// Throws rocio::exception(errc::invalid_argument).
    basic_cudaq_caller(const Executor& executor, const asio::ip::tcp::endpoint& service,
                       const cudaq_config& config = {})
        : basic_cudaq_handshake<Executor>(executor, detail::make_cudaq_caller(executor, service, config)) {}
    template <class Context>
    requires std::is_convertible_v<Context&, asio::execution_context&>
    basic_cudaq_caller(Context& context, const asio::ip::tcp::endpoint& service,
                       const cudaq_config& config = {})
        : basic_cudaq_caller(Executor(context.get_executor()), service, config) {}
};

/// The side that is dialled: takes one caller.
template <class Executor = asio::any_io_executor>
class basic_cudaq_service : public basic_cudaq_handshake<Executor> {
  public:
    /// Listens from now on; port 0 takes a free one. Throws rocio::exception: errc::invalid_argument, the
    /// system's codes.
    basic_cudaq_service(const Executor& executor, const asio::ip::tcp::endpoint& where,
                        const cudaq_config& config = {})
        : basic_cudaq_handshake<Executor>(executor, detail::make_cudaq_service(executor, where, config)) {}
    template <class Context>
    requires std::is_convertible_v<Context&, asio::execution_context&>
    basic_cudaq_service(Context& context, const asio::ip::tcp::endpoint& where,
                        const cudaq_config& config = {})
        : basic_cudaq_service(Executor(context.get_executor()), where, config) {}

    /// Where it listens, with the real port.
    asio::ip::tcp::endpoint local_endpoint() const { return detail::local_endpoint_of(this->session()); }
    /// How its connection was made, for the status. Whoever gives the service away, as async_connect() wants
    /// it, keeps a handshake_log of his own and gives it to the configuration.
    handshake_snapshot handshake() const { return detail::handshake_of(this->session()); }
};

using cudaq_caller = basic_cudaq_caller<>;
using cudaq_service = basic_cudaq_service<>;

} // namespace rocio

#pragma once

#include <rocio/async/default_token.hpp>
#include <rocio/connect/detail/tcp_listener_core.hpp>
#include <rocio/connect/tcp_listener_config.hpp>
#include <rocio/connect/tcp_listener_snapshot.hpp>
#include <rocio/connect/tcp_peer.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/execution_context.hpp>

#include <type_traits>
#include <utility>

namespace rocio {

/// The listening side of rocio's rendezvous over TCP. Any number of connections say hello at the same time,
/// each within its deadline, so none that is silent, slow or no rendezvous at all holds up another. Listens
/// on loopback and a free port unless told otherwise: whoever can connect can ask for a queue pair.
///
/// New connections are taken while an async_accept() is outstanding; between two of them they wait in the
/// system's queue.
///
/// Thread safety: distinct objects: safe. Shared objects: unsafe, but for snapshot() and handshake().
template <class Executor = asio::any_io_executor>
class basic_tcp_listener {
    template <class>
    friend class basic_tcp_listener;

  public:
    using executor_type = Executor;
    template <class Other>
    struct rebind_executor {
        using other = basic_tcp_listener<Other>;
    };
    using peer_type = basic_tcp_peer<Executor>;

    /// Listens from now on. Throws rocio::exception: errc::invalid_argument, the system's codes
    /// (address_in_use, …).
    explicit basic_tcp_listener(const Executor& executor, const tcp_listener_config& config = {})
        : executor_(executor), core_(detail::make_tcp_listener(executor, config)) {}
    template <class Context>
    requires std::is_convertible_v<Context&, asio::execution_context&>
    explicit basic_tcp_listener(Context& context, const tcp_listener_config& config = {})
        : basic_tcp_listener(Executor(context.get_executor()), config) {}

    /// A moved-from listener may only be destroyed or assigned to.
    basic_tcp_listener(basic_tcp_listener&&) noexcept = default;
    template <class Other>
    requires std::is_convertible_v<Other, Executor>
    explicit basic_tcp_listener(basic_tcp_listener<Other>&& other)
        : executor_(other.executor_), core_(std::move(other.core_)) {}
    basic_tcp_listener& operator=(basic_tcp_listener&& other) noexcept {
        if (this == &other) return *this;
        detail::abandon(std::move(core_));
        executor_ = other.executor_;
        core_ = std::move(other.core_);
        return *this;
    }
    /// As close().
    ~basic_tcp_listener() { detail::abandon(std::move(core_)); }

    executor_type get_executor() const noexcept { return executor_; }
    /// Where it listens, with the real port.
    asio::ip::tcp::endpoint local_endpoint() const { return detail::local_endpoint_of(core_); }
    /// What it has seen. Any thread.
    tcp_listener_snapshot snapshot() const { return detail::snapshot_of(core_); }
    /// How connections were made here, for the status: probes that said nothing are not counted. Any thread.
    handshake_snapshot handshake() const { return detail::handshake_of(core_); }

    /// Waits for the next connection that has said a valid hello.
    ///
    /// Effect: hellos that cannot be taken are refused with a reason, which the other side reports; they do
    /// not end this operation but show in snapshot() and the log. Connections that close before they said
    /// hello cost nothing. When the system runs out of descriptors it goes on as soon as there are some
    /// again. Preconditions: none; several may be outstanding, and get connections in the order they began.
    /// Lifetimes: the peer does not need the listener any more.
    /// Completion signature: void(error_code, basic_tcp_peer<Executor>); the peer is none when there is an
    /// error. Executor: the handler's, default this object's; never inside this call. Cancellation:
    /// `terminal` and `total`. Errors: operation_aborted after cancel() or close(),
    /// asio::error::bad_descriptor when it is closed already. Thread safety: as this object.
    template <asio::completion_token_for<void(error_code, peer_type)> Token = default_token_t<Executor>>
    auto async_accept(Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code, peer_type)>(
            detail::initiate_accept<peer_type, detail::tcp_session>{executor_}, token, core_);
    }

    /// Ends every async_accept() with operation_aborted.
    void cancel() { detail::cancel(core_); }
    /// Stops listening at once, closes the connections that nobody accepted, and ends every async_accept()
    /// with operation_aborted. Peers that were accepted go on.
    void close() { detail::close(core_); }

  private:
    Executor executor_;
    detail::tcp_listener_ptr core_;
};

using tcp_listener = basic_tcp_listener<>;

} // namespace rocio

#pragma once

#include <rocio/async/control_handler.hpp>
#include <rocio/async/default_token.hpp>
#include <rocio/connect/any_handshake.hpp>
#include <rocio/io/connectable.hpp>
#include <rocio/io/queue_pair.hpp>

#include <boost/asio/async_result.hpp>

#include <memory>
#include <utility>

namespace rocio {

namespace detail {

/// The steps: prepare, exchange, establish, ready; on failure everything is undone. Afterwards watches the
/// peer until the connection ends.
void start_connect(std::shared_ptr<connectable> target, any_handshake how,
                   async::control_handler<void(error_code)> handler);

template <class Executor>
struct initiate_connect {
    Executor executor;
    using executor_type = Executor;
    executor_type get_executor() const noexcept { return executor; }

    template <class Handler>
    void operator()(Handler&& handler, std::shared_ptr<connectable> target, any_handshake how) const {
        start_connect(std::move(target), std::move(how),
                      async::control_handler<void(error_code)>(std::forward<Handler>(handler), executor));
    }
};

} // namespace detail

/// Connects a queue pair with a peer by any handshake (tcp_connector, tcp_peer, static_peer, …).
///
/// Effect: queue pair to INIT and its receives posted, exchange of numbers, RTR and RTS, ready on both sides.
/// From then on the handshake keeps watch: when the peer is gone the queue pair closes with errc::peer_closed
/// or errc::peer_lost. Lifetimes: the handshake is moved in and lives as long as the connection. Completion
/// signature: void(error_code). Executor: the handler's, default the queue pair's; never inside this call.
/// The steps run on the context's own executor. Cancellation: `terminal` and `total`: the attempt is undone,
/// the queue pair is in the error state and can be connected again. A queue pair that is closed or destroyed
/// meanwhile ends the attempt with operation_aborted. Errors: those of the handshake (each step has its
/// deadline), of errc::path_mtu_too_large, errc::no_usable_gid, of the device; qp.last_error() has the
/// sentence.
template <class Executor, asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
auto async_connect(basic_queue_pair<Executor>& target, any_handshake how,
                   Token&& token = default_token_t<Executor>()) {
    return asio::async_initiate<Token, void(error_code)>(
        detail::initiate_connect<Executor>{target.get_executor()}, token, target.as_connectable(),
        std::move(how));
}

} // namespace rocio

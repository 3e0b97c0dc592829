#pragma once

#include <rocio/connect/detail/tcp_session.hpp>
#include <rocio/connect/tcp_listener_config.hpp>
#include <rocio/connect/tcp_listener_snapshot.hpp>

#include <boost/asio/associator.hpp>

#include <memory>
#include <utility>

namespace rocio {

template <class>
class basic_tcp_peer;

namespace detail {

using accept_completion = async::control_handler<void(error_code, tcp_session_ptr)>;

/// Everything of a listener that does not depend on the executor's type.
class tcp_listener_core;
using tcp_listener_ptr = std::shared_ptr<tcp_listener_core>;

/// Listens from now on. Throws rocio::exception: errc::invalid_argument, the system's codes.
tcp_listener_ptr make_tcp_listener(const asio::any_io_executor& executor, const tcp_listener_config& config);

// All may be called from any thread; `listener` is not null.
void start_tcp_accept(const tcp_listener_ptr& listener, accept_completion handler);
void cancel(const tcp_listener_ptr& listener);
void close(const tcp_listener_ptr& listener);
/// Drops the owner's reference: closes.
void abandon(tcp_listener_ptr&& listener) noexcept;
asio::ip::tcp::endpoint local_endpoint_of(const tcp_listener_ptr& listener);
tcp_listener_snapshot snapshot_of(const tcp_listener_ptr& listener);

/// Makes the handler of an async_accept() one that takes a session.
template <class Handler, class Executor>
struct accept_handler {
    Handler handler;
    Executor executor;

    void operator()(const error_code& ec, tcp_session_ptr session) {
        std::move(handler)(ec, basic_tcp_peer<Executor>(executor, std::move(session)));
    }
};

template <class Executor>
struct initiate_accept {
    Executor executor;

    using executor_type = Executor;
    executor_type get_executor() const noexcept { return executor; }

    template <class Handler>
    void operator()(Handler&& handler, const tcp_listener_ptr& listener) const {
        using handler_type = accept_handler<std::decay_t<Handler>, Executor>;
        start_tcp_accept(listener,
                         accept_completion(handler_type{std::forward<Handler>(handler), executor}, executor));
    }
};

} // namespace detail
} // namespace rocio

namespace boost::asio {

/// Executor, allocator and cancellation slot are those of the user's handler.
template <template <class, class> class Associator, class Handler, class Executor, class Default>
struct associator<Associator, rocio::detail::accept_handler<Handler, Executor>, Default> {
    using type = typename Associator<Handler, Default>::type;

    static type get(const rocio::detail::accept_handler<Handler, Executor>& h,
                    const Default& d = Default()) noexcept {
        return Associator<Handler, Default>::get(h.handler, d);
    }
};

} // namespace boost::asio

#pragma once

#include <rocio/async/control_handler.hpp>
#include <rocio/types/error.hpp>

#include <boost/asio/associator.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace rocio::detail {

/// Makes the handler of an async_accept() one that takes a session.
template <class Peer, class Session, class Handler>
struct accept_handler {
    Handler handler;
    typename Peer::executor_type executor;

    void operator()(const error_code& ec, std::shared_ptr<Session> session) {
        std::move(handler)(ec, Peer(executor, std::move(session)));
    }
};

/// Initiation of an async_accept() that gives a Peer; `start_accept(listener, handler)` does the work.
template <class Peer, class Session>
struct initiate_accept {
    using executor_type = typename Peer::executor_type;
    executor_type executor;
    executor_type get_executor() const noexcept { return executor; }

    template <class Handler, class Listener>
    void operator()(Handler&& handler, const Listener& listener) const {
        using completion = async::control_handler<void(error_code, std::shared_ptr<Session>)>;
        using handler_type = accept_handler<Peer, Session, std::decay_t<Handler>>;
        start_accept(listener, completion(handler_type{std::forward<Handler>(handler), executor}, executor));
    }
};

} // namespace rocio::detail

namespace boost::asio {

/// Executor, allocator and cancellation slot are those of the user's handler.
template <template <class, class> class Associator, class Peer, class Session, class Handler, class Default>
struct associator<Associator, rocio::detail::accept_handler<Peer, Session, Handler>, Default> {
    using type = typename Associator<Handler, Default>::type;

    static type get(const rocio::detail::accept_handler<Peer, Session, Handler>& h,
                    const Default& d = Default()) noexcept {
        return Associator<Handler, Default>::get(h.handler, d);
    }
};

} // namespace boost::asio

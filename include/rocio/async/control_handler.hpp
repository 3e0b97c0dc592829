#pragma once

#include <rocio/async/default_token.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/post.hpp>

#include <memory>
#include <tuple>
#include <utility>

namespace rocio::async {

/// A control-plane handler of any type (connection set-up and the like): the one place where
/// any_completion_handler is used. It takes the handler's executor before erasing it and never assigns an
/// erased handler: on Boost 1.81 the first costs an allocation per call otherwise, and the second recurses
/// without end. Move-only; not for the data plane.
template <class Signature>
class control_handler;

template <class... Args>
class control_handler<void(Args...)> {
    struct state {
        asio::any_io_executor executor;
        asio::any_completion_handler<void(Args...)> handler;
    };

  public:
    template <class Handler>
    control_handler(Handler&& handler, const asio::any_io_executor& io_executor) {
        asio::any_io_executor executor = asio::get_associated_executor(handler, io_executor);
        state_ = std::make_unique<state>(
            state{asio::prefer(executor, asio::execution::outstanding_work.tracked),
                  asio::any_completion_handler<void(Args...)>(std::forward<Handler>(handler))});
    }

    using executor_type = asio::any_io_executor;
    using cancellation_slot_type = asio::cancellation_slot;

    explicit operator bool() const noexcept { return state_ != nullptr; }
    const asio::any_io_executor& executor() const noexcept { return state_->executor; }
    asio::cancellation_slot slot() const noexcept {
        return asio::get_associated_cancellation_slot(state_->handler);
    }

    executor_type get_executor() const noexcept { return executor(); }
    cancellation_slot_type get_cancellation_slot() const noexcept { return slot(); }

    /// Calls the handler on its executor, never inside this call.
    void post(Args... args) {
        auto taken = std::move(state_);
        auto executor = taken->executor;
        asio::post(executor, [s = std::move(taken), t = std::tuple<Args...>(std::move(args)...)]() mutable {
            invoke(std::move(s), std::move(t));
        });
    }

    /// Calls the handler inside this call. It makes a control_handler a completion handler (and token)
    /// itself, to be given to any other asynchronous operation, which calls it on executor().
    void operator()(Args... args) { invoke(std::move(state_), std::tuple<Args...>(std::move(args)...)); }

  private:
    static void invoke(std::unique_ptr<state> s, std::tuple<Args...> results) {
        auto slot = asio::get_associated_cancellation_slot(s->handler);
        if (slot.is_connected()) slot.clear();
        asio::any_completion_handler<void(Args...)> handler(std::move(s->handler));
        s.reset();
        std::apply(std::move(handler), std::move(results));
    }

    std::unique_ptr<state> state_;
};

} // namespace rocio::async

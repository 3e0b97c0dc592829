#pragma once

#include <rocio/async/control_handler.hpp>
#include <rocio/async/exception_code.hpp>
#include <rocio/types/error.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <exception>
#include <memory>
#include <tuple>
#include <utility>

namespace rocio::async {

using steady_clock = std::chrono::steady_clock;

/// Where the steps of a control-plane object run, whatever executor the user's object has.
using control_strand = asio::strand<asio::any_io_executor>;
using control_timer =
    asio::basic_waitable_timer<steady_clock, asio::wait_traits<steady_clock>, control_strand>;

template <class T>
using task = asio::awaitable<T, control_strand>;
/// Token of the coroutines: errors are values.
inline constexpr asio::as_tuple_t<asio::use_awaitable_t<control_strand>> as_result{
    asio::use_awaitable_t<control_strand>{}};

/// Runs `work` on `strand` and gives its result to `handler`, on the handler's executor.
template <class... Results>
void run_task(const control_strand& strand, task<std::tuple<error_code, Results...>> work,
              control_handler<void(error_code, Results...)> handler) {
    asio::co_spawn(strand, std::move(work),
                   [h = std::move(handler)](const std::exception_ptr& e,
                                            std::tuple<error_code, Results...> results) mutable {
                       if (e) std::get<0>(results) = code_of(e);
                       std::apply([&h](auto&... r) { h.post(std::move(r)...); }, results);
                   });
}

/// Lets a handler's cancellation slot reach `to`, whose request_cancel() may be called from any thread. What
/// stays in the slot holds nothing of the context, which may be gone before the user's signal.
template <class T>
void relay_cancellation(asio::cancellation_slot slot, const std::shared_ptr<T>& to) {
    if (!slot.is_connected()) return;
    slot.assign([weak = std::weak_ptr<T>(to)](asio::cancellation_type type) {
        const auto honoured = asio::cancellation_type::terminal | asio::cancellation_type::total;
        if ((type & honoured) == asio::cancellation_type::none) return;
        if (const auto target = weak.lock()) target->request_cancel();
    });
}

/// What a cancellation finds of an operation of `Owner`, which has strand() and on_cancel(operation&) and
/// outlives it.
template <class Owner>
class cancellable_operation : public std::enable_shared_from_this<cancellable_operation<Owner>> {
  public:
    explicit cancellable_operation(const std::shared_ptr<Owner>& owner) : owner_(owner) {}

    const bool& cancelled() const noexcept { return cancelled_; }
    /// On the owner's strand.
    void cancel() {
        cancelled_ = true;
        if (const auto owner = owner_.lock()) owner->on_cancel(*this);
    }
    void request_cancel() {
        const auto owner = owner_.lock();
        if (!owner) return;
        asio::post(owner->strand(), [weak = this->weak_from_this()] {
            if (const auto self = weak.lock()) self->cancel();
        });
    }

  private:
    std::weak_ptr<Owner> owner_;
    bool cancelled_ = false;
};

} // namespace rocio::async

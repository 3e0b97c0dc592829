#pragma once

#include <rocio/async/default_token.hpp>
#include <rocio/async/operation.hpp>
#include <rocio/io/completion_engine.hpp>
#include <rocio/stream/detail/view_state.hpp>
#include <rocio/stream/frame.hpp>
#include <rocio/stream/frame_batch.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>

#include <memory>
#include <span>
#include <utility>

namespace rocio {

/// A view of a stream: every frame, or the frames of one channel. It exists from construction to destruction,
/// and frames are queued for it all that time; a view nobody reads from holds slots and in the end the sender
/// (see view_options). Made by receive_server::channel() and all(). Move-only.
///
/// Thread safety: operations may be started on any context, one thread at a time; handlers run on their own
/// executor.
template <class Executor = asio::any_io_executor>
class basic_receive_view {
  public:
    using executor_type = Executor;
    template <class Other>
    struct rebind_executor {
        using other = basic_receive_view<Other>;
    };

    basic_receive_view(const Executor& executor, std::shared_ptr<detail::view_state> state) noexcept
        : executor_(executor), state_(std::move(state)) {}
    basic_receive_view(basic_receive_view&&) noexcept = default;
    basic_receive_view& operator=(basic_receive_view&& other) noexcept {
        if (this == &other) return *this;
        if (state_) state_->destroy_owner();
        executor_ = other.executor_;
        state_ = std::move(other.state_);
        return *this;
    }
    /// Waiting operations end with operation_aborted; queued frames go back to the sender's disposal.
    ~basic_receive_view() {
        if (state_) state_->destroy_owner();
    }

    executor_type get_executor() const noexcept { return executor_; }

    /// Takes the next frame.
    ///
    /// Effect: the oldest queued frame, or the next that arrives. Frames received before a disconnect can
    /// still be taken after it. Preconditions: none; before the connection is made it waits for it.
    /// Lifetimes: the frame may outlive view and server.
    /// Completion signature: void(error_code, frame); the frame is empty when there is an error.
    /// Executor: the handler's, default this view's; never inside this call.
    /// Cancellation: `total`: nothing is taken.
    /// Errors: errc::stopped after stop(); the reason of the disconnect (errc::peer_closed, errc::peer_lost,
    /// errc::retry_exceeded, …) once the queue is empty; operation_aborted.
    template <asio::completion_token_for<void(error_code, frame)> Token = default_token_t<Executor>>
    auto async_receive(Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code, frame)>(initiate_one{executor_}, token, state_);
    }

    /// Takes at least one frame, and as many as have arrived up to out.size(): one hop between contexts per
    /// batch.
    ///
    /// Lifetimes: `out` must stay until the completion; its frames are replaced.
    /// Completion signature: void(error_code, std::size_t). The rest as async_receive().
    template <asio::completion_token_for<void(error_code, std::size_t)> Token = default_token_t<Executor>>
    auto async_receive_some(std::span<frame> out, Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code, std::size_t)>(initiate_some{executor_}, token,
                                                                          state_, out);
    }

    /// Takes at least one frame, and as many as have arrived up to `most` (1 or more) and lie side by side,
    /// with one lease on all of them: the cheapest way to hand frames to another thread. Frames come to lie
    /// apart when their leases end in another order than they arrived; batches are shorter then.
    ///
    /// Lifetimes: the batch may outlive view and server.
    /// Completion signature: void(error_code, frame_batch); empty when there is an error. Errors: also
    /// errc::invalid_argument for 0. The rest as async_receive().
    template <asio::completion_token_for<void(error_code, frame_batch)> Token = default_token_t<Executor>>
    auto async_receive_batch(std::size_t most, Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code, frame_batch)>(initiate_batch{executor_}, token,
                                                                          state_, most);
    }

    /// Ends the waiting operations with operation_aborted.
    void cancel() { state_->cancel_all(asio::error::operation_aborted); }

  private:
    struct initiate_base {
        Executor executor;
        using executor_type = Executor;
        executor_type get_executor() const noexcept { return executor; }

        template <class Operation, class Handler, class... Args>
        void launch(Handler&& handler, const std::shared_ptr<detail::view_state>& state,
                    Args&&... args) const {
            using handler_type = std::decay_t<Handler>;
            handler_type owned(std::forward<Handler>(handler));
            auto slot = asio::get_associated_cancellation_slot(owned);
            auto& engine = state->engine();
            Operation* op = async::handler_operation<Operation, handler_type, Executor>::make(
                std::move(owned), executor, engine.context(), engine.memory(), std::forward<Args>(args)...);
            if (slot.is_connected()) {
                op->id = state->next_id();
                slot.assign(detail::cancel_receive{state, op->id});
            }
            state->start(op);
        }
    };
    struct initiate_one : initiate_base {
        template <class Handler>
        void operator()(Handler&& handler, const std::shared_ptr<detail::view_state>& state) const {
            this->template launch<detail::receive_one_operation>(std::forward<Handler>(handler), state);
        }
    };
    struct initiate_some : initiate_base {
        template <class Handler>
        void operator()(Handler&& handler, const std::shared_ptr<detail::view_state>& state,
                        std::span<frame> out) const {
            this->template launch<detail::receive_some_operation>(std::forward<Handler>(handler), state, out,
                                                                  state);
        }
    };

    struct initiate_batch : initiate_base {
        template <class Handler>
        void operator()(Handler&& handler, const std::shared_ptr<detail::view_state>& state,
                        std::size_t most) const {
            this->template launch<detail::receive_batch_operation>(std::forward<Handler>(handler), state,
                                                                   most);
        }
    };

    Executor executor_;
    std::shared_ptr<detail::view_state> state_;
};

using receive_view = basic_receive_view<>;

} // namespace rocio

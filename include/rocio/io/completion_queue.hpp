#pragma once

#include <rocio/async/default_token.hpp>
#include <rocio/io/detail/context_of.hpp>
#include <rocio/io/detail/launch.hpp>
#include <rocio/io/detail/raw_completions.hpp>
#include <rocio/types/work_completion.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>

#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace rocio {

/// Completions as they are, for those who post work requests themselves: make queue pairs with this object,
/// post with queue_pair::post_send() and post_receive(), and take completions in batches. The engine still
/// does the polling and the waiting, while an async_poll() (or another operation of the context) is
/// outstanding. Move-only; a moved-from one may only be destroyed or assigned to.
///
/// Thread safety: distinct objects: safe. Shared objects: unsafe; use them on their own executor.
template <class Executor = asio::any_io_executor>
class basic_completion_queue {
    template <class>
    friend class basic_completion_queue;

  public:
    using executor_type = Executor;
    template <class Other>
    struct rebind_executor {
        using other = basic_completion_queue<Other>;
    };

    /// Room for `depth` completions (1 or more): the sum of send_depth + receive_depth of its queue pairs
    /// must not exceed it. Throws rocio::exception: errc::unsupported_context, errc::invalid_argument,
    /// errc::device_bound.
    basic_completion_queue(const Executor& executor, std::shared_ptr<device> dev, std::uint32_t depth)
        : executor_(executor),
          raw_(std::make_shared<raw_completions>(detail::engine_of(executor), std::move(dev), depth)) {}
    template <class Context>
    requires std::is_convertible_v<Context&, asio::execution_context&>
    basic_completion_queue(Context& context, std::shared_ptr<device> dev, std::uint32_t depth)
        : basic_completion_queue(Executor(context.get_executor()), std::move(dev), depth) {}

    basic_completion_queue(basic_completion_queue&&) noexcept = default;
    template <class Other>
    requires std::is_convertible_v<Other, Executor>
    explicit basic_completion_queue(basic_completion_queue<Other>&& other) noexcept
        : executor_(other.executor_), raw_(std::move(other.raw_)) {}
    basic_completion_queue& operator=(basic_completion_queue&& other) noexcept {
        if (this == &other) return *this;
        if (raw_) raw_->cancel();
        executor_ = other.executor_;
        raw_ = std::move(other.raw_);
        return *this;
    }
    /// Ends the waiting operation with operation_aborted. Queue pairs made with it keep what they need.
    ~basic_completion_queue() {
        if (raw_) raw_->cancel();
    }

    executor_type get_executor() const noexcept { return executor_; }
    const std::shared_ptr<device>& dev() const noexcept { return raw_->dev(); }
    const std::shared_ptr<raw_completions>& raw() const noexcept { return raw_; }

    /// Takes what is there now, up to out.size(), without waiting and without driving the device.
    std::size_t poll(std::span<work_completion> out) { return raw_->take(out); }

    /// Takes at least one completion, up to out.size().
    ///
    /// Effect: completes when there is a completion, with all that a round of polling found (16 at most come
    /// from the device at a time; what waits already is given too). Preconditions: one such operation at a
    /// time; a second one ends with errc::invalid_state. Lifetimes: `out` must stay until the completion. The
    /// object may be moved or destroyed before. Completion signature: void(error_code, std::size_t); the
    /// number is 0 for an empty `out` and on errors. Executor: the handler's, default this object's; never
    /// inside this call. Cancellation: `terminal`, `partial` and `total`: nothing is taken. Errors:
    /// errc::invalid_state, errc::device_fatal when the device or its queue is gone, operation_aborted.
    /// Thread safety: as the object.
    template <asio::completion_token_for<void(error_code, std::size_t)> Token = default_token_t<Executor>>
    auto async_poll(std::span<work_completion> out, Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code, std::size_t)>(initiate_poll{executor_}, token,
                                                                          raw_, out);
    }
    /// Ends the waiting operation with operation_aborted.
    void cancel() { raw_->cancel(); }

  private:
    struct initiate_poll {
        Executor executor;
        using executor_type = Executor;
        executor_type get_executor() const noexcept { return executor; }

        template <class Handler>
        void operator()(Handler&& handler, const std::shared_ptr<raw_completions>& raw,
                        std::span<work_completion> out) const {
            detail::launch<poll_operation>(std::forward<Handler>(handler), executor, raw, out);
        }
    };

    Executor executor_;
    std::shared_ptr<raw_completions> raw_;
};

using completion_queue = basic_completion_queue<>;

} // namespace rocio

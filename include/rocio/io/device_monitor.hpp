#pragma once

#include <rocio/async/default_token.hpp>
#include <rocio/io/detail/context_of.hpp>
#include <rocio/io/detail/launch.hpp>
#include <rocio/io/detail/monitor_impl.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace rocio {

/// The asynchronous events of a device: ports, GID changes, queue pairs, the device itself. Events are kept
/// from construction on, the newest 64; lost() counts what fell out. The device's events are read while
/// anything is outstanding on the context. Move-only; a moved-from one may only be destroyed or assigned to.
///
/// Thread safety: distinct objects: safe. Shared objects: unsafe; use them on their own executor.
template <class Executor = asio::any_io_executor>
class basic_device_monitor {
    template <class>
    friend class basic_device_monitor;

  public:
    using executor_type = Executor;
    template <class Other>
    struct rebind_executor {
        using other = basic_device_monitor<Other>;
    };

    /// Throws rocio::exception: errc::unsupported_context, errc::device_bound.
    basic_device_monitor(const Executor& executor, std::shared_ptr<device> dev)
        : executor_(executor),
          impl_(std::make_shared<detail::monitor_impl>(detail::engine_of(executor), std::move(dev))) {}
    template <class Context>
    requires std::is_convertible_v<Context&, asio::execution_context&>
    basic_device_monitor(Context& context, std::shared_ptr<device> dev)
        : basic_device_monitor(Executor(context.get_executor()), std::move(dev)) {}

    basic_device_monitor(basic_device_monitor&&) noexcept = default;
    template <class Other>
    requires std::is_convertible_v<Other, Executor>
    explicit basic_device_monitor(basic_device_monitor<Other>&& other) noexcept
        : executor_(other.executor_), impl_(std::move(other.impl_)) {}
    basic_device_monitor& operator=(basic_device_monitor&& other) noexcept {
        if (this == &other) return *this;
        if (impl_) impl_->cancel();
        executor_ = other.executor_;
        impl_ = std::move(other.impl_);
        return *this;
    }
    ~basic_device_monitor() {
        if (impl_) impl_->cancel();
    }

    executor_type get_executor() const noexcept { return executor_; }
    std::uint64_t lost() const { return impl_->lost(); }

    /// Takes the next event, in order.
    ///
    /// Effect: completes with the oldest event that was not taken yet. Several may wait; they are served in
    /// order. Preconditions: none. Lifetimes: the object may be moved or destroyed before. Completion
    /// signature: void(error_code, device_event). Executor: the handler's, default this object's; never
    /// inside this call. Cancellation: `terminal`, `partial` and `total`: no event is taken. Errors:
    /// errc::device_fatal once the event device_fatal was given, because no other comes after it;
    /// operation_aborted.
    /// Thread safety: as the object.
    template <asio::completion_token_for<void(error_code, device_event)> Token = default_token_t<Executor>>
    auto async_next_event(Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code, device_event)>(initiate_wait{executor_}, token,
                                                                           impl_);
    }
    /// Ends the waiting operations with operation_aborted.
    void cancel() { impl_->cancel(); }

  private:
    struct initiate_wait {
        Executor executor;
        using executor_type = Executor;
        executor_type get_executor() const noexcept { return executor; }

        template <class Handler>
        void operator()(Handler&& handler, const std::shared_ptr<detail::monitor_impl>& impl) const {
            detail::launch<detail::event_operation>(std::forward<Handler>(handler), executor, impl);
        }
    };

    Executor executor_;
    std::shared_ptr<detail::monitor_impl> impl_;
};

using device_monitor = basic_device_monitor<>;

} // namespace rocio

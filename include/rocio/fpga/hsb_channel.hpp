#pragma once

#include <rocio/async/control_initiation.hpp>
#include <rocio/async/default_token.hpp>
#include <rocio/fpga/any_register_bus.hpp>
#include <rocio/fpga/detail/hsb_channel_session.hpp>
#include <rocio/fpga/hsb_channel_config.hpp>
#include <rocio/fpga/hsb_channel_snapshot.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/execution_context.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace rocio::fpga {

/// What an hsb_channel that was moved into a connection still tells: made by hsb_channel::status(). Copies
/// share it. Any thread.
class hsb_channel_status {
  public:
    explicit hsb_channel_status(std::weak_ptr<detail::hsb_channel_session> session) noexcept
        : session_(std::move(session)) {}
    /// Default values once the connection is gone.
    hsb_channel_snapshot snapshot() const { return detail::snapshot_of(session_.lock()); }

  private:
    std::weak_ptr<detail::hsb_channel_session> session_;
};

/// A connection with a Holoscan Sensor Bridge FPGA over its control channel: a handshake (see
/// rocio/types/handshake.hpp) for sensor_receiver, ring_transceiver and queue_pair. The vendor's host calls
/// its parts authenticate, configure_roce and unconfigure. It speaks over any register bus; an
/// hsb_control_client fits, and nothing else may use that meanwhile.
///
/// The queue pair number and rkey that the FPGA is given are those of the connecting side, whose memory is
/// registered at an address below 512 GiB (sensor_receiver and ring_transceiver: 0). Serves one connection:
/// make a new one for the next.
///
/// Thread safety: distinct objects: safe. Shared objects: unsafe, but for last_error() and snapshot().
template <class Executor = asio::any_io_executor>
class basic_hsb_channel {
    template <class>
    friend class basic_hsb_channel;
    using step = async::control_initiation<void(error_code), Executor>;

  public:
    using executor_type = Executor;
    template <class Other>
    struct rebind_executor {
        using other = basic_hsb_channel<Other>;
    };

    /// Sends nothing. Throws rocio::exception(errc::invalid_argument).
    explicit basic_hsb_channel(const Executor& executor, const any_register_bus& bus,
                               const hsb_channel_config& config)
        : executor_(executor), session_(detail::make_hsb_channel_session(executor, bus, config)) {}
    template <class Context>
    requires std::is_convertible_v<Context&, asio::execution_context&>
    explicit basic_hsb_channel(Context& context, const any_register_bus& bus,
                               const hsb_channel_config& config)
        : basic_hsb_channel(Executor(context.get_executor()), bus, config) {}

    /// A moved-from one may only be destroyed or assigned to. Destruction ends what is outstanding with
    /// operation_aborted and leaves the FPGA as it is: async_release() stops it.
    basic_hsb_channel(basic_hsb_channel&&) noexcept = default;
    template <class Other>
    requires std::is_convertible_v<Other, Executor>
    explicit basic_hsb_channel(basic_hsb_channel<Other>&& other)
        : executor_(other.executor_), session_(std::move(other.session_)) {}
    basic_hsb_channel& operator=(basic_hsb_channel&& other) noexcept {
        executor_ = other.executor_;
        session_ = std::move(other.session_);
        return *this;
    }
    ~basic_hsb_channel() = default;

    executor_type get_executor() const noexcept { return executor_; }

    /// Reads the FPGA's version, checks that it can be configured as asked, and stops its virtual port.
    ///
    /// Effect: the FPGA sends nothing more to whom it sent before. Preconditions: first operation of this
    /// object. Completion signature: void(error_code, peer_parameters): the FPGA's address, the layout of
    /// its immediates, path MTU 4096. Executor: the handler's, default this object's; never inside this call.
    /// Cancellation: `terminal` and `total`: no further register is touched. Errors: errc::not_supported for
    /// a version below 0x2510, errc::invalid_argument naming attribute, value and what is allowed,
    /// errc::not_in_region, errc::handshake_timed_out after step_deadline, errc::invalid_state, those of the
    /// bus (hsb_errc::no_answer, an hsb_status), operation_aborted. Thread safety: as this object.
    template <asio::completion_token_for<void(error_code, peer_parameters)> Token = default_token_t<Executor>>
    auto async_exchange(const local_parameters& local, Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code, peer_parameters)>(
            async::control_initiation<void(error_code, peer_parameters), Executor>{executor_}, token,
            &detail::start_hsb_exchange, session_.get(), local);
    }
    /// Configures the virtual port and starts it: frames arrive from now on. Completion signature:
    /// void(error_code). All else as async_exchange().
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_ready(Token&& token = default_token_t<Executor>()) {
        return initiate(&detail::start_hsb_ready, std::forward<Token>(token));
    }
    /// Looks at the FPGA every watch_interval until it is lost.
    ///
    /// Completion signature: void(error_code), never success: errc::peer_lost when the FPGA was reset,
    /// stopped, taken over by another host, or has not answered watch_failures times in a row; last_error()
    /// says which. Executor: the handler's, default this object's; never inside this call. Cancellation:
    /// `terminal` and `total`; async_release() ends it too.
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_wait_lost(Token&& token = default_token_t<Executor>()) {
        return initiate(&detail::start_hsb_wait_lost, std::forward<Token>(token));
    }
    /// Stops the virtual port and zeroes its registers, unless another host has it or it does not answer.
    ///
    /// Completion signature: void(error_code), always success: what could not be done is in last_error().
    /// Executor and cancellation as async_exchange(); ends within step_deadline.
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_release(Token&& token = default_token_t<Executor>()) {
        return initiate(&detail::start_hsb_release, std::forward<Token>(token));
    }

    /// The sentence for the last failure. Any thread.
    error_info last_error() const { return detail::last_error_of(session_.get()); }
    /// Any thread.
    hsb_channel_snapshot snapshot() const { return detail::snapshot_of(session_.get()); }
    /// For the time when the channel is moved into a connection.
    hsb_channel_status status() const { return hsb_channel_status(session_.get()); }

  private:
    template <class Start, class Token>
    auto initiate(Start start, Token&& token) {
        return asio::async_initiate<Token, void(error_code)>(step{executor_}, token, start, session_.get());
    }

    Executor executor_;
    detail::hsb_channel_handle session_;
};

using hsb_channel = basic_hsb_channel<>;

} // namespace rocio::fpga

#pragma once

#include <rocio/connect/async_connect.hpp>
#include <rocio/io/detail/context_of.hpp>
#include <rocio/stream/detail/receive_core.hpp>
#include <rocio/stream/frame.hpp>
#include <rocio/stream/frame_batch.hpp>
#include <rocio/stream/receive_server_config.hpp>
#include <rocio/stream/receive_server_snapshot.hpp>
#include <rocio/stream/receive_view.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace rocio {

/// Receives the stream of an FPGA: an RC queue pair with pre-posted slots into which the peer SENDs with
/// immediate; imm[7:0] is the channel, imm[31:8] the sender's counter. Frames reach the user where the device
/// put them.
///
/// The receive queue is the flow control: when all slots are held the device answers RNR NAK, the sender
/// waits, and nothing is lost.
///
/// A frame goes to every view that matches; one that no view takes is returned at once and counted as
/// unclaimed. Frames that arrive before the server ever had a view wait for the first one, so that
/// `async_connect` followed by `async_receive` misses nothing; who wants several views makes them before the
/// connection.
///
/// Thread safety: all members may be called from any context, one thread at a time per object; views, frames,
/// stop() and snapshot() are independent of each other.
template <class Executor = asio::any_io_executor>
class basic_receive_server {
  public:
    using executor_type = Executor;
    template <class Other>
    struct rebind_executor {
        using other = basic_receive_server<Other>;
    };

    /// Allocates and registers the slots (local write only), makes the queue pair and chooses the GID.
    /// Throws rocio::exception: errc::invalid_argument, errc::region_too_large, errc::no_usable_gid,
    /// errc::unsupported_context, errc::device_bound, errc::registration_failed, errc::limit_exceeded.
    basic_receive_server(const Executor& executor, const receive_server_config& config)
        : executor_(executor),
          core_(std::make_shared<detail::receive_core>(detail::engine_of(executor), config)) {}
    template <class Context>
    requires std::is_convertible_v<Context&, asio::execution_context&>
    basic_receive_server(Context& context, const receive_server_config& config)
        : basic_receive_server(Executor(context.get_executor()), config) {}

    basic_receive_server(basic_receive_server&&) noexcept = default;
    basic_receive_server& operator=(basic_receive_server&& other) noexcept {
        if (this == &other) return *this;
        if (core_) core_->stop();
        executor_ = other.executor_;
        own_view_ = std::move(other.own_view_);
        core_ = std::move(other.core_);
        return *this;
    }
    /// stop().
    ~basic_receive_server() {
        if (core_) core_->stop();
    }

    executor_type get_executor() const noexcept { return executor_; }

    /// What a bring-up by hand needs; async_connect() tells the peer itself.
    host_parameters host() const { return core_->host(); }

    /// Connects with a peer by any handshake; the server may connect again after a disconnect, not after
    /// stop().
    ///
    /// Effect, executor, cancellation, errors: as async_connect() for a queue pair; all slots that nobody
    /// holds are posted before the peer learns of us. Also errc::invalid_argument for `transport`,
    /// errc::stopped, errc::already_connected. Completion signature: void(error_code); last_error() has the
    /// sentence.
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_connect(any_handshake how, const transport_config& transport,
                       Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code)>(initiate_connect{{executor_}, transport}, token,
                                                             core_, std::move(how));
    }
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_connect(any_handshake how, Token&& token = default_token_t<Executor>()) {
        return async_connect(std::move(how), transport_config{}, std::forward<Token>(token));
    }

    /// The frames of one channel, 0..255; anything else throws rocio::exception(errc::invalid_argument).
    basic_receive_view<Executor> channel(int number, const view_options& options = {}) {
        if (number < 0 || number > 255) {
            throw exception(
                {errc::invalid_argument, "channel is " + std::to_string(number) + ", allowed is 0 to 255"});
        }
        return {executor_, core_->make_view(static_cast<std::uint8_t>(number), options)};
    }
    /// Every frame.
    basic_receive_view<Executor> all(const view_options& options = {}) {
        return {executor_, core_->make_view(std::nullopt, options)};
    }

    /// The next frame of a view of all frames that is made at the first call. As
    /// receive_view::async_receive().
    template <asio::completion_token_for<void(error_code, frame)> Token = default_token_t<Executor>>
    auto async_receive(Token&& token = default_token_t<Executor>()) {
        return own_view().async_receive(std::forward<Token>(token));
    }
    template <asio::completion_token_for<void(error_code, std::size_t)> Token = default_token_t<Executor>>
    auto async_receive_some(std::span<frame> out, Token&& token = default_token_t<Executor>()) {
        return own_view().async_receive_some(out, std::forward<Token>(token));
    }

    template <asio::completion_token_for<void(error_code, frame_batch)> Token = default_token_t<Executor>>
    auto async_receive_batch(std::size_t most, Token&& token = default_token_t<Executor>()) {
        return own_view().async_receive_batch(most, std::forward<Token>(token));
    }

    /// Ends for good: says goodbye, destroys the queue pair, deregisters the slots. Waiting operations end
    /// with errc::stopped; queued frames can still be taken, and leases stay valid: the memory goes with the
    /// last one. Idempotent; may be called from inside a handler.
    void stop() { core_->stop(); }

    /// For those who drive the steps of a connection themselves.
    const std::shared_ptr<detail::receive_core>& core() const noexcept { return core_; }

    bool is_connected() const { return core_->is_connected(); }
    /// The last failure with its sentence.
    error_info last_error() const { return core_->last_error(); }
    /// Any thread; does not wait for a handler that runs, however long it takes.
    receive_server_snapshot snapshot() const { return core_->snapshot(); }

  private:
    struct initiate_connect : detail::initiate_connect<Executor> {
        transport_config transport;

        template <class Handler>
        void operator()(Handler&& handler, const std::shared_ptr<detail::receive_core>& core,
                        any_handshake how) const {
            async::control_handler<void(error_code)> erased(std::forward<Handler>(handler), this->executor);
            if (auto e = core->set_transport(transport)) return erased.post(e.code);
            detail::start_connect(core, std::move(how), std::move(erased));
        }
    };

    basic_receive_view<Executor>& own_view() {
        if (!own_view_) [[unlikely]]
            make_own_view();
        return *own_view_;
    }
    [[gnu::noinline]] void make_own_view() { own_view_.emplace(all()); }

    Executor executor_;
    std::shared_ptr<detail::receive_core> core_;
    std::optional<basic_receive_view<Executor>> own_view_;
};

using receive_server = basic_receive_server<>;

} // namespace rocio

#pragma once

#include <rocio/async/default_token.hpp>
#include <rocio/connect/async_connect.hpp>
#include <rocio/io/detail/context_of.hpp>
#include <rocio/ring/detail/sensor_core.hpp>
#include <rocio/ring/sensor_frame.hpp>
#include <rocio/ring/sensor_receiver_config.hpp>
#include <rocio/ring/sensor_receiver_snapshot.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace rocio {

/// Receives the frames of a sensor that an FPGA of the Holoscan Sensor Bridge kind writes into this host's
/// memory: UC WRITE packets into pages, in turn, and behind each frame 128 bytes of metadata by WRITE with
/// immediate, which says the page. Nothing is copied: a frame is a lease on its page.
///
/// UC has no flow control. Frames that are not taken before their page is written again are dropped and
/// counted; so are frames of which nothing arrived (by their numbers). A data packet that is lost leaves a
/// hole in its frame, which the device's counters tell where it has some, and the CRC in the metadata.
///
/// The memory is registered for the FPGA at address 0, since it can name none above 512 GiB.
///
/// Thread safety: distinct objects: safe. All members but construction, destruction and move may be called
/// from any thread.
template <class Executor = asio::any_io_executor>
class basic_sensor_receiver {
  public:
    using executor_type = Executor;
    template <class Other>
    struct rebind_executor {
        using other = basic_sensor_receiver<Other>;
    };

    /// Allocates the pages. Throws rocio::exception: errc::invalid_argument, errc::unsupported_context.
    basic_sensor_receiver(const Executor& executor, const sensor_receiver_config& config)
        : executor_(executor),
          core_(std::make_shared<detail::sensor_core>(detail::engine_of(executor), config)) {}
    template <class Context>
    requires std::is_convertible_v<Context&, asio::execution_context&>
    basic_sensor_receiver(Context& context, const sensor_receiver_config& config)
        : basic_sensor_receiver(Executor(context.get_executor()), config) {}

    basic_sensor_receiver(basic_sensor_receiver&&) noexcept = default;
    basic_sensor_receiver& operator=(basic_sensor_receiver&& other) noexcept {
        if (this == &other) return *this;
        if (core_) core_->stop();
        executor_ = other.executor_;
        core_ = std::move(other.core_);
        return *this;
    }
    /// stop(). Leases keep the memory.
    ~basic_sensor_receiver() {
        if (core_) core_->stop();
    }

    executor_type get_executor() const noexcept { return executor_; }
    const sensor_receiver_config& config() const noexcept { return core_->config(); }

    /// Makes the queue pair, registers the pages, posts the receives; no effect when that is done already.
    /// async_connect() does it too. Errors: those of the device, errc::no_usable_gid,
    /// errc::path_mtu_too_large, errc::device_bound, errc::stopped. The first form throws rocio::exception.
    void setup() { throw_if(core_->setup()); }
    void setup(error_info& error) { error = core_->setup(); }
    /// Our side's numbers, complete after setup(): region, `depth` pages of `max_payload` bytes.
    local_parameters local() const { return core_->local(); }

    /// Connects by any handshake, mostly an fpga::hsb_channel; again after a disconnect, not after stop().
    ///
    /// Effect, executor, cancellation: as async_connect() for a queue pair. Completion signature:
    /// void(error_code); last_error() has the sentence. When the handshake finds the FPGA gone, the receiver
    /// is disconnected and what waits ends with errc::peer_lost.
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_connect(any_handshake how, Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code)>(detail::initiate_connect<Executor>{executor_},
                                                             token, std::shared_ptr<connectable>(core_),
                                                             std::move(how));
    }

    /// Takes the next frame: the oldest that waits, or with sensor_policy::latest the newest.
    ///
    /// Effect: waits for one if there is none. Preconditions: none; before the connection is made it waits
    /// for it. Lifetimes: the frame may outlive the receiver. Completion signature:
    /// void(error_code, sensor_frame); the frame is empty when there is an error. Executor: the handler's,
    /// default this object's; never inside this call. Cancellation: `terminal`, `partial` and `total`:
    /// nothing is taken. Errors: errc::stopped, the reason of the disconnect once nothing is left,
    /// operation_aborted. Thread safety: as the object.
    template <asio::completion_token_for<void(error_code, sensor_frame)> Token = default_token_t<Executor>>
    auto async_receive(Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code, sensor_frame)>(initiate{executor_}, token, core_);
    }
    /// Ends what waits with operation_aborted.
    void cancel() { core_->cancel_all(asio::error::operation_aborted); }

    /// Tells the handshake to release the FPGA, ends what waits with errc::stopped, destroys the queue pair,
    /// deregisters: nothing is written into the pages afterwards. Idempotent; any thread.
    void stop() { core_->stop(); }

    bool is_connected() const { return core_->is_connected(); }
    /// The last failure with its sentence.
    error_info last_error() const { return core_->last_error(); }
    /// Any thread; does not wait for a handler that runs, however long it takes.
    sensor_receiver_snapshot snapshot() const { return core_->snapshot(); }

  private:
    struct initiate {
        Executor executor;
        using executor_type = Executor;
        executor_type get_executor() const noexcept { return executor; }

        template <class Handler>
        void operator()(Handler&& handler, const std::shared_ptr<detail::sensor_core>& core) const {
            using operation = detail::sensor_receive_operation;
            using handler_type = std::decay_t<Handler>;
            handler_type owned(std::forward<Handler>(handler));
            auto slot = asio::get_associated_cancellation_slot(owned);
            auto& engine = core->engine();
            operation* op = async::handler_operation<operation, handler_type, Executor>::make(
                std::move(owned), executor, engine.context(), engine.memory());
            op->id = core->next_id();
            if (slot.is_connected()) slot.assign(detail::cancel_sensor_operation{core, op->id});
            core->start(op);
        }
    };

    Executor executor_;
    std::shared_ptr<detail::sensor_core> core_;
};

using sensor_receiver = basic_sensor_receiver<>;

} // namespace rocio

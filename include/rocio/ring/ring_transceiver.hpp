#pragma once

#include <rocio/async/default_token.hpp>
#include <rocio/connect/async_connect.hpp>
#include <rocio/io/detail/context_of.hpp>
#include <rocio/ring/detail/ring_core.hpp>
#include <rocio/ring/ring_config.hpp>
#include <rocio/ring/ring_slot.hpp>
#include <rocio/ring/ring_snapshot.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace rocio {

/// What async_wait() waits for.
enum class ring_wait : std::uint8_t { received, received_or_sent };

/// Two rings of slots over a UC queue pair, as quantum controllers and CUDA-Q peers use them: messages come
/// into the receive ring by SEND or WRITE with immediate and leave from the send ring.
///
/// Each slot has a 64-bit flag. A receive flag becomes the address of the slot when a message has arrived
/// there, and whoever reads it sets it back to 0 (release). A send flag is set to the address of the data by
/// whoever wrote them (release), and becomes 0 when the slot may be written again. The slot of a SEND is the
/// one its receive was posted with; the slot of a WRITE is its immediate modulo the number of slots: a lost
/// packet costs one message and shifts nothing. How long a message is says its own header.
///
/// Three ways to use it: by flags (C code, other threads), by slot numbers (async_wait(), poll(), publish(),
/// release(): the slot_ring of rpc), or by leases (async_receive()). In unified mode no context runs:
/// rx_poll() and tx_publish() sweep the device on the caller's thread, and asynchronous operations end with
/// errc::unified_mode.
///
/// UC loses messages without telling: each loss costs that message, shows in the device's counters where it
/// has some, and the ring goes on.
///
/// Thread safety: distinct objects: safe. All members but construction, destruction and move may be called
/// from any thread; flags are atomic; rx_poll(), tx_publish() and, in unified mode, poll() from one thread.
template <class Executor = asio::any_io_executor>
class basic_ring_transceiver {
  public:
    using executor_type = Executor;
    template <class Other>
    struct rebind_executor {
        using other = basic_ring_transceiver<Other>;
    };

    /// Allocates the rings. Throws rocio::exception: errc::invalid_argument, errc::region_too_large,
    /// errc::unsupported_context.
    basic_ring_transceiver(const Executor& executor, const ring_config& config)
        : executor_(executor),
          core_(std::make_shared<detail::ring_core>(detail::engine_of(executor), config)) {}
    template <class Context>
    requires std::is_convertible_v<Context&, asio::execution_context&>
    basic_ring_transceiver(Context& context, const ring_config& config)
        : basic_ring_transceiver(Executor(context.get_executor()), config) {}

    basic_ring_transceiver(basic_ring_transceiver&&) noexcept = default;
    basic_ring_transceiver& operator=(basic_ring_transceiver&& other) noexcept {
        if (this == &other) return *this;
        if (core_) core_->stop();
        executor_ = other.executor_;
        core_ = std::move(other.core_);
        return *this;
    }
    /// stop(). Leases keep the memory.
    ~basic_ring_transceiver() {
        if (core_) core_->stop();
    }

    executor_type get_executor() const noexcept { return executor_; }
    const ring_config& config() const noexcept { return core_->config(); }

    /// Makes the queue pair, registers the rings, posts the receives; no effect when that is done already.
    /// async_connect() and connect() do it too. Errors: those of the device, errc::no_usable_gid,
    /// errc::path_mtu_too_large, errc::device_bound, errc::stopped. The first form throws rocio::exception.
    void setup() { throw_if(core_->setup()); }
    void setup(error_info& error) { error = core_->setup(); }
    /// Our side's numbers, complete after setup().
    local_parameters local() const { return core_->local(); }

    /// Connects by any handshake (tcp_connector, cudaq_caller, …); again after a disconnect, not after
    /// stop().
    ///
    /// Effect, executor, cancellation: as async_connect() for a queue pair. Errors: also
    /// errc::geometry_mismatch when the peer tells other slots than ours, errc::invalid_peer_parameters for a
    /// WRITE ring whose peer has no rkey. Completion signature: void(error_code); last_error() has the
    /// sentence.
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_connect(any_handshake how, Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code)>(detail::initiate_connect<Executor>{executor_},
                                                             token, std::shared_ptr<connectable>(core_),
                                                             std::move(how));
    }
    /// Connects with a peer whose numbers are known; at once. The first form throws rocio::exception.
    void connect(const peer_parameters& peer) { throw_if(core_->connect(peer)); }
    void connect(const peer_parameters& peer, error_info& error) { error = core_->connect(peer); }

    /// Takes the next filled slot as a lease.
    ///
    /// Effect: the oldest filled slot, or the next that is filled. Preconditions: none; before the connection
    /// is made it waits for it. Lifetimes: the lease may outlive the ring. Completion signature:
    /// void(error_code, ring_slot); the lease is empty when there is an error. Executor: the handler's,
    /// default this object's; never inside this call. Cancellation: `total`: nothing is taken. Errors:
    /// errc::stopped, the reason of the disconnect once nothing is left, errc::unified_mode,
    /// operation_aborted.
    template <asio::completion_token_for<void(error_code, ring_slot)> Token = default_token_t<Executor>>
    auto async_receive(Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code, ring_slot)>(
            initiate<detail::ring_receive_operation>{executor_}, token, core_);
    }
    /// Waits until poll() has something to give, or (unless told otherwise) a send is done, so that a slot
    /// may be free that was not. Completion signature: void(error_code). The rest as async_receive(); nothing
    /// is taken.
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_wait(ring_wait what, Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code)>(initiate<detail::ring_wait_operation>{executor_},
                                                             token, core_,
                                                             what == ring_wait::received_or_sent);
    }
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_wait(Token&& token = default_token_t<Executor>()) {
        return async_wait(ring_wait::received_or_sent, std::forward<Token>(token));
    }
    /// Ends what waits with operation_aborted.
    void cancel() { core_->cancel_all(asio::error::operation_aborted); }

    // ---- Slots by number: the slot_ring concept.

    std::uint32_t slot_count() const noexcept { return config().slots; }
    std::span<std::byte> rx_slot(std::uint32_t slot) const noexcept { return core_->memory()->rx_slot(slot); }
    std::span<std::byte> tx_slot(std::uint32_t slot) const noexcept { return core_->memory()->tx_slot(slot); }
    bool tx_free(std::uint32_t slot) const noexcept { return core_->tx_free(slot); }
    /// Sends the first `length` bytes of a send slot, in any order of slots. Errors: errc::queue_full when
    /// the slot's last message has not left, errc::message_too_long.
    error_code publish(std::uint32_t slot, std::size_t length) noexcept {
        return core_->publish(slot, length);
    }
    void release(std::uint32_t slot) noexcept { core_->release(slot); }
    /// Calls `f(slot)` for every slot filled and not yet taken, in order of arrival; each is held until
    /// release().
    template <class F>
    std::size_t poll(F f) {
        std::size_t n = 0;
        std::uint32_t slot = 0;
        for (; n < slot_count() && core_->take(slot); ++n) f(slot);
        return n;
    }

    // ---- Unified mode.

    /// Gives the next filled slot, after a sweep of the device unless an earlier one found it; false: none,
    /// or its send slot is still in use (then it is given later), or not connected. The slot's receive is
    /// posted again already.
    bool rx_poll(std::uint32_t& slot) { return core_->rx_poll(slot); }
    /// Sends frame_size bytes of a send slot, in any order of slots. Up to 256 bytes (or the device's inline
    /// limit) are copied: the slot is free at once; as many as one and a half times the slots, at most 96,
    /// may be under way. More are sent from the slot, one at a time. Until there is room this call waits,
    /// sweeping; stop() ends that. False: not connected, no such slot, the device refuses.
    bool tx_publish(std::uint32_t slot) { return core_->tx_publish(slot, config().frame_size); }
    /// The same with its first `length` bytes, 1 to slot_size.
    bool tx_publish(std::uint32_t slot, std::size_t length) { return core_->tx_publish(slot, length); }

    // ---- The rings as memory, for C code: slots x slot_size bytes and as many flags.

    std::span<std::byte> rx_data() const noexcept { return core_->memory()->rx(); }
    std::span<std::byte> tx_data() const noexcept { return core_->memory()->tx(); }
    std::uint64_t* rx_flags() const noexcept { return core_->memory()->rx_flags(); }
    std::uint64_t* tx_flags() const noexcept { return core_->memory()->tx_flags(); }
    /// To be called after writing a flag by hand when the engine may be waiting in the kernel (not spinning).
    void notify() noexcept { core_->memory()->note_change(); }

    /// Says goodbye, ends what waits with errc::stopped, destroys the queue pair, deregisters. Idempotent;
    /// any thread.
    void stop() { core_->stop(); }

    bool is_connected() const { return core_->is_connected(); }
    /// The last failure with its sentence.
    error_info last_error() const { return core_->last_error(); }
    /// Any thread; does not wait for a handler that runs, however long it takes.
    ring_snapshot snapshot() const { return core_->snapshot(); }

  private:
    template <class Operation>
    struct initiate {
        Executor executor;
        using executor_type = Executor;
        executor_type get_executor() const noexcept { return executor; }

        template <class Handler, class... Args>
        void operator()(Handler&& handler, const std::shared_ptr<detail::ring_core>& core,
                        Args... args) const {
            using handler_type = std::decay_t<Handler>;
            handler_type owned(std::forward<Handler>(handler));
            auto slot = asio::get_associated_cancellation_slot(owned);
            auto& engine = core->engine();
            Operation* op = async::handler_operation<Operation, handler_type, Executor>::make(
                std::move(owned), executor, engine.context(), engine.memory(), args...);
            op->id = core->next_id();
            if (slot.is_connected()) slot.assign(detail::cancel_ring_operation{core, op->id});
            core->start(op);
        }
    };

    Executor executor_;
    std::shared_ptr<detail::ring_core> core_;
};

using ring_transceiver = basic_ring_transceiver<>;

} // namespace rocio

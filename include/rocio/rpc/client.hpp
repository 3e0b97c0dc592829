#pragma once

#include <rocio/async/cancellation.hpp>
#include <rocio/async/default_token.hpp>
#include <rocio/async/io_context_of.hpp>
#include <rocio/async/operation.hpp>
#include <rocio/rpc/call_options.hpp>
#include <rocio/rpc/client_config.hpp>
#include <rocio/rpc/client_snapshot.hpp>
#include <rocio/rpc/detail/call_arguments.hpp>
#include <rocio/rpc/detail/client_core.hpp>
#include <rocio/rpc/function_id.hpp>
#include <rocio/rpc/signature.hpp>
#include <rocio/types/slot_ring.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace rocio::rpc {

namespace detail {

template <slot_ring Ring>
class ring_access_to final : public ring_access {
  public:
    explicit ring_access_to(Ring& ring) noexcept : ring_(ring) {}

    std::uint32_t slot_count() const override { return ring_.slot_count(); }
    std::span<std::byte> tx_slot(std::uint32_t slot) override { return ring_.tx_slot(slot); }
    bool tx_free(std::uint32_t slot) override { return ring_.tx_free(slot); }
    error_code publish(std::uint32_t slot, std::size_t length) override {
        return ring_.publish(slot, length);
    }
    Ring& ring() noexcept { return ring_; }

  private:
    Ring& ring_;
};

} // namespace detail

/// Calls functions at the other end of a slot ring; many at once, each with its deadline. Whoever polls the
/// ring gives it the received slots (on_response), or lets it poll (poll). An answer finds its call by the id
/// it echoes and by nothing else: not by its slot, not by its order. Answers to calls that have ended are
/// counted and dropped.
///
/// A call holds its send slot until it ends; further calls wait in the client, in order. A call that ended
/// without its answer gives its slot free, so the peer may still be busy with the slot's earlier request.
///
/// Lifetimes: the ring must outlive the client, the client its io_context or not. Handlers outlive it: the
/// destructor ends all calls with operation_aborted.
/// Thread safety: async_call(), cancel() and snapshot() from any thread; on_response(), on_tx_free(), poll(),
/// construction and destruction on the strand that polls the ring, which is the client's executor (any
/// executor of an io_context that one thread runs; otherwise a strand).
template <slot_ring Ring, class Executor = asio::any_io_executor>
class client {
  public:
    using executor_type = Executor;
    template <class Other>
    struct rebind_executor {
        using other = client<Ring, Other>;
    };

    /// Throws rocio::exception(errc::unsupported_context), std::bad_alloc.
    client(const Executor& executor, Ring& ring, const client_config& config = {})
        : executor_(executor), ring_(std::make_unique<detail::ring_access_to<Ring>>(ring)) {
        auto* context = async::io_context_of(executor);
        if (!context) throw exception({rocio::errc::unsupported_context, {}});
        core_ = std::make_shared<detail::client_core>(executor, *context, *ring_, config);
        core_->enlist();
    }
    template <class Context>
    requires std::is_convertible_v<Context&, asio::execution_context&>
    client(Context& context, Ring& ring, const client_config& config = {})
        : client(Executor(context.get_executor()), ring, config) {}

    client(client&&) noexcept = default;
    client& operator=(client&& other) noexcept {
        if (this == &other) return *this;
        if (core_) core_->close();
        executor_ = other.executor_;
        core_ = std::move(other.core_);
        ring_ = std::move(other.ring_);
        return *this;
    }
    ~client() {
        if (core_) core_->close();
    }

    executor_type get_executor() const noexcept { return executor_; }

    /// Calls the function `callee` with the signature's arguments, then optionally call_options (or a
    /// duration: the deadline), then optionally a completion token: `co_await
    /// client.async_call<std::int64_t(std::int64_t, std::int64_t)>("addThem", 2, 3)`.
    ///
    /// Effect: sends the request as soon as a send slot is free, in the order of the calls, and completes
    /// with the answer's result. The call begins when the token starts it (a deferred one when awaited).
    /// Preconditions: none.
    /// Lifetimes: arguments are copied; what a span or packed_view refers to must stay until the completion.
    /// Completion signature: void(error_code, R), for a void result void(error_code). R is
    /// default-constructed when there is an error. Executor: the handler's, default the client's; never
    /// inside this call, but inside on_response() and poll() where the executors are the same. Cancellation:
    /// `total`, `partial` and `terminal`, while waiting and in flight: the call ends at once with
    /// operation_aborted. A request that was sent is not recalled; the peer may carry it out.
    /// Errors: a code of status_category() with the answer's status; rpc::errc::deadline_exceeded (default
    /// deadline: client_config's, 1 s), rpc::errc::bad_response, rpc::errc::request_too_long;
    /// rocio::errc::queue_full; what the ring's publish reports; operation_aborted.
    /// Thread safety: any thread.
    template <call_signature Signature, class... Rest>
    requires detail::call_arguments<Signature, Executor, Rest...>
    auto async_call(function_id callee, Rest&&... rest) {
        using split = detail::split_arguments<Signature, Executor, Rest...>;
        auto all = std::forward_as_tuple(std::forward<Rest>(rest)...);
        auto&& token = split::token(all);
        using token_type = typename split::token_type;
        return asio::async_initiate<token_type, typename split::completion_signature>(
            initiate_call<Signature>{executor_}, token, core_, callee, split::options(all),
            split::arguments(all));
    }

    /// Ends all calls with operation_aborted.
    void cancel() { core_->cancel_all(); }

    /// A receive slot, from its first byte on; reads no further than the span. Calls the handler of the call
    /// it ends. What it needs of the span it has copied before any handler runs.
    answer on_response(std::span<const std::byte> slot) {
        const auto core = core_; // a handler may destroy the client
        const auto what = core->accept(slot);
        core->turn();
        return what;
    }
    /// A send slot may have become free: sends what waits. To be called after completions of sends.
    void on_tx_free() { core_->pump(); }

    /// One round: takes what the ring has received and releases it, then calls handlers, then sends what
    /// waits. Returns the number of slots taken.
    std::size_t poll() requires polled_slot_ring<Ring> {
        const auto core = core_;
        Ring& ring = ring_->ring();
        const std::size_t n = ring.poll([&](std::uint32_t slot) {
            core->accept(ring.rx_slot(slot));
            ring.release(slot);
        });
        core->turn();
        return n;
    }

    client_snapshot snapshot() const { return core_->snapshot(); }

  private:
    template <class Signature>
    struct initiate_call {
        Executor executor;
        using executor_type = Executor;
        executor_type get_executor() const noexcept { return executor; }

        template <class Handler>
        void operator()(Handler&& handler, const std::shared_ptr<detail::client_core>& core,
                        function_id callee, const call_options& options,
                        typename detail::typed_call<Signature>::arguments arguments) const {
            using handler_type = std::decay_t<Handler>;
            using call = detail::typed_call<Signature>;
            handler_type owned(std::forward<Handler>(handler));
            auto slot = asio::get_associated_cancellation_slot(owned);
            call* op = async::handler_operation<call, handler_type, Executor>::make(
                std::move(owned), executor, core->context(), core->memory(), callee, std::move(arguments));
            async::connect_slot(slot, core, *op);
            core->start(op, options.deadline);
        }
    };

    Executor executor_;
    std::unique_ptr<detail::ring_access_to<Ring>> ring_; // as long as the core uses it
    std::shared_ptr<detail::client_core> core_;
};

template <class Context, slot_ring Ring>
requires std::is_convertible_v<Context&, asio::execution_context&> client(Context&, Ring&)
->client<Ring>;
template <class Context, slot_ring Ring>
requires std::is_convertible_v<Context&, asio::execution_context&> client(Context&, Ring&,
                                                                          const client_config&)
->client<Ring>;

} // namespace rocio::rpc

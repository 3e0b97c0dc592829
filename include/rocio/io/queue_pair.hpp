#pragma once

#include <rocio/async/default_token.hpp>
#include <rocio/io/completion_queue.hpp>
#include <rocio/io/detail/context_of.hpp>
#include <rocio/io/detail/launch.hpp>
#include <rocio/io/detail/queue_pair_impl.hpp>
#include <rocio/io/inline_bytes.hpp>
#include <rocio/io/queue_pair_config.hpp>
#include <rocio/io/received_message.hpp>
#include <rocio/types/registered_buffer.hpp>
#include <rocio/types/remote_buffer.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>

#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace rocio {

/// A queue pair as an Asio I/O object. Connect it with async_connect() (rocio/connect/async_connect.hpp),
/// then send and receive. Move-only; a moved-from one may only be destroyed or assigned to. Moving does not
/// disturb operations.
///
/// Any number of operations may be outstanding; beyond send_depth and receive_depth they wait in the object,
/// in order. A queue pair without an outstanding operation is not served by the engine: a passive end keeps
/// async_wait_closed() or a receive outstanding.
///
/// Once closed (by close(), by an error, by its peer) every operation ends with errc::work_request_flushed,
/// new ones too, until async_connect() makes a fresh queue pair of it.
///
/// Thread safety: distinct objects: safe. Shared objects: unsafe; use them on their own executor. The context
/// may be run by several threads.
template <class Executor = asio::any_io_executor>
class basic_queue_pair {
    template <class>
    friend class basic_queue_pair;

  public:
    using executor_type = Executor;
    template <class Other>
    struct rebind_executor {
        using other = basic_queue_pair<Other>;
    };

    /// Makes a queue pair in RESET on `dev`. `executor` must be of an io_context (or a strand on one).
    /// Throws rocio::exception: errc::unsupported_context, errc::device_bound, errc::limit_exceeded,
    /// errc::invalid_argument.
    explicit basic_queue_pair(const Executor& executor, std::shared_ptr<device> dev,
                              const queue_pair_config& config = {})
        : executor_(executor),
          impl_(std::make_shared<detail::queue_pair_impl>(detail::engine_of(executor), std::move(dev), config,
                                                          nullptr)) {}
    /// The same for an execution context whose executor converts to Executor.
    template <class Context>
    requires std::is_convertible_v<Context&, asio::execution_context&>
    explicit basic_queue_pair(Context& context, std::shared_ptr<device> dev,
                              const queue_pair_config& config = {})
        : basic_queue_pair(Executor(context.get_executor()), std::move(dev), config) {}
    /// A queue pair whose completions go to `completions` as they are, for those who post work requests
    /// themselves. The async_ operations answer errc::invalid_state.
    template <class E>
    basic_queue_pair(basic_completion_queue<E>& completions, const queue_pair_config& config = {})
        : executor_(completions.get_executor()),
          impl_(std::make_shared<detail::queue_pair_impl>(detail::engine_of(executor_), completions.dev(),
                                                          config, completions.raw())) {}

    basic_queue_pair(basic_queue_pair&&) noexcept = default;
    /// From a queue pair with another type of executor. Outstanding operations keep theirs.
    template <class Other>
    requires std::is_convertible_v<Other, Executor>
    explicit basic_queue_pair(basic_queue_pair<Other>&& other) noexcept
        : executor_(other.executor_), impl_(std::move(other.impl_)) {}
    /// Ends what this object had, as the destructor does, and takes over the other.
    basic_queue_pair& operator=(basic_queue_pair&& other) noexcept {
        if (this != &other) take_over(other);
        return *this;
    }
    template <class Other>
    requires std::is_convertible_v<Other, Executor> basic_queue_pair&
    operator=(basic_queue_pair<Other>&& other) noexcept {
        take_over(other);
        return *this;
    }
    /// Says goodbye, destroys the queue pair and ends every operation with operation_aborted. The device
    /// touches no buffer afterwards.
    ~basic_queue_pair() {
        if (impl_) impl_->destroy_owner();
    }

    executor_type get_executor() const noexcept { return executor_; }
    qpn number() const noexcept { return impl_->number(); }
    queue_pair_state state() const noexcept { return impl_->state(); }
    /// Why the queue pair is in the error state; no error while it is not.
    error_code close_reason() const { return impl_->close_reason(); }
    /// The last failure with its sentence: why a connection could not be made or ended.
    error_info last_error() const { return impl_->last_error(); }
    /// The peer as the handshake learned it, with its region for RDMA; empty before async_connect().
    peer_parameters peer() const { return impl_->peer(); }
    /// What the device counted; false where it does not count.
    bool counters(device_queue_pair_counters& out) const { return impl_->counters(out); }
    /// What the status shows of it. Any thread, while nobody moves, assigns or destroys this object; never
    /// waits for a handler.
    queue_pair_snapshot snapshot() const { return impl_->snapshot(); }

    /// Sends a message.
    ///
    /// Effect: posts one SEND. Messages of one queue pair arrive in the order of their posting.
    /// Preconditions: connected; otherwise the operation ends with errc::invalid_state.
    /// Lifetimes: the bytes of `buffer` must stay registered and unchanged until the completion. The queue
    /// pair may be moved or destroyed before. Completion signature: void(error_code). The peer has the
    /// message when it ends without error (RC). Executor: the handler's, default this object's; never inside
    /// this call. Cancellation: `terminal` only: a posted work request cannot be recalled, so the whole queue
    /// pair goes to the error state: this operation ends with operation_aborted (or with success, if it was
    /// quicker), the others with errc::work_request_flushed. An operation that still waits in the object for
    /// a place in the queue is taken out by `partial` and `total` too, without any effect on the others.
    /// Errors: errc::invalid_state, errc::work_request_flushed, the completion errors of errc,
    /// operation_aborted. Thread safety: as the object.
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_send(registered_buffer buffer, Token&& token = default_token_t<Executor>()) {
        return initiate_send(request_of(opcode::send, buffer), std::forward<Token>(token));
    }
    /// Sends a few bytes that need no registration.
    ///
    /// Effect, preconditions, completion signature, executor, cancellation, thread safety: as async_send()
    /// above. Lifetimes: the bytes are copied when the operation starts: within this call for a callback, at
    /// the co_await for a lazy token (deferred, use_awaitable); they may change afterwards. Errors: the same,
    /// and errc::inline_too_long for more than queue_pair_config::max_inline bytes.
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_send(inline_bytes data, Token&& token = default_token_t<Executor>()) {
        return initiate_send(request_of(opcode::send, data), std::forward<Token>(token));
    }
    /// Sends a message with 32 bits of immediate data (host order).
    ///
    /// Effect: posts one SEND with immediate; the peer's receive gets the number with the message. Everything
    /// else as async_send() above.
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_send_with_immediate(registered_buffer buffer, std::uint32_t immediate,
                                   Token&& token = default_token_t<Executor>()) {
        auto request = request_of(opcode::send_with_immediate, buffer);
        request.immediate = immediate;
        return initiate_send(request, std::forward<Token>(token));
    }
    /// The same with a few bytes that need no registration; as async_send(inline_bytes).
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_send_with_immediate(inline_bytes data, std::uint32_t immediate,
                                   Token&& token = default_token_t<Executor>()) {
        auto request = request_of(opcode::send_with_immediate, data);
        request.immediate = immediate;
        return initiate_send(request, std::forward<Token>(token));
    }

    /// Writes into the peer's memory.
    ///
    /// Effect: posts one RDMA WRITE of `from` to the first from.size bytes of `to`; the peer's program is not
    /// told. Preconditions: connected; the peer granted memory_access::remote_write for its region and its
    /// queue pair. Lifetimes, completion signature, executor, cancellation, thread safety: as async_send().
    /// When it ends without error the bytes are in the peer's memory (RC), or have left (UC).
    /// Errors: as async_send(); errc::not_in_region when `from` is longer than `to`;
    /// errc::remote_access_error or errc::remote_invalid_request when the peer refuses, which ends the
    /// connection; from a UC peer that refuses there is no answer.
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_write(registered_buffer from, remote_buffer to, Token&& token = default_token_t<Executor>()) {
        return initiate_remote(request_of(opcode::rdma_write, from), to, std::forward<Token>(token));
    }
    /// The same with a few bytes that need no registration; as async_send(inline_bytes).
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_write(inline_bytes from, remote_buffer to, Token&& token = default_token_t<Executor>()) {
        return initiate_remote(request_of(opcode::rdma_write, from), to, std::forward<Token>(token));
    }
    /// Writes into the peer's memory and tells its program by 32 bits of immediate data (host order).
    ///
    /// Effect: posts one RDMA WRITE with immediate: it uses up one receive of the peer, which ends with
    /// received_message::by_write, the number and the length written. Everything else as async_write().
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_write_with_immediate(registered_buffer from, remote_buffer to, std::uint32_t immediate,
                                    Token&& token = default_token_t<Executor>()) {
        auto request = request_of(opcode::rdma_write_with_immediate, from);
        request.immediate = immediate;
        return initiate_remote(request, to, std::forward<Token>(token));
    }
    /// Reads the peer's memory.
    ///
    /// Effect: posts one RDMA READ of the first into.size bytes of `from`. Preconditions: connected, RC; the
    /// peer granted memory_access::remote_read for its region and its queue pair. Lifetimes: the bytes of
    /// `into` must stay registered (memory_access::local_write) and belong to the device until the
    /// completion. Everything else as async_write(); UC queue pairs answer errc::not_supported.
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_read(registered_buffer into, remote_buffer from, Token&& token = default_token_t<Executor>()) {
        return initiate_remote(request_of(opcode::rdma_read, into), from, std::forward<Token>(token));
    }

    /// Receives one message.
    ///
    /// Effect: posts one receive. Receives are used in the order of their posting; a message longer than the
    /// buffer ends with errc::local_length_error, and the queue pair with it. Preconditions: may be called
    /// from the start: before async_connect() it waits in the object, and is posted before the peer can send.
    /// After the end of a connection it ends with errc::work_request_flushed. Lifetimes: the bytes of
    /// `buffer` must stay registered until the completion; they belong to the device till then. Completion
    /// signature: void(error_code, received_message). Executor: the handler's, default this object's; never
    /// inside this call. Cancellation: as async_send(): `terminal` only once it is posted. Errors:
    /// errc::local_length_error, errc::work_request_flushed, the completion errors of errc,
    /// operation_aborted. Thread safety: as the object.
    template <
        asio::completion_token_for<void(error_code, received_message)> Token = default_token_t<Executor>>
    auto async_receive(registered_buffer buffer, Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code, received_message)>(
            initiate<detail::receive_operation>{executor_}, token, impl_, receive_request{{}, buffer});
    }

    /// Waits until the queue pair is closed.
    ///
    /// Effect: completes when the queue pair is closed by its peer, by an error or by close(); at once if it
    /// is closed already. Keeps the engine serving a queue pair that has nothing else outstanding.
    /// Preconditions: none.
    /// Lifetimes: the queue pair may be moved or destroyed before.
    /// Completion signature: void(error_code): the reason, never success.
    /// Executor: the handler's, default this object's; never inside this call.
    /// Cancellation: `terminal`, `partial` and `total`: no effect on the queue pair.
    /// Errors: what ended the connection (errc::retry_exceeded, errc::peer_closed, …); operation_aborted for
    /// close(), cancel() and destruction. Thread safety: as the object.
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_wait_closed(Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code)>(
            initiate<detail::closed_wait_operation>{executor_}, token, impl_);
    }

    /// Ends the waits (async_wait_closed) with operation_aborted. Posted work requests stay: see close().
    void cancel() { impl_->cancel_waits(); }
    /// Says goodbye and moves the queue pair to the error state: everything posted ends with
    /// errc::work_request_flushed, within 200 ms even if the device forgets some of it.
    void close() { impl_->close(); }

    /// Posts work requests as they are, for a queue pair made with a completion_queue; `id.slot` comes back
    /// in the completion. Gives how many were accepted and why the next was not: errc::queue_full when the
    /// device's queue is full, or when as many completions wait untaken as the completion_queue is deep.
    post_outcome post_send(std::span<const send_request> requests) noexcept {
        return impl_->post_send(requests);
    }
    post_outcome post_receive(std::span<const receive_request> requests) noexcept {
        return impl_->post_receive(requests);
    }

    /// For async_connect().
    std::shared_ptr<connectable> as_connectable() const noexcept { return impl_; }

  private:
    using impl_ptr = std::shared_ptr<detail::queue_pair_impl>;

    template <class Operation>
    struct initiate {
        Executor executor;
        using executor_type = Executor;
        executor_type get_executor() const noexcept { return executor; }

        template <class Handler, class... Args>
        void operator()(Handler&& handler, const impl_ptr& impl, const Args&... args) const {
            detail::launch<Operation>(std::forward<Handler>(handler), executor, impl, args...);
        }
    };

    template <class Other>
    void take_over(basic_queue_pair<Other>& other) noexcept {
        if (impl_) impl_->destroy_owner();
        executor_ = other.executor_;
        impl_ = std::move(other.impl_);
    }

    static send_request request_of(opcode op, registered_buffer buffer) noexcept {
        send_request r;
        r.op = op;
        r.buffer = buffer;
        return r;
    }
    static send_request request_of(opcode op, inline_bytes data) noexcept {
        send_request r;
        r.op = op;
        r.inlined = true;
        r.inline_data = data.data;
        return r;
    }
    template <class Token>
    auto initiate_send(const send_request& request, Token&& token, errc refusal = errc::success) {
        return asio::async_initiate<Token, void(error_code)>(initiate<detail::send_operation>{executor_},
                                                             token, impl_, request, refusal);
    }
    template <class Token>
    auto initiate_remote(send_request request, const remote_buffer& where, Token&& token) {
        request.remote_address = where.address;
        request.remote_key = where.key;
        return initiate_send(request, std::forward<Token>(token),
                             request.length() > where.size ? errc::not_in_region : errc::success);
    }

    Executor executor_;
    impl_ptr impl_;
};

using queue_pair = basic_queue_pair<>;

} // namespace rocio

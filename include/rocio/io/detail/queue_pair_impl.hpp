#pragma once

#include <rocio/async/operation.hpp>
#include <rocio/io/completion_engine.hpp>
#include <rocio/io/detail/queue_pair_core.hpp>
#include <rocio/io/detail/work_queue.hpp>
#include <rocio/io/queue_pair_snapshot.hpp>
#include <rocio/io/received_message.hpp>
#include <rocio/types/work_request.hpp>

#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace rocio {

class raw_completions;

namespace detail {

/// A send with its work request; completes with void(error_code).
class send_operation : public async::operation<> {
  public:
    send_request request;
    errc refusal; ///< Why it must not be posted.
    bool cancelled = false;

    /// Copies the inline bytes, for an operation that is posted later. False: no memory.
    bool keep_inline_data(async::operation_memory& memory) noexcept;

  protected:
    send_operation(function f, const send_request& r, errc no) noexcept
        : operation(f), request(r), refusal(no) {}
    ~send_operation() {
        if (memory_) [[unlikely]]
            drop_inline_data();
    }

  private:
    void drop_inline_data() noexcept;

    async::operation_memory* memory_ = nullptr;
};

/// A receive with its work request; completes with void(error_code, received_message).
class receive_operation : public async::operation<received_message> {
  public:
    receive_request request;
    bool cancelled = false;

    /// Once, of an operation without a result.
    void take(const work_completion& completion) noexcept {
        auto& message = std::get<1>(result_);
        message.size = completion.byte_len;
        message.by_write = completion.op == completion_opcode::receive_rdma_write_with_immediate;
        if (completion.has_immediate) message.immediate.emplace(completion.immediate);
    }

  protected:
    receive_operation(function f, const receive_request& r) noexcept : operation(f), request(r) {}
    ~receive_operation() = default;
};

/// A wait for the end of the queue pair; completes with void(error_code).
class closed_wait_operation : public async::operation<> {
  protected:
    using operation::operation;
    ~closed_wait_operation() = default;
};

/// Everything of a queue_pair that does not depend on its executor's type.
class queue_pair_impl final : public completion_sink,
                              public connectable,
                              public std::enable_shared_from_this<queue_pair_impl> {
  public:
    /// Throws rocio::exception.
    queue_pair_impl(completion_engine& engine, std::shared_ptr<device> dev, const queue_pair_config& config,
                    std::shared_ptr<raw_completions> raw);
    ~queue_pair_impl() override;

    completion_engine& engine() const noexcept { return core_.engine(); }

    void start(send_operation* op);
    void start(receive_operation* op);
    void start(closed_wait_operation* op);
    void cancel(const void* key, asio::cancellation_type type);
    void cancel_waits();
    /// The owning object is gone: everything ends with operation_aborted.
    void destroy_owner();
    void close();

    qpn number() const noexcept;
    queue_pair_state state() const noexcept;
    error_code close_reason() const;
    error_info last_error() const;
    peer_parameters peer() const;
    bool counters(device_queue_pair_counters& out) const;
    queue_pair_snapshot snapshot() const;

    post_outcome post_send(std::span<const send_request> requests) noexcept;
    post_outcome post_receive(std::span<const receive_request> requests) noexcept;

    asio::any_io_executor control_executor() override;
    error_info prepare(local_parameters& out) override;
    void connecting(std::unique_ptr<liveness> attempt) override { connected(std::move(attempt)); }
    error_info establish(const peer_parameters& peer) override;
    void connected(std::unique_ptr<liveness> watch) override;
    void disconnected(const error_info& cause) override;

    void on_completion(const work_completion& completion) noexcept override;
    void on_completions(std::span<const work_completion> batch) noexcept override;
    void on_device_event(const device_event& event) noexcept override;
    void on_shutdown(async::operation_queue<>& pending) noexcept override;

  private:
    template <class Operation>
    void start_work(work_queue<Operation>& queue, Operation* op);
    template <class Operation>
    void start_contended(Operation* op);
    template <class Operation>
    void start_with_care(Operation* op);
    template <class Operation>
    void start_unposted(Operation* op, errc reason);
    work_queue<send_operation>& queue_of(const send_operation*) noexcept { return sends_; }
    work_queue<receive_operation>& queue_of(const receive_operation*) noexcept { return receives_; }
    void name_places() noexcept;
    template <class Operation>
    void begin(work_queue<Operation>& queue, Operation* op) noexcept;
    bool is_plain(const send_operation& op) const noexcept;
    static bool is_plain(const receive_operation&) noexcept { return true; }
    errc check(const send_operation& op, queue_pair_state state) const noexcept;
    errc check(const receive_operation& op, queue_pair_state state) const noexcept;
    template <class Operation>
    errc refusal(const Operation& op, queue_pair_state state) const noexcept;
    template <class Operation>
    void refuse(Operation* op, const error_code& why) noexcept;
    template <class Operation>
    errc post(work_queue<Operation>& queue, Operation* op) noexcept;
    template <class Operation>
    bool end_unless_full(work_queue<Operation>& queue, Operation* op, errc reason) noexcept;
    template <class Operation>
    void keep(work_queue<Operation>& queue, Operation* op) noexcept;
    template <class Operation>
    bool take_completion(work_queue<Operation>& queue, const work_completion& completion) noexcept;
    template <class Operation>
    static Operation* succeed(work_queue<Operation>& queue, const work_completion& completion) noexcept;
    const work_completion* take_successes(const work_completion* at, const work_completion* end) noexcept;
    void on_other_completions(std::span<const work_completion> batch) noexcept;
    void on_other_completion(const work_completion& completion) noexcept;
    template <class Operation>
    void fail(Operation* op, const error_code& ec) noexcept;
    template <class Operation>
    void refill(work_queue<Operation>& queue) noexcept;
    template <class Operation>
    bool cancel_in(work_queue<Operation>& queue, const void* key, asio::cancellation_type type) noexcept;
    template <class Operation>
    void finish_posted(work_queue<Operation>& queue, const error_code& ec) noexcept;
    template <class Operation>
    void finish_waiting(work_queue<Operation>& queue, const error_code& ec) noexcept;
    template <class Operation>
    void take_all(work_queue<Operation>& queue, async::operation_queue<>& pending) noexcept;
    template <class Request>
    post_outcome post_raw(std::span<const Request> requests) noexcept;

    post_outcome device_post(std::span<const send_request> r) noexcept { return core_.pair().post_send(r); }
    post_outcome device_post(std::span<const receive_request> r) noexcept {
        return core_.pair().post_receive(r);
    }
    bool nothing_posted() const noexcept { return sends_.idle() && receives_.idle(); }
    void enter_closed(const error_code& cause) noexcept;
    void set_closed(const error_code& reason) noexcept;
    void destroy_pair(const error_code& posted_end_with) noexcept;
    void begin_drain() noexcept;
    void end_drain() noexcept;
    void drain_timed_out(std::uint32_t round) noexcept;
    void complete_waits(const error_code& ec) noexcept;
    void release_watch() noexcept;

    queue_pair_core core_;
    bool usual_ = false; ///< Not closed, and its completions are of operations.
    work_queue<send_operation> sends_;
    work_queue<receive_operation> receives_;
    std::shared_ptr<raw_completions> raw_;
    async::operation_queue<closed_wait_operation> closed_waits_;
    std::unique_ptr<liveness> watch_;
    error_code close_reason_{};
    error_info last_error_{};
    peer_parameters peer_{};
    asio::steady_timer drain_timer_;
    std::uint32_t drain_round_ = 0; ///< Tells the drain in progress from those before.
    bool draining_ = false;
};

} // namespace detail
} // namespace rocio

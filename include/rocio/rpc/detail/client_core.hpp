#pragma once

#include <rocio/async/operation.hpp>
#include <rocio/async/operation_memory.hpp>
#include <rocio/rpc/client_config.hpp>
#include <rocio/rpc/client_snapshot.hpp>
#include <rocio/rpc/detail/call_base.hpp>
#include <rocio/rpc/detail/deadline_heap.hpp>
#include <rocio/rpc/detail/pending_table.hpp>
#include <rocio/rpc/response_header.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace rocio::rpc {

/// What a received slot was to a client.
enum class answer : std::uint8_t {
    delivered,  ///< Ended a call.
    late,       ///< To a call that had ended without an answer.
    duplicate,  ///< To a call that had had its answer.
    foreign,    ///< To no call of this client.
    not_answer, ///< Shorter than a header, or without a response's magic.
};

namespace detail {

/// The sending half of a slot ring without its type.
class ring_access {
  public:
    virtual ~ring_access() = default;
    virtual std::uint32_t slot_count() const = 0;
    virtual std::span<std::byte> tx_slot(std::uint32_t slot) = 0;
    virtual bool tx_free(std::uint32_t slot) = 0;
    virtual error_code publish(std::uint32_t slot, std::size_t length) = 0;
};

/// A client without its types. Members marked *home* are for the polling strand, the others for any thread.
/// No lock is held while a handler runs.
class client_core : public std::enable_shared_from_this<client_core> {
  public:
    client_core(asio::any_io_executor home, asio::io_context& context, ring_access& ring,
                const client_config& config);
    ~client_core();
    client_core(const client_core&) = delete;
    client_core& operator=(const client_core&) = delete;
    /// Makes it known to its context; once, after construction.
    void enlist();

    void start(call_base* call, const std::optional<std::chrono::nanoseconds>& deadline);
    /// For async::slot_cancellation.
    void cancel(const void* key, asio::cancellation_type type);
    void cancel_all();
    client_snapshot snapshot() const;

    answer accept(std::span<const std::byte> response); ///< *home*: calls no handler.
    void turn();                                        ///< *home*: sends what can be sent, calls handlers.
    void pump();                                        ///< *home*: sends what can be sent.
    void close();                                       ///< *home*: the client object is gone.
    void shutdown() noexcept;                           ///< The context ends.

    asio::io_context& context() noexcept { return context_; }
    async::operation_memory& memory() noexcept { return memory_; }

  private:
    class upcall_guard;
    using operations = async::operation_queue<call_base>;
    using time_point = call_base::time_point;

    error_code refusal(const call_base& call) const noexcept;
    void enqueue(call_base* call);
    std::optional<std::uint32_t> free_slot();
    void send(call_base& call, std::uint32_t slot);
    std::uint64_t take_id() noexcept;
    void finish(call_base& call, const error_code& ec, std::uint64_t& counter) noexcept;
    void make_ready(call_base& call) noexcept;
    void leave_flight(call_base& call, bool answered) noexcept;
    void end_all(const error_code& ec) noexcept;
    operations take_all() noexcept;
    void expire();
    void settle(call_base& call, const response_header& header, std::span<const std::byte> results) noexcept;
    answer classify(const response_header& header) noexcept;
    operations pump_and_take_ready();
    void call_back(operations& batch);
    void arm_timer();
    void rest_timer();
    void schedule_pump(std::unique_lock<std::mutex>& lock);
    void schedule_turn(std::unique_lock<std::mutex>& lock);

    // Before everything that holds operations, which live in it.
    async::operation_memory memory_;
    asio::io_context& context_;
    asio::any_io_executor home_;
    const bool home_is_context_;
    const client_config config_;
    const std::size_t slot_size_;

    mutable std::mutex mutex_;
    ring_access* ring_; ///< Null once closed.
    bool shut_down_ = false;
    bool enlisted_ = false;
    bool pump_scheduled_ = false;
    bool turn_scheduled_ = false;

    operations waiting_;
    operations ready_;
    pending_table pending_;
    deadline_heap deadlines_;
    std::vector<bool> busy_; ///< Send slots of calls in flight.
    std::uint32_t cursor_ = 0;
    std::size_t outstanding_ = 0;
    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work_;

    std::uint64_t first_id_;
    std::uint64_t next_id_;
    std::vector<std::uint64_t> abandoned_; ///< Ids that ended without an answer, the latest ones; a ring.
    std::size_t abandoned_at_ = 0;

    std::optional<asio::steady_timer> timer_; ///< *home*, with the lock.
    std::optional<time_point> armed_until_;
    time_point latest_{}; ///< What the clock told last.

    client_snapshot counters_;
    latency_histogram latency_;
};

} // namespace detail
} // namespace rocio::rpc

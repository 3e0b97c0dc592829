#pragma once

#include <rocio/io/detail/slot_fifo.hpp>
#include <rocio/stream/detail/receive_operations.hpp>
#include <rocio/stream/view_options.hpp>

#include <boost/asio/cancellation_type.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rocio {

class completion_engine;

namespace detail {

class receive_core;

/// One view: its queue of frames and its waiting operations. Made and used by receive_core under the engine's
/// lock.
class view_state {
  public:
    view_state(std::shared_ptr<receive_core> core, std::optional<std::uint8_t> channel,
               const view_options& options);
    ~view_state();
    view_state(const view_state&) = delete;
    view_state& operator=(const view_state&) = delete;

    /// Entry points of the view object; any thread.
    void start(receive_one_operation* op);
    void start(receive_some_operation* op);
    void start(receive_batch_operation* op);
    void cancel(std::uint64_t id);
    void cancel_all(const error_code& ec);
    /// The view object is gone: operations end, queued frames go back.
    void destroy_owner();
    std::uint64_t next_id() noexcept { return last_id_.fetch_add(1, std::memory_order_relaxed) + 1; }

    completion_engine& engine() noexcept { return engine_; }
    std::string name() const;
    std::optional<std::uint8_t> channel() const noexcept { return channel_; }

    /// *locked* from here on. Frames in the order of their arrival, at least one.
    void deliver(slot_range slots) noexcept;
    /// The operation's handler is about to be called.
    void stop_filling(const receive_some_operation* op) noexcept {
        if (filling_ == op) filling_ = nullptr;
    }
    void complete_all(const error_code& ec);
    void take_operations(async::operation_queue<>& pending) noexcept;
    std::uint32_t queued() const noexcept { return queued_.size(); }
    std::uint64_t delivered() const noexcept { return arrived_ - dropped_ - queued_.size(); }
    std::uint64_t dropped() const noexcept { return dropped_; }

  private:
    template <class Operation>
    void start_operation(Operation* op);
    template <class Operation>
    void start_contended(Operation* op);
    template <class Operation>
    void start_entered(Operation* op);
    async::operation_queue<receive_one_operation>& waiting(const receive_one_operation*) noexcept {
        return waiting_one_;
    }
    async::operation_queue<receive_some_operation>& waiting(const receive_some_operation*) noexcept {
        return waiting_some_;
    }
    async::operation_queue<receive_batch_operation>& waiting(const receive_batch_operation*) noexcept {
        return waiting_batch_;
    }
    void take_queued(receive_one_operation* op) noexcept { op->take(pool_, queued_.pop()); }
    void take_queued(receive_some_operation* op) noexcept;
    void take_queued(receive_batch_operation* op) noexcept;
    bool others_wait() const noexcept { return !waiting_some_.empty() || !waiting_batch_.empty(); }
    bool have_one_lease(const slot_range& slots) const noexcept;
    std::uint32_t fill(const slot_range& slots) noexcept;
    std::uint32_t give_to_waiting(const slot_range& slots) noexcept;
    std::uint32_t give_to_batch(receive_batch_operation* op, const slot_range& slots) noexcept;
    std::uint32_t give_to_some(receive_some_operation* op, const slot_range& slots) noexcept;
    void queue(const slot_range& slots) noexcept;
    void queue_in_place_of_oldest(const slot_range& slots) noexcept;
    void drop_queued() noexcept;

    std::shared_ptr<receive_core> core_;
    completion_engine& engine_;
    slot_pool& pool_; ///< The core's.
    std::optional<std::uint8_t> channel_;
    std::uint32_t limit_; ///< Frames that it keeps.
    slot_fifo queued_;
    bool queued_have_one_lease_ = true; ///< All of them; false: perhaps not.
    async::operation_queue<receive_one_operation> waiting_one_;
    async::operation_queue<receive_some_operation> waiting_some_;
    async::operation_queue<receive_batch_operation> waiting_batch_;
    receive_some_operation* filling_ = nullptr; ///< Ready, not yet called, with room for more.
    std::atomic<std::uint64_t> last_id_{0};
    std::uint64_t arrived_ = 0; ///< Frames.
    std::uint64_t dropped_ = 0;
};

/// Lives in a handler's cancellation slot. The handler may run on another context, so the operation may be
/// gone when this is called: it is named by number, not by address.
struct cancel_receive {
    std::weak_ptr<view_state> view;
    std::uint64_t id;
    void operator()(asio::cancellation_type type) const {
        auto target = view.lock();
        if (target && type != asio::cancellation_type::none) target->cancel(id);
    }
};

} // namespace detail
} // namespace rocio

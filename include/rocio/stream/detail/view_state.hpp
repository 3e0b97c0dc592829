#pragma once

#include <rocio/stream/detail/receive_operations.hpp>
#include <rocio/stream/view_options.hpp>

#include <boost/asio/cancellation_type.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
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
    void cancel(std::uint64_t id);
    void cancel_all(const error_code& ec);
    /// The view object is gone: operations end, queued frames go back.
    void destroy_owner();
    std::uint64_t next_id() noexcept;

    completion_engine& engine() noexcept;
    std::string name() const;
    std::optional<std::uint8_t> channel() const noexcept { return channel_; }

    /// *locked* from here on.
    void deliver(const queued_frame& entry);
    void complete_all(const error_code& ec);
    void take_operations(async::operation_queue<>& pending) noexcept;
    std::size_t take_more(std::span<frame> out);
    std::uint32_t queued() const noexcept { return count_; }
    std::uint64_t delivered() const noexcept { return delivered_; }
    std::uint64_t dropped() const noexcept { return dropped_; }

  private:
    void finish_one(receive_one_operation* op, const queued_frame& entry);
    void finish_some(receive_some_operation* op, const queued_frame& entry);
    queued_frame pop() noexcept;
    void drop_queued() noexcept;

    std::shared_ptr<receive_core> core_;
    std::optional<std::uint8_t> channel_;
    view_options options_;
    std::vector<queued_frame> ring_;
    std::uint32_t head_ = 0;
    std::uint32_t count_ = 0;
    async::operation_queue<receive_one_operation> waiting_one_;
    async::operation_queue<receive_some_operation> waiting_some_;
    std::atomic<std::uint64_t> last_id_{0};
    std::uint64_t delivered_ = 0;
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

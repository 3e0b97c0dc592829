#pragma once

#include "verbs/device_core.hpp"

#include <rocio/device/device_completion_queue.hpp>

#include <memory>
#include <utility>

namespace rocio::verbs {

class verbs_completion_queue final : public device_completion_queue {
  public:
    static error_info make(std::shared_ptr<device_core> core, std::uint32_t depth,
                           std::unique_ptr<device_completion_queue>& out);

    /// What the device gave, which may be more than was asked for.
    std::uint32_t depth() const noexcept override { return static_cast<std::uint32_t>(handle_->cqe); }
    std::size_t poll(std::span<work_completion> out, errc& error) noexcept override;
    /// For every completion, not only for solicited ones: senders such as FPGAs leave the bit clear.
    errc arm() noexcept override;

    ibv_cq* handle() const noexcept { return handle_.get(); }
    const device_core* core() const noexcept { return core_.get(); }

    /// Counts an event taken from the channel; puts the queue onto the list `head` when it is the first.
    void count_event(verbs_completion_queue*& head) noexcept {
        if (events_++ == 0) next_counted_ = std::exchange(head, this);
    }
    /// Gives the next of the list.
    verbs_completion_queue* acknowledge_events() noexcept {
        ibv_ack_cq_events(handle_.get(), std::exchange(events_, 0U));
        return std::exchange(next_counted_, nullptr);
    }

  private:
    explicit verbs_completion_queue(std::shared_ptr<device_core> core) : core_(std::move(core)) {}

    std::size_t poll_more(std::span<work_completion> out) noexcept;

    std::shared_ptr<device_core> core_; // outlives the handle
    completion_queue_handle handle_;
    unsigned events_ = 0;
    verbs_completion_queue* next_counted_ = nullptr;
};

} // namespace rocio::verbs

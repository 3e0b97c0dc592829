#pragma once

#include <rocio/device/device_completion_queue.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace rocio::soft {

class device_core;

/// A ring of completions. Queue pairs write into its free places directly; what a destroyed queue pair left
/// in it stays until it is polled.
class soft_completion_queue final : public device_completion_queue {
  public:
    soft_completion_queue(std::shared_ptr<device_core> core, std::uint32_t depth)
        : core_(std::move(core)), ring_(depth) {}

    std::uint32_t depth() const noexcept override { return static_cast<std::uint32_t>(ring_.size()); }
    /// After a completion found no place: what was queued, then errc::local_operation_error for ever.
    std::size_t poll(std::span<work_completion> out, errc& error) noexcept override;
    /// Completions appear only inside calls of the owner's thread, so there is nothing to arm.
    errc arm() noexcept override { return errc::success; }

    /// Free places in one piece, to be filled from the front; empty when the ring is full.
    std::span<work_completion> free_places() noexcept;
    void filled(std::size_t n) noexcept { size_ += n; }
    /// True at the first time.
    bool mark_overrun() noexcept { return !std::exchange(overrun_, true); }

    const device_core* core() const noexcept { return core_.get(); }

  private:
    std::shared_ptr<device_core> core_;
    std::vector<work_completion> ring_;
    std::size_t first_ = 0;
    std::size_t size_ = 0;
    bool overrun_ = false;
};

} // namespace rocio::soft

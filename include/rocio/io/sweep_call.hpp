#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace rocio {

/// Calls for one sweep of a sink that the engine does not look at otherwise (see
/// completion_engine::add_sweeper()). Does not wake an engine that waits. A default-made one does nothing;
/// one may outlive its sink and its engine, and does nothing then. Any thread.
class sweep_call {
  public:
    using word = std::atomic<std::uint64_t>;

    sweep_call() noexcept = default;
    sweep_call(std::shared_ptr<word> flags, std::uint64_t bit) noexcept
        : flags_(std::move(flags)), bit_(bit) {}

    void operator()() const noexcept {
        if (flags_) flags_->fetch_or(bit_, std::memory_order_release);
    }

  private:
    std::shared_ptr<word> flags_;
    std::uint64_t bit_ = 0;
};

} // namespace rocio

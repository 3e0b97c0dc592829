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
    /// Of up to 64 sinks. The first one's `any` is everybody's, so that an engine looks at one word while
    /// nobody called; and its `sinks` are on one line, which goes to who calls and back.
    struct alignas(64) board {
        std::shared_ptr<board> first; ///< Null: this one.
        std::atomic<bool> any{false};
        std::atomic<std::uint64_t> sinks{0};
    };

    sweep_call() noexcept = default;
    sweep_call(std::shared_ptr<board> calls, std::uint64_t bit) noexcept
        : calls_(std::move(calls)), bit_(bit) {}

    void operator()() const noexcept {
        if (!calls_) return;
        calls_->sinks.fetch_or(bit_, std::memory_order_relaxed);
        // An exchange, so that the engine's own sees what everybody wrote before, not only the last one.
        auto& first = calls_->first ? *calls_->first : *calls_;
        first.any.exchange(true, std::memory_order_acq_rel);
    }

  private:
    std::shared_ptr<board> calls_;
    std::uint64_t bit_ = 0;
};

} // namespace rocio

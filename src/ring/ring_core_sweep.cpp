#include <rocio/ring/detail/ring_core.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>

namespace rocio::detail {

// ---- The engine's turn, or the caller's thread

bool ring_core::on_park() noexcept {
    if (!active_ || !uses_flags()) return true;
    memory_->arm();
    std::atomic_thread_fence(std::memory_order_seq_cst);
    for (const auto& run : held_.runs())
        for (auto slot = run.slot; run.has(slot); ++slot)
            if (ring_memory::load(memory_->rx_flags()[slot]) == 0) return false;
    if (!sends() || phase_ != phase::connected) return true;
    for (std::uint32_t slot = 0; slot < config_.slots; ++slot)
        if (tx_[slot] == send_state::idle && ring_memory::load(memory_->tx_flags()[slot]) != 0) return false;
    return true;
}

// ---- Unified mode

/// A clock is read for it, so only where it does anything.
[[gnu::noinline]] void ring_core::progress() noexcept {
    (void)config_.device->progress(std::chrono::steady_clock::now());
}

[[gnu::noinline]] void ring_core::sweep_device() noexcept {
    if (needs_progress_) progress();
    core_.poll([this](std::span<const work_completion> found) { ring_core::on_completions(found); });
    if (active_) (void)post_receives();
}

inline bool ring_core::may_answer(std::uint32_t slot) noexcept {
    return tx_[slot] != send_state::posted && ring_memory::load(memory_->tx_flags()[slot]) == 0;
}

// Both without a guard where nothing unusual comes: what it costs to keep one comes to as much as the rest.

/// The next request, unless its answer slot is not sent yet: then it waits, and those behind it with it, as
/// they came.
bool ring_core::rx_poll(std::uint32_t& slot) {
    if (!engine().try_enter()) [[unlikely]]
        return rx_poll_contended(slot);
    const auto next = next_;
    if (next == next_end_ || answering_ == 0 || !may_answer(next)) [[unlikely]]
        return rx_poll_after_sweep(slot);
    next_ = next + 1;
    slot = next;
    return engine().leave_with(true);
}

[[gnu::noinline]] bool ring_core::rx_poll_contended(std::uint32_t& slot) {
    engine().lock().release();
    return rx_poll_after_sweep(slot);
}

[[gnu::noinline]] bool ring_core::rx_poll_after_sweep(std::uint32_t& slot) {
    const auto held = engine().entered();
    if (answering_ == 0) return false;
    if (next_ != next_end_ || arrivals_.empty()) sweep_device();
    if (!fetch_next() || !may_answer(next_)) return false;
    slot = next_++;
    return true;
}

bool ring_core::tx_publish(std::uint32_t slot, std::size_t length) {
    if (!engine().try_enter()) [[unlikely]]
        return tx_publish_contended(slot, length);
    const bool valid = slot < answering_ && length - 1 < config_.slot_size;
    if (!valid || tx_[slot] == send_state::posted) [[unlikely]]
        return tx_publish_after_sweep(slot, length);
    return engine().leave_with(post_answer(slot, static_cast<std::uint32_t>(length)));
}

[[gnu::noinline]] bool ring_core::tx_publish_contended(std::uint32_t slot, std::size_t length) {
    engine().lock().release();
    return tx_publish_after_sweep(slot, length);
}

[[gnu::noinline]] bool ring_core::tx_publish_after_sweep(std::uint32_t slot, std::size_t length) {
    const auto held = engine().entered();
    if (slot >= answering_ || length == 0 || length > config_.slot_size) return false;
    while (tx_[slot] == send_state::posted) {
        sweep_device();
        if (!active_) return false;
    }
    return post_answer(slot, static_cast<std::uint32_t>(length));
}

inline bool ring_core::post_answer(std::uint32_t slot, std::uint32_t length) noexcept {
    auto& request = send_requests_[slot];
    request.buffer.size = length;
    const auto outcome = core_.pair().post_send({&request, 1});
    if (outcome.accepted == 0) [[unlikely]]
        return refused(outcome.reason);
    tx_[slot] = send_state::posted;
    ++in_flight_;
    if (!needs_progress_) [[likely]]
        return true;
    progress();
    return active_ && tx_[slot] == send_state::posted;
}

[[gnu::noinline]] bool ring_core::refused(errc reason) noexcept {
    if (reason == errc::queue_full) return false;
    ++send_errors_;
    end_session({reason, "the device refused a send"}, phase::disconnected);
    return false;
}

} // namespace rocio::detail

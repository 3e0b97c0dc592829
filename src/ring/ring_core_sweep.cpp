#include <rocio/ring/detail/ring_core.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>

namespace rocio::detail {

// ---- The engine's turn, or the caller's thread

bool ring_core::on_sweep() noexcept {
    if (!active_) return false;
    memory_->disarm();
    bool any = uses_flags() && check_released();
    if (phase_ == phase::connected && uses_flags() && sends()) any |= send_published();
    if (active_) any |= post_receives();
    return any;
}

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
    core_.poll([this](std::span<const work_completion> found) { take_ours(found); });
    if (active_) (void)post_receives();
}

/// Others may share the completion queue.
inline void ring_core::take_ours(std::span<const work_completion> found) noexcept {
    const auto tag = core_.prefix().tag();
    while (!found.empty()) {
        const auto ours = [tag](const auto& completion) { return completion.id.tag() == tag; };
        std::size_t n = 0;
        if (ours(found.front())) [[likely]] {
            n = dispatch(found);
        } else {
            n = static_cast<std::size_t>(std::ranges::find_if(found, ours) - found.begin());
            engine().route_others(found.first(n));
        }
        found = found.subspan(n);
    }
}

/// A request whose answer slot is not sent yet waits, and those behind it with it, as they came.
inline bool ring_core::next_is_ready() const noexcept {
    if (queued_ == 0) return false;
    const auto slot = arrivals_[arrivals_head_];
    return tx_[slot] != send_state::posted && ring_memory::load(memory_->tx_flags()[slot]) == 0;
}

bool ring_core::rx_poll(std::uint32_t& slot) {
    auto held = engine().lock();
    if (!answers()) return false;
    if (!next_is_ready()) {
        sweep_device();
        if (!next_is_ready()) return false;
    }
    slot = pop_arrival();
    return true;
}

bool ring_core::tx_publish(std::uint32_t slot, std::size_t length) {
    auto held = engine().lock();
    if (!answers() || slot >= config_.slots) return false;
    if (length == 0 || length > config_.slot_size) return false;
    while (tx_[slot] == send_state::posted) {
        sweep_device();
        if (!active_) return false;
    }
    auto& request = send_requests_[slot];
    request.buffer.size = static_cast<std::uint32_t>(length);
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

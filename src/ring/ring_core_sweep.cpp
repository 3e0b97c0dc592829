#include <rocio/ring/detail/ring_core.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

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
        if (tx_[slot] == send_state::idle && ring_memory::load(tx_flags_[slot]) != 0) return false;
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

inline bool ring_core::is_flagged(std::uint32_t slot) const noexcept {
    return ring_memory::load(tx_flags_[slot]) != 0;
}

inline bool ring_core::may_answer(std::uint32_t slot) const noexcept {
    return tx_[slot] != send_state::posted && !is_flagged(slot);
}

/// The next request, unless its answer slot is not sent yet: then it waits, and those behind it with it, as
/// they came. What the last sweep found needs no lock: only this thread takes it.
bool ring_core::rx_poll(std::uint32_t& slot) {
    const auto next = offered_.next.load(std::memory_order_relaxed);
    if (next >= offered_.end.load(std::memory_order_relaxed) || is_flagged(next)) [[unlikely]]
        return rx_poll_after_sweep(slot);
    offered_.next.store(next + 1, std::memory_order_relaxed);
    slot = next;
    return true;
}

[[gnu::noinline]] bool ring_core::rx_poll_after_sweep(std::uint32_t& slot) {
    const auto held = engine().lock();
    recall_offered();
    if (answering_ == 0) return false;
    if (next_ != next_end_ || arrivals_.empty()) sweep_device();
    if (!fetch_next() || !may_answer(next_)) return false;
    slot = next_++;
    if (answering_ != 0) offer_rest();
    return true;
}

/// Of those to be taken next the first one whose answer is on its way.
inline std::uint32_t ring_core::first_posted() const noexcept {
    static_assert(sizeof(send_state) == 1);
    const auto* const from = tx_.data() + next_;
    const auto* const found = static_cast<const send_state*>(
        std::memchr(from, static_cast<int>(send_state::posted), next_end_ - next_));
    return found == nullptr ? next_end_ : next_ + static_cast<std::uint32_t>(found - from);
}

inline void ring_core::offer_rest() noexcept {
    offered_.next.store(next_, std::memory_order_relaxed);
    offered_.end.store(in_flight_ == 0 ? next_end_ : first_posted(), std::memory_order_relaxed);
    offered_.any = true;
}

/// Its answer is on its way: it is not offered, nor are those behind it.
inline void ring_core::hold_back(std::uint32_t slot) noexcept {
    const bool offered = slot >= offered_.next.load(std::memory_order_relaxed) &&
                         slot < offered_.end.load(std::memory_order_relaxed);
    if (offered) offered_.end.store(slot, std::memory_order_relaxed);
}

/// Without a guard where nothing unusual comes: what it costs to keep one comes to as much as the rest.
bool ring_core::tx_publish(std::uint32_t slot, std::size_t length) {
    if (!engine().try_enter()) [[unlikely]]
        return tx_publish_otherwise(slot, length);
    // One comparison for both ends: there is no message of 0 bytes.
    if (slot >= answering_ || length - 1 >= copied_alone_) [[unlikely]]
        return tx_publish_from_slot(slot, length);
    if (--unsignalled_left_ < 0) [[unlikely]]
        return tx_publish_signalled(slot, length);
    const auto outcome = core_.pair().post_send({&next_copy(slot, length), 1});
    if (outcome.accepted == 0) [[unlikely]]
        return tx_publish_refused(outcome.reason);
    return engine().leave_with(true);
}

/// More than is copied, under the lock and leaving it.
[[gnu::noinline]] bool ring_core::tx_publish_from_slot(std::uint32_t slot, std::size_t length) {
    const bool valid = slot < answering_ && length > copied_most_ && length <= config_.slot_size;
    if (valid && tx_[slot] != send_state::posted) [[likely]]
        return engine().leave_with(post_answer(slot, static_cast<std::uint32_t>(length)));
    engine().leave();
    return tx_publish_otherwise(slot, length);
}

[[gnu::noinline]] bool ring_core::tx_publish_signalled(std::uint32_t slot, std::size_t length) {
    ++unsignalled_left_;
    engine().leave();
    return tx_publish_otherwise(slot, length);
}

[[gnu::noinline]] bool ring_core::tx_publish_refused(errc reason) {
    const auto held = engine().entered();
    ++unsignalled_left_;
    copied_bytes_ -= last_copy_->inline_data.size();
    return refused(reason);
}

/// While there is no room the device is swept. Others get in between: who stops the ring ends the wait.
[[gnu::noinline]] bool ring_core::tx_publish_otherwise(std::uint32_t slot, std::size_t length) {
    for (;; std::this_thread::yield()) {
        const auto held = engine().lock();
        if (slot >= answering_ || length == 0 || length > config_.slot_size) return false;
        const bool copies = length <= copied_most_;
        const auto has_room = [&] {
            if (!copies) return tx_[slot] != send_state::posted;
            return unsignalled_left_ > 0 || signals_out_ < most_signals_out;
        };
        if (!has_room()) sweep_device();
        if (answering_ == 0) return false;
        if (has_room())
            return copies ? post_copy(slot, length) : post_answer(slot, static_cast<std::uint32_t>(length));
    }
}

inline const send_request& ring_core::next_copy(std::uint32_t slot, std::size_t length) noexcept {
    auto& request = copies_[slot];
    request.inline_data = {request.inline_data.data(), length};
    copied_bytes_ += length;
    last_copy_ = &request; // keeping it in a register over the post would cost more
    return request;
}

/// An answer that the device copies leaves its slot at once, so nobody needs to know when it is sent; but the
/// device's queue only loses those before one that is signalled (IBA 10.7.3.1), so some are.
bool ring_core::post_copy(std::uint32_t slot, std::size_t length) noexcept {
    auto request = next_copy(slot, length);
    request.signalled = unsignalled_left_ == 0;
    const auto outcome = core_.pair().post_send({&request, 1});
    if (outcome.accepted == 0) {
        copied_bytes_ -= length;
        return refused(outcome.reason);
    }
    if (request.signalled) {
        ++signals_out_;
        copies_posted_ += copies_per_signal_;
        unsignalled_left_ += static_cast<std::int32_t>(copies_per_signal_);
    }
    --unsignalled_left_;
    if (needs_progress_) progress();
    return active_;
}

inline bool ring_core::post_answer(std::uint32_t slot, std::uint32_t length) noexcept {
    auto& request = send_requests_[slot];
    request.buffer.size = length;
    const auto outcome = core_.pair().post_send({&request, 1});
    if (outcome.accepted == 0) [[unlikely]]
        return refused(outcome.reason);
    tx_[slot] = send_state::posted;
    ++in_flight_;
    hold_back(slot);
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

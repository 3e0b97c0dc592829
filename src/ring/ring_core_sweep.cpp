#include <rocio/ring/detail/ring_core.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

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
        return tx_publish_contended(slot, length);
    // One comparison for both ends: there is no message of 0 bytes.
    if (slot >= answering_ || length - 1 >= copied_alone_) [[unlikely]]
        return tx_publish_from_slot(slot, length);
    const auto outcome = core_.pair().post_send({&next_copy(slot, length), 1});
    if (outcome.accepted == 0) [[unlikely]]
        return tx_publish_anew(outcome.reason);
    return engine().leave_with(true);
}

[[gnu::noinline]] bool ring_core::tx_publish_contended(std::uint32_t slot, std::size_t length) {
    engine().lock().release();
    return tx_publish_otherwise(slot, length);
}

/// More than is copied, under the lock and leaving it.
[[gnu::noinline]] bool ring_core::tx_publish_from_slot(std::uint32_t slot, std::size_t length) {
    const bool valid = slot < answering_ && length > copied_most_ && length <= config_.slot_size;
    if (!valid || tx_[slot] == send_state::posted) [[unlikely]]
        return tx_publish_otherwise(slot, length);
    return engine().leave_with(post_answer(slot, static_cast<std::uint32_t>(length)));
}

[[gnu::noinline]] bool ring_core::tx_publish_otherwise(std::uint32_t slot, std::size_t length) {
    const auto held = engine().entered();
    if (slot >= answering_ || length == 0 || length > config_.slot_size) return false;
    if (length <= copied_most_) return post_copy(slot, length);
    while (tx_[slot] == send_state::posted) {
        sweep_device();
        if (!active_) return false;
    }
    return post_answer(slot, static_cast<std::uint32_t>(length));
}

[[gnu::noinline]] bool ring_core::tx_publish_anew(errc reason) {
    const auto held = engine().entered();
    return post_anew(*last_copy_, reason) || take_back(*last_copy_);
}

/// An answer that the device copies leaves its slot at once, so nobody needs to know when it is sent; but the
/// device's queue only loses those before one that is signalled (IBA 10.7.3.1), so some are.
inline const send_request& ring_core::next_copy(std::uint32_t slot, std::size_t length) noexcept {
    auto& request = copies_[slot];
    request.inline_data = {request.inline_data.data(), length};
    request.signalled = (copies_posted_++ & signal_mask_) == 0;
    copied_bytes_ += length;
    last_copy_ = &request; // keeping it in a register over the post would cost more
    return request;
}

/// It was not posted.
inline bool ring_core::take_back(const send_request& copy) noexcept {
    --copies_posted_;
    copied_bytes_ -= copy.inline_data.size();
    return false;
}

bool ring_core::post_copy(std::uint32_t slot, std::size_t length) noexcept {
    const auto& copy = next_copy(slot, length);
    const auto outcome = core_.pair().post_send({&copy, 1});
    if (outcome.accepted == 0 && !post_anew(copy, outcome.reason)) return take_back(copy);
    if (needs_progress_) progress();
    return active_;
}

inline bool ring_core::post_answer(std::uint32_t slot, std::uint32_t length) noexcept {
    auto& request = send_requests_[slot];
    request.buffer.size = length;
    const auto outcome = core_.pair().post_send({&request, 1});
    if (outcome.accepted == 0 && !post_anew(request, outcome.reason)) [[unlikely]]
        return false;
    tx_[slot] = send_state::posted;
    ++in_flight_;
    hold_back(slot);
    if (!needs_progress_) [[likely]]
        return true;
    progress();
    return active_ && tx_[slot] == send_state::posted;
}

/// What the device did not take: while its queue is full it is emptied, until the session is over.
[[gnu::noinline]] bool ring_core::post_anew(const send_request& request, errc reason) noexcept {
    while (reason == errc::queue_full) {
        sweep_device();
        if (!active_) return false;
        const auto outcome = core_.pair().post_send({&request, 1});
        if (outcome.accepted > 0) return true;
        reason = outcome.reason;
    }
    ++send_errors_;
    end_session({reason, "the device refused a send"}, phase::disconnected);
    return false;
}

} // namespace rocio::detail

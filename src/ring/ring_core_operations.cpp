#include <rocio/ring/detail/ring_core.hpp>

#include <boost/asio/error.hpp>

#include <algorithm>
#include <utility>

namespace rocio::detail {

// ---- Slots by number, and operations

bool ring_core::tx_free(std::uint32_t slot) const noexcept {
    return ring_memory::load(tx_flags_[slot]) == 0;
}

error_code ring_core::publish(std::uint32_t slot, std::size_t length) noexcept {
    if (slot >= config_.slots || length == 0 || length > config_.slot_size) return errc::message_too_long;
    if (!tx_free(slot)) return errc::queue_full;
    lengths_[slot].store(static_cast<std::uint32_t>(length), std::memory_order_relaxed);
    ring_memory::store(tx_flags_[slot], ring_memory::address_of(memory_->tx_slot(slot)));
    memory_->note_change();
    return {};
}

void ring_core::release(std::uint32_t slot) noexcept {
    ring_memory::store(memory_->rx_flags()[slot], 0);
    memory_->note_change();
}

/// Moves as many of the oldest filled slots to where they are taken from as lie side by side: one at a time
/// they would cost twice as much. False: there are none.
[[gnu::noinline]] bool ring_core::fetch_next() noexcept {
    if (next_ != next_end_) return true;
    note_taken();
    if (arrivals_.empty()) return false;
    const auto first = arrivals_.front();
    const auto n = std::min(first.size(), slot_set::in_word(first.first));
    taken_from_ = next_ = first.first;
    next_end_ = next_ + n;
    arrivals_.drop_front(n);
    return true;
}

inline bool ring_core::take_next(std::uint32_t& slot) noexcept {
    recall_offered();
    while (next_ != next_end_ || fetch_next()) {
        const auto next = next_++;
        // A reader of flags may have had it before us.
        if (ring_memory::load(memory_->rx_flags()[next]) != 0 || answering_ != 0) [[likely]] {
            slot = next;
            return true;
        }
    }
    return false;
}

bool ring_core::take(std::uint32_t& slot) {
    if (!engine().try_enter()) [[unlikely]]
        return take_contended(slot);
    const bool taken = take_next(slot);
    return engine().leave_with(taken);
}

[[gnu::noinline]] bool ring_core::take_contended(std::uint32_t& slot) {
    const auto held = engine().lock();
    return take_next(slot);
}

void ring_core::start(ring_receive_operation* op) {
    auto held = engine().lock();
    if (engine().is_shut_down()) {
        held.unlock();
        return op->destroy();
    }
    engine().work_started();
    std::uint32_t slot = 0;
    if (config_.mode == ring_mode::unified) {
        op->set(errc::unified_mode, {});
    } else if (take_next(slot)) {
        op->set({}, ring_slot(memory_, slot));
    } else if (const auto reason = end_reason()) {
        op->set(reason, {});
    } else {
        return receiving_.push(op);
    }
    engine().complete(op);
}

void ring_core::start(ring_wait_operation* op) {
    auto held = engine().lock();
    if (engine().is_shut_down()) {
        held.unlock();
        return op->destroy();
    }
    engine().work_started();
    if (config_.mode == ring_mode::unified) {
        op->set(errc::unified_mode);
    } else if (has_filled() || (op->also_sent && std::exchange(sent_unseen_, false))) {
        op->set({});
    } else if (const auto reason = end_reason()) {
        op->set(reason);
    } else {
        return waiting_.push(op);
    }
    engine().complete(op);
}

void ring_core::cancel(std::uint64_t id) {
    auto held = engine().lock();
    for (auto* op = receiving_.front(); op; op = static_cast<ring_receive_operation*>(op->next)) {
        if (op->id != id) continue;
        receiving_.remove(op);
        op->set(asio::error::operation_aborted, {});
        return engine().complete(op);
    }
    for (auto* op = waiting_.front(); op; op = static_cast<ring_wait_operation*>(op->next)) {
        if (op->id != id) continue;
        waiting_.remove(op);
        op->set(asio::error::operation_aborted);
        return engine().complete(op);
    }
}

void ring_core::cancel_all(const error_code& ec) {
    auto held = engine().lock();
    finish_operations(ec);
}

void ring_core::finish_operations(const error_code& ec) noexcept {
    while (auto* op = receiving_.pop()) {
        op->set(ec, {});
        engine().complete(op);
    }
    while (auto* op = waiting_.pop()) {
        op->set(ec);
        engine().complete(op);
    }
}

} // namespace rocio::detail

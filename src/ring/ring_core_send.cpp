#include <rocio/ring/detail/ring_core.hpp>

#include <algorithm>
#include <utility>

namespace rocio::detail {

namespace {

/// How many send flags one sweep looks at beyond the expected one: a cache line. All of them would cost a
/// spinning engine a sixth of its time.
constexpr std::uint32_t flags_per_sweep = 8;

} // namespace

bool ring_core::build_send(std::uint32_t slot, std::uint64_t flag) noexcept {
    const auto inside = [&](std::span<const std::byte> memory, std::size_t length) {
        const auto base = ring_memory::address_of(memory);
        return flag >= base && flag - base <= memory.size() - length;
    };
    auto length = lengths_[slot].exchange(0, std::memory_order_relaxed);
    if (length == 0) length = config_.frame_size;
    auto& request = send_requests_[slot];
    if (!inside(memory_->tx(), length) && !inside(memory_->rx(), length)) return false;
    const auto key = local_region_->local_key();
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the flag is the address, by the ring's contract
    request.buffer = {reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(flag)), length, key};
    return true;
}

bool ring_core::claim(std::uint32_t slot) noexcept {
    auto& flag = tx_flags_[slot];
    if (tx_[slot] != send_state::idle) return false;
    const auto address = ring_memory::load(flag);
    if (address == 0) return false;
    if (!build_send(slot, address)) {
        ++bad_flag_;
        ring_memory::store(flag, 0);
        return false;
    }
    tx_[slot] = send_state::claimed;
    send_chain_.push_back(send_requests_[slot]);
    tx_cursor_ = (slot + 1) & (config_.slots - 1);
    return true;
}

bool ring_core::is_published(std::uint32_t slot) const noexcept {
    return tx_[slot] == send_state::idle && ring_memory::load(tx_flags_[slot]) != 0;
}

bool ring_core::finds_published() noexcept {
    const auto looked_at = std::min(flags_per_sweep, config_.slots);
    bool any = false;
    for (std::uint32_t i = 0; i < looked_at && !any; ++i) {
        any = is_published(tx_scan_);
        tx_scan_ = (tx_scan_ + 1) & (config_.slots - 1);
    }
    return any;
}

/// Mostly the expected slot is the next. Any other is found within slots / 8 sweeps; then all are looked at,
/// against the order in which one who walks through the ring fills them: those before the last one seen are
/// then seen too (looked at in that order, one may be filled behind our back and the next before our eyes).
/// So SENDs leave in the order of filling, as a peer that numbers them by arrival expects.
bool ring_core::send_published() noexcept {
    send_chain_.clear();
    while (send_chain_.size() < config_.slots && claim(tx_cursor_)) {
    }
    if (finds_published()) {
        const auto first = tx_cursor_, mask = config_.slots - 1;
        auto seen = config_.slots;
        while (seen > 0 && !is_published((first + seen - 1) & mask)) --seen;
        for (std::uint32_t i = 0; i < seen; ++i) (void)claim((first + i) & mask);
    }
    return !send_chain_.empty() && post_sends();
}

bool ring_core::post_sends() noexcept {
    const auto outcome = core_.pair().post_send(send_chain_);
    for (std::size_t i = 0; i < send_chain_.size(); ++i) {
        const auto slot = send_chain_[i].id.slot & ~send_bit;
        if (i >= outcome.accepted) {
            // What was not taken keeps its flag and its length, and is the next.
            tx_[slot] = send_state::idle;
            lengths_[slot].store(send_chain_[i].buffer.size, std::memory_order_relaxed);
            if (i == outcome.accepted) tx_cursor_ = slot;
            continue;
        }
        tx_[slot] = send_state::posted;
        if (config_.tx_clear == ring_tx_clear::on_claim) ring_memory::store(tx_flags_[slot], 0);
    }
    in_flight_ += static_cast<std::uint32_t>(outcome.accepted);
    const bool failed = outcome.accepted < send_chain_.size() && outcome.reason != errc::queue_full;
    if (!failed) return outcome.accepted > 0;
    ++send_errors_;
    if (active_) end_session({outcome.reason, "the device refused a send"}, phase::disconnected);
    return true;
}

/// Sends of slots in a row that are done without an error, as many of the batch as those are; 0: the first
/// one is not as usual.
std::size_t ring_core::sent_run(std::span<const work_completion> batch) noexcept {
    const auto first = batch.front().id.slot & ~send_bit;
    if (config_.mode == ring_mode::forward || first >= config_.slots) return 0;
    const bool clears = uses_flags() && config_.tx_clear == ring_tx_clear::on_completion;
    const auto most = static_cast<std::uint32_t>(std::min<std::size_t>(batch.size(), config_.slots - first));
    const auto n =
        clears ? free_slots<true>(batch.data(), most, first) : free_slots<false>(batch.data(), most, first);
    if (n == 0) return 0;
    in_flight_ -= n;
    sent_ += n;
    tell_of_sends();
    return n;
}

/// All in locals, and four at a time, as fill_slots().
template <bool clears>
inline std::uint32_t ring_core::free_slots(const work_completion* at, std::uint32_t most,
                                           std::uint32_t first) noexcept {
    auto id = at->id.bits();
    auto* state = tx_.data() + first;
    auto* flag = tx_flags_ + first;
    const auto* request = send_requests_.data() + first;
    std::uint64_t bytes = 0;
    const auto take = [&](std::size_t n) __attribute__((always_inline)) {
        if (at[n].status != errc::success || at[n].id.bits() != id || state[n] != send_state::posted)
            return false;
        state[n] = send_state::idle;
        if (clears) ring_memory::store(flag[n], 0);
        bytes += request[n].buffer.size;
        id += wr_id::step();
        return true;
    };
    const auto next = [&](std::uint32_t n) __attribute__((always_inline)) {
        at += n;
        state += n;
        flag += n;
        request += n;
        most -= n;
    };
    const auto finish = [&] {
        bytes_sent_ += bytes;
        return wr_id::from_bits(id).slot - (first | send_bit);
    };
    for (; most >= 4; next(4))
        if (!take(0) || !take(1) || !take(2) || !take(3)) return finish();
    for (; most > 0 && take(0); next(1)) {
    }
    return finish();
}

void ring_core::sent(std::uint32_t slot, const work_completion& completion) noexcept {
    if ((slot & copy_bit) != 0) return copy_left(slot & ~copy_bit, completion);
    if (slot >= config_.slots || tx_[slot] != send_state::posted) return engine().count_stale();
    tx_[slot] = send_state::idle;
    --in_flight_;
    if (config_.mode == ring_mode::forward) {
        to_post_.add(tokens_[slot]);
    } else if (config_.mode != ring_mode::unified && config_.tx_clear == ring_tx_clear::on_completion) {
        ring_memory::store(tx_flags_[slot], 0);
    }
    if (completion.status == errc::success) {
        ++sent_;
        bytes_sent_ += send_requests_[slot].buffer.size;
        return tell_of_sends();
    }
    if (completion.status != errc::work_request_flushed) ++send_errors_;
    if (active_) end_session({completion.status, {}}, phase::disconnected);
}

/// Its place in the device's queue is free, and those of the copies before it.
void ring_core::copy_left(std::uint32_t slot, const work_completion& completion) noexcept {
    if (slot >= copies_.size()) return engine().count_stale();
    if (completion.status == errc::success) return signal_seen();
    ++copies_failed_;
    if (completion.status != errc::work_request_flushed) ++send_errors_;
    if (active_) end_session({completion.status, {}}, phase::disconnected);
}

void ring_core::tell_of_sends() noexcept {
    sent_unseen_ = true;
    for (auto* op = waiting_.front(); op != nullptr;) {
        auto* next = static_cast<ring_wait_operation*>(op->next);
        if (op->also_sent) {
            sent_unseen_ = false;
            waiting_.remove(op);
            op->set({});
            engine().complete(op);
        }
        op = next;
    }
}

/// Sent back from where it is; its receive is posted again when the device is done with the bytes.
void ring_core::forward(std::uint32_t slot, std::uint32_t token) noexcept {
    send_chain_.clear();
    if (tx_[slot] == send_state::posted ||
        !build_send(slot, ring_memory::address_of(memory_->rx_slot(slot)))) {
        ++overwritten_;
        return to_post_.add(token);
    }
    tokens_[slot] = token;
    send_chain_.push_back(send_requests_[slot]);
    (void)post_sends();
    if (tx_[slot] != send_state::posted) to_post_.add(token);
}

} // namespace rocio::detail

#include <rocio/ring/detail/ring_core.hpp>

#include <algorithm>
#include <chrono>

namespace rocio::detail {

namespace {

/// How many send flags one sweep looks at beyond the expected one: a cache line. All of them would cost a
/// spinning engine a sixth of its time.
constexpr std::uint32_t flags_per_sweep = 8;

} // namespace

// ---- Receiving

void ring_core::on_completion(const work_completion& completion) noexcept {
    const auto slot = completion.id.slot;
    if ((slot & send_bit) != 0) return sent(slot & ~send_bit, completion);
    if (slot >= config_.slots || posted_ == 0) return engine().count_stale();
    --posted_;
    if (completion.status == errc::success) return receive(completion);
    if (completion.status != errc::work_request_flushed) ++receive_errors_;
    // A flush is never the cause, only its consequence; without a cause known it is the best there is.
    if (active_) end_session({completion.status, {}}, phase::disconnected);
}

[[gnu::flatten]] void ring_core::on_completions(std::span<const work_completion> batch) noexcept {
    for (const auto& completion : batch) ring_core::on_completion(completion);
    if (held_alike_ > 0) record_held();
}

inline void ring_core::receive(const work_completion& completion) noexcept {
    const auto token = completion.id.slot;
    std::uint32_t slot = 0;
    if (!slot_of(completion, slot)) return rearm(token);
    ++received_;
    if (config_.mode == ring_mode::forward) {
        rx_[slot].token = token;
        rx_[slot].has_token = true;
        return forward(slot);
    }
    arrived(slot, token);
}

/// A SEND is in the buffer of its receive. A WRITE is where the peer put it, and its immediate says where:
/// the receive it used up says nothing, since a lost packet shifts those.
inline bool ring_core::slot_of(const work_completion& completion, std::uint32_t& slot) noexcept {
    if (completion.op == completion_opcode::receive) {
        slot = completion.id.slot;
        return true;
    }
    if (completion.op != completion_opcode::receive_rdma_write_with_immediate || !completion.has_immediate) {
        ++unexpected_;
        return false;
    }
    const auto mask = peer_ ? peer_->immediates.slot_mask : 0xFFFFFFFF;
    const auto number = completion.immediate & mask;
    // Where the peer's layout is known, the number must be one of our slots; where it is not, the lowest bits
    // are the slot in every layout there is.
    if (mask != 0xFFFFFFFF && number >= config_.slots) {
        ++bad_immediate_;
        return false;
    }
    slot = number & (config_.slots - 1);
    return true;
}

inline void ring_core::arrived(std::uint32_t slot, std::uint32_t token) noexcept {
    auto& state = rx_[slot];
    memory_->count_arrival(slot);
    if (state.held && !retire(slot)) {
        // The bytes are the new message's already; it is told of again when the reader of the old one is
        // done.
        ++overwritten_;
        state.again = true;
        return rearm(token);
    }
    // Released just now, and what waited in it was written over before anybody was told of it.
    if (std::exchange(state.again, false)) ++overwritten_;
    if (config_.rearm == ring_rearm::on_publish || config_.mode == ring_mode::unified) {
        rearm(token);
    } else {
        state.token = token;
        state.has_token = true;
    }
    deliver(slot);
}

inline void ring_core::deliver(std::uint32_t slot) noexcept {
    auto& state = rx_[slot];
    if (config_.mode == ring_mode::unified) {
        if (state.in_queue) {
            ++overwritten_;
            return;
        }
    } else {
        state.since = engine().sweep_began();
        watch(slot);
        ring_memory::store(memory_->rx_flags()[slot], ring_memory::address_of(memory_->rx_slot(slot)));
    }
    if (auto* op = receiving_.pop()) {
        op->set({}, ring_slot(memory_, slot));
        return engine().complete(op);
    }
    if (!state.in_queue) {
        state.in_queue = true;
        arrivals_[(arrivals_head_ + queued_++) & (config_.slots - 1)] = slot;
    }
    while (auto* op = waiting_.pop()) {
        op->set({});
        engine().complete(op);
    }
}

bool ring_core::take_next(std::uint32_t& slot) noexcept {
    while (queued_ > 0) {
        slot = arrivals_[arrivals_head_];
        arrivals_head_ = (arrivals_head_ + 1) & (config_.slots - 1);
        --queued_;
        rx_[slot].in_queue = false;
        // A reader of flags may have had it before us.
        if (config_.mode == ring_mode::unified || ring_memory::load(memory_->rx_flags()[slot]) != 0)
            return true;
    }
    return false;
}

/// The slot's flag is 0 again: its receive goes back, unless a further message waits in it.
bool ring_core::retire(std::uint32_t slot) noexcept {
    auto& state = rx_[slot];
    if (ring_memory::load(memory_->rx_flags()[slot]) != 0) return false;
    if (std::exchange(state.has_token, false)) rearm(state.token);
    state.held = false;
    --held_;
    if (config_.measure_held) count_held(state.since);
    return true;
}

/// What is listed stays so until check_released() passes it.
void ring_core::watch(std::uint32_t slot) noexcept {
    auto& state = rx_[slot];
    state.held = true;
    ++held_;
    if (!std::exchange(state.listed, true)) held_slots_.push_back(slot);
}

/// Slots that came in one sweep go in one, mostly: they are recorded together.
inline void ring_core::count_held(completion_engine::time_point since) noexcept {
    if (since != held_since_) record_held();
    held_since_ = since;
    ++held_alike_;
}

/// Outside the engine's sweeps, at the end of a session, there is no time to tell.
[[gnu::noinline]] void ring_core::record_held() noexcept {
    const auto now = engine().sweep_began();
    constexpr completion_engine::time_point unknown{};
    if (held_alike_ > 0 && held_since_ != unknown && now != unknown)
        held_times_.record(now - held_since_, held_alike_);
    held_alike_ = 0;
}

[[gnu::flatten]] bool ring_core::check_released() noexcept {
    bool any = false;
    std::size_t kept = 0;
    const auto listed = held_slots_.size();
    for (std::size_t i = 0; i < listed; ++i) {
        const auto slot = held_slots_[i];
        auto& state = rx_[slot];
        if (state.held && retire(slot)) {
            any = true;
            if (std::exchange(state.again, false)) deliver(slot);
        }
        if (state.held)
            held_slots_[kept++] = slot;
        else
            state.listed = false;
    }
    held_slots_.resize(kept);
    if (held_alike_ > 0) record_held();
    return any;
}

/// Without a copy where the slots lie side by side, as they do while they come and go in order.
inline std::span<const receive_request> ring_core::requests_of_tokens() noexcept {
    const auto first = to_post_[0];
    bool in_order = true;
    for (std::uint32_t i = 0; i < to_post_count_; ++i) in_order &= to_post_[i] == first + i;
    if (in_order) return std::span(receive_requests_).subspan(first, to_post_count_);
    for (std::uint32_t i = 0; i < to_post_count_; ++i) receive_chain_[i] = receive_requests_[to_post_[i]];
    return std::span(receive_chain_).first(to_post_count_);
}

bool ring_core::post_receives() noexcept {
    if (to_post_count_ == 0 || !core_.is_open()) return false;
    const auto outcome = core_.pair().post_receive(requests_of_tokens());
    const auto accepted = static_cast<std::uint32_t>(outcome.accepted);
    posted_ += accepted;
    std::copy(to_post_.begin() + accepted, to_post_.begin() + to_post_count_, to_post_.begin());
    to_post_count_ -= accepted;
    if (to_post_count_ == 0 || outcome.reason == errc::queue_full) return accepted > 0;
    if (active_) end_session({outcome.reason, "the device refused a receive"}, phase::disconnected);
    return true;
}

// ---- Sending

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
    auto& flag = memory_->tx_flags()[slot];
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
    return tx_[slot] == send_state::idle && ring_memory::load(memory_->tx_flags()[slot]) != 0;
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
        if (config_.tx_clear == ring_tx_clear::on_claim) ring_memory::store(memory_->tx_flags()[slot], 0);
    }
    in_flight_ += static_cast<std::uint32_t>(outcome.accepted);
    const bool failed = outcome.accepted < send_chain_.size() && outcome.reason != errc::queue_full;
    if (!failed) return outcome.accepted > 0;
    ++send_errors_;
    if (active_) end_session({outcome.reason, "the device refused a send"}, phase::disconnected);
    return true;
}

void ring_core::sent(std::uint32_t slot, const work_completion& completion) noexcept {
    if (slot >= config_.slots || tx_[slot] != send_state::posted) return engine().count_stale();
    tx_[slot] = send_state::idle;
    --in_flight_;
    auto& state = rx_[slot];
    if (config_.mode == ring_mode::forward) {
        if (std::exchange(state.has_token, false)) rearm(state.token);
    } else if (config_.mode != ring_mode::unified && config_.tx_clear == ring_tx_clear::on_completion) {
        ring_memory::store(memory_->tx_flags()[slot], 0);
    }
    if (completion.status == errc::success) {
        ++sent_;
        bytes_sent_ += send_requests_[slot].buffer.size;
        return tell_of_sends();
    }
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
void ring_core::forward(std::uint32_t slot) noexcept {
    send_chain_.clear();
    if (tx_[slot] == send_state::posted ||
        !build_send(slot, ring_memory::address_of(memory_->rx_slot(slot)))) {
        ++overwritten_;
        if (std::exchange(rx_[slot].has_token, false)) rearm(rx_[slot].token);
        return;
    }
    send_chain_.push_back(send_requests_[slot]);
    (void)post_sends();
}

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
    const auto released = [&](std::uint32_t slot) {
        return ring_memory::load(memory_->rx_flags()[slot]) == 0;
    };
    if (std::any_of(held_slots_.begin(), held_slots_.end(), released)) return false;
    if (!sends() || phase_ != phase::connected) return true;
    for (std::uint32_t slot = 0; slot < config_.slots; ++slot)
        if (tx_[slot] == send_state::idle && ring_memory::load(memory_->tx_flags()[slot]) != 0) return false;
    return true;
}

/// A clock is read for it, so only where it does anything.
inline void ring_core::progress() noexcept {
    if (config_.device->needs_progress()) (void)config_.device->progress(std::chrono::steady_clock::now());
}

void ring_core::sweep_device() noexcept {
    progress();
    core_.poll();
    if (active_) (void)post_receives();
}

/// A request whose answer slot is not sent yet waits, and those behind it with it, as they came.
inline bool ring_core::next_is_ready() const noexcept {
    if (queued_ == 0) return false;
    const auto slot = arrivals_[arrivals_head_];
    return tx_[slot] != send_state::posted && ring_memory::load(memory_->tx_flags()[slot]) == 0;
}

[[gnu::flatten]] bool ring_core::rx_poll(std::uint32_t& slot) {
    auto held = engine().lock();
    if (config_.mode != ring_mode::unified || phase_ != phase::connected) return false;
    if (!next_is_ready()) {
        sweep_device();
        if (!next_is_ready()) return false;
    }
    return take_next(slot);
}

[[gnu::flatten]] bool ring_core::tx_publish(std::uint32_t slot, std::size_t length) {
    auto held = engine().lock();
    if (config_.mode != ring_mode::unified || phase_ != phase::connected || slot >= config_.slots)
        return false;
    if (length == 0 || length > config_.slot_size) return false;
    while (tx_[slot] == send_state::posted && active_) sweep_device();
    if (!active_) return false;
    auto& request = send_requests_[slot];
    request.buffer.size = static_cast<std::uint32_t>(length);
    const auto outcome = core_.pair().post_send({&request, 1});
    if (outcome.accepted == 0) [[unlikely]] {
        if (outcome.reason == errc::queue_full) return false;
        ++send_errors_;
        end_session({outcome.reason, "the device refused a send"}, phase::disconnected);
        return false;
    }
    tx_[slot] = send_state::posted;
    ++in_flight_;
    progress();
    return active_ && tx_[slot] == send_state::posted;
}

} // namespace rocio::detail

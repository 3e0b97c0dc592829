#include <rocio/ring/detail/ring_core.hpp>

#include <algorithm>
#include <bit>

namespace rocio::detail {

namespace {

constexpr bool is_send(std::uint64_t outcome) noexcept {
    return outcome == outcome_of(errc::success, completion_opcode::receive, false) ||
           outcome == outcome_of(errc::success, completion_opcode::receive, true);
}

constexpr bool is_write(std::uint64_t outcome) noexcept {
    return outcome == outcome_of(errc::success, completion_opcode::receive_rdma_write_with_immediate, true);
}

} // namespace

// ---- Completions, in runs where all is as usual, else one by one

void ring_core::on_completions(std::span<const work_completion> batch) noexcept {
    note_taken();
    const auto tag = core_.prefix().tag();
    while (!batch.empty()) {
        const bool ours = batch.front().id.tag() == tag;
        batch = batch.subspan(ours ? dispatch(batch) : pass_on(batch, tag));
    }
    if (held_alike_ > 0) record_held();
}

/// Those at the front that are another's; gives how many.
[[gnu::noinline]] std::size_t ring_core::pass_on(std::span<const work_completion> batch,
                                                 std::uint32_t tag) noexcept {
    const auto ours = [tag](const auto& completion) { return completion.id.tag() == tag; };
    const auto n = static_cast<std::size_t>(std::ranges::find_if(batch, ours) - batch.begin());
    engine().route_others(batch.first(n));
    return n;
}

/// Handles the first completion, and those behind it that are of its kind and go on where it ends.
std::size_t ring_core::dispatch(std::span<const work_completion> batch) noexcept {
    const bool send = (batch.front().id.slot & send_bit) != 0;
    const auto n = send ? sent_run(batch) : receive_run(batch);
    if (n > 0) [[likely]]
        return n;
    on_completion(batch.front());
    return 1;
}

[[gnu::noinline]] void ring_core::on_completion(const work_completion& completion) noexcept {
    const auto slot = completion.id.slot;
    if ((slot & send_bit) != 0) return sent(slot & ~send_bit, completion);
    if (slot >= config_.slots || posted_ == 0) return engine().count_stale();
    --posted_;
    if (completion.status == errc::success) return receive(completion);
    if (completion.status != errc::work_request_flushed) ++receive_errors_;
    // A flush is never the cause, only its consequence; without a cause known it is the best there is.
    if (active_) end_session({completion.status, {}}, phase::disconnected);
}

// ---- Receiving: the usual

/// Messages that came one after the other into slots in a row which nobody holds. Gives how many of the batch
/// those are; 0: the first one is not as usual.
std::size_t ring_core::receive_run(std::span<const work_completion> batch) noexcept {
    const auto& first = batch.front();
    const auto outcome = first.outcome();
    const bool write = is_write(outcome);
    if (config_.mode == ring_mode::forward || !receiving_.empty() || !(write || is_send(outcome))) return 0;
    const auto token = first.id.slot;
    const auto slot = write ? first.immediate & immediate_mask_ : token;
    const auto last = std::max(slot, token);
    if (last >= config_.slots) return 0;
    const bool flags = config_.mode != ring_mode::unified;
    const bool queued = untaken_.has(slot);
    if (queued && !flags) return 0;
    auto most = std::min({posted_, config_.slots - last, slot_set::in_word(slot)});
    most = static_cast<std::uint32_t>(std::min<std::size_t>(batch.size(), most));
    if (most == 0) return 0;
    const auto unlike = filled_.word(slot) | (queued ? ~untaken_.word(slot) : untaken_.word(slot));
    if (const auto found = unlike & slot_set::mask(slot, most))
        most = static_cast<std::uint32_t>(std::countr_zero(found)) - slot % slot_set::slots_per_word;
    if (most == 0) return 0;
    const expected_run expected{outcome, first.id.bits()};
    filled_run run{};
    if (!flags)
        run = write ? fill_unified<true>(batch, most, slot, expected)
                    : fill_unified<false>(batch, most, slot, expected);
    else
        run.completions = run.slots = write ? fill_slots<true, true>(&first, most, slot, expected)
                                            : fill_slots<false, true>(&first, most, slot, expected);
    const auto n = run.slots;
    if (n == 0) return 0;
    untaken_.insert(slot, n);
    if (flags) filled_.insert(slot, n);
    // Only leases ask how many messages came, and they come and go, but come only here.
    if (memory_.use_count() > 1) count_arrivals(slot, n);
    posted_ -= n;
    received_ += n;
    if (!queued) arrivals_.push({slot, slot + n});
    const bool at_once = !flags || config_.rearm == ring_rearm::on_publish;
    if (at_once) to_post_.add(token, n);
    if (flags) held_.add({engine().sweep_began(), slot, token, n, !at_once});
    if (!waiting_.empty()) tell_of_arrivals();
    return run.completions;
}

/// The slots that the completions fill, in a row, as long as these are as `expected` and those after it would
/// be. Everything that the loop needs is in locals, since after a store through a pointer members would be
/// read again; and four at a time, since a loop's own instructions come to a fifth of it.
template <bool write, bool flags>
[[gnu::noinline]] std::uint32_t ring_core::fill_slots(const work_completion* at, std::uint32_t most,
                                                      std::uint32_t first, expected_run expected) noexcept {
    const auto outcome = expected.outcome;
    const auto mask = immediate_mask_;
    const std::uint64_t slot_size = memory_->slot_size();
    auto* rx_flags = memory_->rx_flags() + first;
    auto address = ring_memory::address_of(memory_->rx_slot(first));
    auto id = expected.id;
    const auto step = id_step_;
    auto slot = first;
    const auto take = [&](std::size_t n) __attribute__((always_inline)) {
        if (at[n].outcome() != outcome || at[n].id.bits() != id) return false;
        if (write && (at[n].immediate & mask) != slot) return false;
        if (flags) ring_memory::store(rx_flags[n], address);
        address += slot_size;
        id += step;
        ++slot;
        return true;
    };
    const auto next = [&](std::uint32_t n) __attribute__((always_inline)) {
        at += n;
        rx_flags += n;
        most -= n;
    };
    for (; most >= 4; next(4))
        if (!take(0) || !take(1) || !take(2) || !take(3)) return slot - first;
    for (; most > 0 && take(0); next(1)) {
    }
    return slot - first;
}

/// Of an answer that was copied: nothing is to be done.
inline bool ring_core::is_copy_gone(const work_completion& completion) const noexcept {
    const auto copy = send_bit | copy_bit;
    return completion.status == errc::success && completion.id.tag() == core_.prefix().tag() &&
           (completion.id.slot & copy) == copy && (completion.id.slot & ~copy) < config_.slots;
}

/// The same in unified mode: copies that are gone do not end a run.
template <bool write>
inline ring_core::filled_run ring_core::fill_unified(std::span<const work_completion> batch,
                                                     std::uint32_t most, std::uint32_t first,
                                                     expected_run expected) noexcept {
    const auto all = static_cast<std::uint32_t>(batch.size());
    const auto* at = batch.data();
    std::uint32_t n = 0;
    for (auto left = all;; --left, ++at) {
        const auto more = fill_slots<write, false>(at, std::min(most - n, left), first + n, expected);
        n += more;
        left -= more;
        at += more;
        if (n == most || left == 0 || !is_copy_gone(*at)) return {n, all - left};
        signal_seen();
        expected.id += more * wr_id::step();
    }
}

[[gnu::noinline]] void ring_core::count_arrivals(std::uint32_t slot, std::uint32_t n) noexcept {
    for (std::uint32_t i = 0; i < n; ++i) memory_->count_arrival(slot + i);
}

inline void ring_core::tell_of_arrivals() noexcept {
    while (auto* op = waiting_.pop()) {
        op->set({});
        engine().complete(op);
    }
}

// ---- Receiving: whatever else may come

void ring_core::receive(const work_completion& completion) noexcept {
    const auto token = completion.id.slot;
    std::uint32_t slot = 0;
    if (!slot_of(completion, slot)) return to_post_.add(token);
    ++received_;
    if (config_.mode == ring_mode::forward) return forward(slot, token);
    arrived(slot, token);
}

/// A SEND is in the buffer of its receive. A WRITE is where the peer put it, and its immediate says where:
/// the receive it used up says nothing, since a lost packet shifts those.
bool ring_core::slot_of(const work_completion& completion, std::uint32_t& slot) noexcept {
    if (completion.op == completion_opcode::receive) {
        slot = completion.id.slot;
        return true;
    }
    if (completion.op != completion_opcode::receive_rdma_write_with_immediate || !completion.has_immediate) {
        ++unexpected_;
        return false;
    }
    slot = completion.immediate & immediate_mask_;
    if (slot < config_.slots) return true;
    ++bad_immediate_;
    return false;
}

void ring_core::arrived(std::uint32_t slot, std::uint32_t token) noexcept {
    memory_->count_arrival(slot);
    if (filled_.has(slot) && !retire(slot)) {
        // The bytes are the new message's already; it is told of again when the reader of the old one is
        // done.
        ++overwritten_;
        again_.insert(slot);
        return to_post_.add(token);
    }
    // Released just now, and what waited in it was written over before anybody was told of it.
    if (again_.take(slot)) ++overwritten_;
    const bool at_once = config_.rearm == ring_rearm::on_publish || config_.mode == ring_mode::unified;
    if (at_once) to_post_.add(token);
    deliver({engine().sweep_began(), slot, token, 1, !at_once});
}

/// Of one slot.
void ring_core::deliver(const slot_run& run) noexcept {
    const auto slot = run.slot;
    if (config_.mode == ring_mode::unified) {
        if (untaken_.has(slot)) {
            ++overwritten_;
            return;
        }
    } else {
        filled_.insert(slot);
        held_.add(run);
        ring_memory::store(memory_->rx_flags()[slot], ring_memory::address_of(memory_->rx_slot(slot)));
    }
    if (auto* op = receiving_.pop()) {
        op->set({}, ring_slot(memory_, slot));
        return engine().complete(op);
    }
    if (!untaken_.has(slot)) {
        untaken_.insert(slot);
        arrivals_.push({slot, slot + 1});
    }
    tell_of_arrivals();
}

// ---- Released slots

/// The slot's flag is 0 again: its receive goes back, unless a further message waits in it.
bool ring_core::retire(std::uint32_t slot) noexcept {
    if (ring_memory::load(memory_->rx_flags()[slot]) != 0) return false;
    const auto run = held_.take(slot);
    if (run.has_tokens) to_post_.add(run.token);
    if (config_.measure_held) count_held(run.since, run.count);
    filled_.erase(slot);
    return true;
}

inline bool ring_core::check_released() noexcept {
    if (held_.size() == 0) return false;
    bool any = false;
    for (const auto& run : held_.take_all()) any |= check_released(run);
    if (held_alike_ > 0) record_held();
    return any;
}

/// What is still held goes back to `held_`. Mostly that is all of a run, or nothing.
inline bool ring_core::check_released(const slot_run& run) noexcept {
    auto* const flags = memory_->rx_flags() + run.slot;
    if (ring_memory::load(*flags) != 0) {
        if (!ring_memory::all_set(flags, run.count)) return check_parts(run);
        held_.add(run);
        return false;
    }
    if (!ring_memory::all_clear(flags, run.count)) return check_parts(run);
    leave(run);
    return true;
}

[[gnu::noinline]] bool ring_core::check_parts(const slot_run& run) noexcept {
    const auto end = run.slot + run.count;
    const auto is_set = [flags = memory_->rx_flags()](std::uint32_t slot) {
        return ring_memory::load(flags[slot]) != 0;
    };
    bool any = false;
    for (auto from = run.slot; from != end;) {
        const bool held = is_set(from);
        auto to = from + 1;
        while (to != end && is_set(to) == held) ++to;
        if (held)
            held_.add(run.part(from, to));
        else
            leave(run.part(from, to));
        any |= !held;
        from = to;
    }
    return any;
}

/// Slots that were all released.
inline void ring_core::leave(const slot_run& run) noexcept {
    if (run.has_tokens) to_post_.add(run.token, run.count);
    if (config_.measure_held) count_held(run.since, run.count);
    for (auto slot = run.slot, left = run.count; left > 0;) {
        const auto n = std::min(left, slot_set::in_word(slot));
        filled_.erase(slot, n);
        if ((again_.word(slot) & slot_set::mask(slot, n)) != 0) [[unlikely]]
            deliver_again(slot, n);
        slot += n;
        left -= n;
    }
}

/// The messages that came while slots were held. Their receives are posted again already.
[[gnu::noinline]] void ring_core::deliver_again(std::uint32_t slot, std::uint32_t n) noexcept {
    for (const auto end = slot + n; slot != end; ++slot)
        if (again_.take(slot)) deliver({engine().sweep_began(), slot, 0, 1, false});
}

/// Slots that came in one sweep go in one, mostly: they are recorded together.
inline void ring_core::count_held(completion_engine::time_point since, std::uint32_t n) noexcept {
    if (since != held_since_ && held_alike_ > 0) record_held();
    held_since_ = since;
    held_alike_ += n;
}

/// Outside the engine's sweeps, at the end of a session, there is no time to tell.
[[gnu::noinline]] void ring_core::record_held() noexcept {
    const auto now = engine().sweep_began();
    constexpr completion_engine::time_point unknown{};
    if (held_alike_ > 0 && held_since_ != unknown && now != unknown)
        held_times_.record(now - held_since_, held_alike_);
    held_alike_ = 0;
}

bool ring_core::post_receives() noexcept {
    return post_waiting();
}

inline bool ring_core::post_waiting() noexcept {
    if (to_post_.empty() || !core_.is_open()) return false;
    const auto outcome = core_.pair().post_receive(to_post_.requests());
    const auto accepted = static_cast<std::uint32_t>(outcome.accepted);
    posted_ += accepted;
    to_post_.drop(accepted);
    if (to_post_.empty() || outcome.reason == errc::queue_full) return accepted > 0;
    return receives_refused(outcome.reason);
}

[[gnu::noinline]] bool ring_core::receives_refused(errc reason) noexcept {
    if (active_) end_session({reason, "the device refused a receive"}, phase::disconnected);
    return true;
}

bool ring_core::on_sweep() noexcept {
    if (!active_) return false;
    memory_->disarm();
    note_taken();
    bool any = uses_flags() && check_released();
    if (phase_ == phase::connected && uses_flags() && sends()) any |= send_published();
    if (active_) any |= post_waiting();
    return any;
}

} // namespace rocio::detail

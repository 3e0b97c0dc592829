#include "io/engine_parts.hpp"
#include "io/thread_clock.hpp"

#include <algorithm>
#include <bit>

namespace rocio {

namespace {

constexpr std::uint32_t sweeps_without_events = 256;
constexpr std::uint64_t completions_per_turn = 256;
constexpr std::uint64_t upcalls_per_turn = 512;
constexpr std::uint32_t sweeps_per_turn = 64;
constexpr std::uint32_t sweeps_per_look = 16;
constexpr std::uint32_t least_sweeps_parked = 4;
constexpr int generations_per_round = 32;
constexpr std::size_t events_per_look = 64;
constexpr auto time_per_turn = std::chrono::microseconds{5};
constexpr auto most_time_per_turn = std::chrono::microseconds{50};
constexpr int turns_to_gaps = 10;
constexpr int polls_per_empty_sweep = 16;
constexpr int turns_before_wait = 4;

} // namespace

/// Ends a turn whatever happens: an exception from a handler leaves through the turn, and the rest of its
/// work is done by the next one.
class completion_engine::turn_guard {
  public:
    turn_guard(completion_engine& engine, lock_type& lock, time_point now) : engine_(engine), lock_(lock) {
        engine_.parts_->turn_began = now;
    }
    turn_guard(const turn_guard&) = delete;
    turn_guard& operator=(const turn_guard&) = delete;
    ~turn_guard() {
        if (dismissed_) return;
        if (!lock_.owns_lock()) lock_.lock();
        leave();
        dismiss();
        if (!engine_.hot_.down) engine_.schedule_turn(schedule::post);
    }
    void enter() noexcept { engine_.hot_.in_turn = true; }
    void leave() noexcept { engine_.hot_.in_turn = false; }
    void dismiss() noexcept {
        engine_.parts_->turn_began = {};
        dismissed_ = true;
    }

  private:
    completion_engine& engine_;
    lock_type& lock_;
    bool dismissed_ = false;
};

void completion_engine::turn() {
    auto held = lock();
    hot_.scheduled = false;
    run_turn(held);
}

void completion_engine::run_turn(lock_type& lock) {
    auto& p = *parts_;
    if (hot_.down || hot_.in_turn) return;
    auto now = std::chrono::steady_clock::now();
    turn_guard guard(*this, lock, now);
    ++p.counts.turns;
    p.cpu_clock = cpu_clock_of_this_thread();
    if (std::exchange(hot_.kicked, false)) p.last_work = now;
    if (p.policy.budget.count() > 0) stop_polling_waits();
    // What the last look before the wait finds is served at once, a few times: another turn costs a system
    // call.
    bool again = true;
    for (int round = 1; again; ++round) {
        guard.enter();
        const auto outcome = turn_loop(lock, now);
        // Still in the turn: what its last look completes must not call for another one.
        again = !hot_.down && finish_turn(outcome, now, round < turns_before_wait && !context_.stopped());
        guard.leave();
    }
    count_gap();
    guard.dismiss();
    log_late_turn(lock);
}

/// Between two turns the context looks at its descriptors, a system call. Where that takes long, turns are
/// longer too, so that most of the time goes to the devices and not to the looking.
std::chrono::nanoseconds completion_engine::turn_length(time_point now) noexcept {
    auto& p = *parts_;
    const auto ended = std::exchange(p.turn_ended, time_point{});
    if (ended == time_point{}) return time_per_turn;
    // Twice the last one at most: a handler of the application that took long says nothing about the looking.
    const std::chrono::nanoseconds gap = now - ended;
    p.gap_between_turns = std::min(
        gap, 2 * std::max<std::chrono::nanoseconds>(p.gap_between_turns, std::chrono::nanoseconds{500}));
    return std::clamp<std::chrono::nanoseconds>(turns_to_gaps * p.gap_between_turns, time_per_turn,
                                                most_time_per_turn);
}

/// Flattened, as the other functions on the way of a message: what a call costs comes to more than what it
/// does.
[[gnu::flatten]] completion_engine::turn_outcome completion_engine::turn_loop(lock_type& lock,
                                                                              time_point& now) {
    auto& p = *parts_;
    const auto end = now + turn_length(now);
    bool over = false;
    // A parked engine comes to a cold cache, and what it sends may be complete at once: ended too early, the
    // turn would cost one more, and a look at all descriptors.
    const auto least_sweeps = p.policy.budget.count() <= 0 ? least_sweeps_parked : 0;
    const auto last_completion = p.completions + completions_per_turn;
    const auto last_upcall = p.counts.upcalls + upcalls_per_turn;
    turn_outcome outcome;
    note_gap(now);
    for (std::uint32_t sweeps = 0; sweeps < sweeps_per_turn; ++sweeps) {
        bool did = sweep(now);
        if (!did && p.policy.budget.count() > 0) did = poll_again();
        // A handler that starts the next operation on something that is there already makes it ready at once:
        // a chain of such handlers may run as long as a batch of completions, else a lone consumer gets one
        // per sweep.
        if (!hot_.ready.empty() && p.counts.upcalls < last_upcall) {
            run_ready(static_cast<std::uint32_t>(last_upcall - p.counts.upcalls));
            did = true;
        }
        // Asking takes the context's mutex, which costs as much as a sweep.
        if (did && sweeps % sweeps_per_look == sweeps_per_look - 1 && context_.stopped())
            return {true, false};
        give_way(lock);
        if (hot_.down) return outcome;
        now = std::chrono::steady_clock::now();
        note_gap(now);
        outcome.worked |= did;
        outcome.idle = !did;
        if (!did && p.policy.budget.count() <= 0) break;
        // What a handler has just posted leaves before the context looks at its descriptors: one sweep more.
        if (hot_.outstanding == 0 || over) break;
        over = now >= end && sweeps + 1 >= least_sweeps;
        if (over && !did) break;
        if (p.completions >= last_completion || p.counts.upcalls >= last_upcall) break;
    }
    return outcome;
}

bool completion_engine::sweep(time_point now) {
    auto& p = *parts_;
    ++p.counts.sweeps;
    bool did = false;
    for (auto* sink : p.sweepers) did |= sink->on_sweep();
    if (sweep_called()) did = true;
    for (auto& entry : p.devices) {
        if (entry.fatal) [[unlikely]]
            continue;
        if (entry.needs_progress) did |= entry.dev->progress(now);
        std::size_t most = 0;
        for (auto& queue : entry.queues) most = std::max(most, poll_queue(entry, queue, p.batch));
        did |= most > 0;
        if (entry.events) continue;
        // The completion that says why a queue pair failed goes before the event that only says that it did.
        entry.events_held = most == completions_per_poll ? entry.events_held + 1 : 0;
        if (entry.events_held % sweeps_without_events == 0) did |= dispatch_events(entry);
    }
    if (!did) ++p.counts.empty_sweeps;
    return did;
}

/// An empty sweep of a spinning engine looks a few times more before it does its accounts: what comes is
/// found sooner. Not where completions come with progress() only.
bool completion_engine::poll_again() {
    auto& p = *parts_;
    const auto completes_itself = [](const engine_device& entry) { return entry.events != nullptr; };
    if (std::none_of(p.devices.begin(), p.devices.end(), completes_itself)) return false;
    for (int i = 0; i < polls_per_empty_sweep; ++i) {
        bool found = false;
        for (auto& entry : p.devices) {
            if (!entry.events) continue;
            for (auto& queue : entry.queues) found |= poll_queue(entry, queue, p.batch) > 0;
        }
        if (found) return true;
    }
    return false;
}

inline bool completion_engine::sweep_called() {
    auto& any = parts_->first_calls->any;
    if (!any.load(std::memory_order_relaxed)) return false;
    any.exchange(false, std::memory_order_acquire);
    return sweep_those_called();
}

[[gnu::noinline]] bool completion_engine::sweep_those_called() {
    bool did = false;
    for (auto& group : parts_->called) {
        if (group.calls->sinks.load(std::memory_order_relaxed) == 0) continue;
        for (auto sinks = group.calls->sinks.exchange(0, std::memory_order_acquire); sinks != 0;
             sinks &= sinks - 1) {
            auto* sink = group.sinks[static_cast<std::size_t>(std::countr_zero(sinks))];
            if (sink != nullptr) did |= sink->on_sweep();
        }
    }
    return did;
}

/// Completions of one owner lie next to each other mostly; it gets them at once.
inline void completion_engine::route(std::span<const work_completion> batch) noexcept {
    auto& p = *parts_;
    const auto* const end = batch.data() + batch.size();
    for (const auto* at = batch.data(); at != end;) {
        const auto place = at->id;
        const auto* const first = at;
        do ++at;
        while (at != end && at->id.tag() == place.tag());
        const std::span run(first, at);
        if (place.owner < p.owners.size()) [[likely]] {
            const auto& owner = p.owners[place.owner];
            if (owner.sink && owner.generation == place.generation) [[likely]] {
                owner.sink->on_completions(run);
                continue;
            }
        }
        p.counts.stale_completions += run.size();
    }
}

void completion_engine::route_others(std::span<const work_completion> batch) noexcept {
    route(batch);
}

/// A call, so that the others pay one comparison for it.
[[gnu::noinline]] void completion_engine::give_whole(completion_sink& sink,
                                                     std::span<const work_completion> batch) noexcept {
    if (!batch.empty()) sink.on_completions(batch);
}

std::size_t completion_engine::poll_queue(engine_device& entry, engine_queue& queue,
                                          std::span<work_completion> batch) {
    if (entry.fatal || queue.broken) return 0;
    errc error = errc::success;
    const auto n = queue.queue->poll(batch, error);
    parts_->completions += n;
    hot_.found_at = {};
    if (queue.sorter) [[unlikely]]
        give_whole(*queue.sorter, batch.first(n));
    else
        route(batch.first(n));
    if (error != errc::success) [[unlikely]]
        break_queue(entry, queue);
    return n;
}

/// Nothing comes out of a broken queue any more; its owners must not wait for it.
void completion_engine::break_queue(engine_device& entry, engine_queue& queue) noexcept {
    if (std::exchange(queue.broken, true)) return;
    announce(entry, {device_event_kind::completion_queue_error, 0, {}}, queue.queue.get());
}

bool completion_engine::dispatch_events(engine_device& entry) noexcept {
    device_event event;
    for (std::size_t n = 0; n < events_per_look; ++n) {
        if (entry.fatal || !entry.dev->next_event(event)) return n > 0;
        // After this one the descriptor may stay readable for ever: nobody looks at it again.
        if (event.kind == device_event_kind::device_fatal) {
            entry.fatal = true;
            if (entry.events) entry.events->close();
            if (entry.completions) entry.completions->close();
        }
        announce(entry, event);
    }
    return true;
}

void completion_engine::announce(const engine_device& entry, const device_event& event,
                                 const device_completion_queue* queue) noexcept {
    auto& owners = parts_->owners;
    for (std::size_t i = 0; i < owners.size(); ++i) {
        const auto owner = owners[i];
        if (!owner.sink || owner.dev != entry.dev.get()) continue;
        if (queue && owner.queue && owner.queue != queue) continue;
        owner.sink->on_device_event(event);
    }
}

/// Calls what is ready, and what becomes ready by that. What is left, also when a handler throws, goes back,
/// and the lock is held again.
class completion_engine::upcalls {
  public:
    upcalls(completion_engine& engine, std::uint32_t most) noexcept
        : engine_(engine), most_(most), left_(most), scope_(&engine, engine.hot_.ready) {
        engine_.mutex_.unlock();
    }
    upcalls(const upcalls&) = delete;
    upcalls& operator=(const upcalls&) = delete;
    ~upcalls() {
        engine_.lock_mutex();
        if (auto* op = scope_.round().front()) engine_.hot_.ready.put_back(op);
        const auto called = most_ - left_;
        engine_.parts_->counts.upcalls += called;
        engine_.hot_.outstanding -= std::min(called, engine_.hot_.outstanding);
    }

    /// Handlers that started what was complete at once were one generation, those of that are the next.
    void call() {
        auto& round = scope_.round();
        auto* last = round.back();
        int generations = generations_per_round;
        while (auto* op = round.front()) {
            round.pop_front();
            --left_;
            op->complete();
            if (left_ == 0) return;
            if (op != last) continue;
            if (--generations == 0) return;
            last = round.back();
        }
    }

  private:
    completion_engine& engine_;
    std::uint32_t most_, left_;
    detail::upcall_scope scope_;
};

inline void completion_engine::run_ready(std::uint32_t most) {
    upcalls(*this, most).call();
}

void completion_engine::note_gap(time_point now) noexcept {
    auto& p = *parts_;
    const auto last = std::exchange(hot_.last_sweep, now);
    if (last == time_point{}) return;
    const auto gap = std::chrono::duration_cast<std::chrono::nanoseconds>(now - last);
    p.gap_in_turn = std::max(p.gap_in_turn, gap);
    if (gap > p.gap_allowed) [[unlikely]]
        note_late_turn(now, gap);
}

[[gnu::noinline]] void completion_engine::note_late_turn(time_point now,
                                                         std::chrono::nanoseconds gap) noexcept {
    auto& p = *parts_;
    ++p.counts.late_turns;
    if (!p.log || now - p.last_late_log < std::chrono::seconds{1}) return;
    p.last_late_log = now;
    const auto text = [](std::chrono::nanoseconds t) {
        return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(t).count()) + " ms";
    };
    p.late_text = "the context did not poll its devices for " + text(gap) + "; a peer gives up after " +
                  text(p.patience) + ": move long work to another executor";
}

void completion_engine::count_gap() noexcept {
    auto& p = *parts_;
    const auto gap = std::exchange(p.gap_in_turn, std::chrono::nanoseconds{-1});
    if (gap.count() >= 0) p.gaps.record(gap);
}

/// A log_sink is the user's: without the lock.
void completion_engine::log_late_turn(lock_type& lock) noexcept {
    auto& p = *parts_;
    if (p.late_text.empty()) return;
    const auto text = std::exchange(p.late_text, {});
    const auto log = p.log;
    lock.unlock();
    if (log) log->write(log_level::warning, "io", text);
}

} // namespace rocio

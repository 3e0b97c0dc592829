#include "io/engine_parts.hpp"

#include <algorithm>

namespace rocio {

namespace {

/// For devices that have nothing to wait for.
constexpr auto poll_interval = std::chrono::milliseconds{1};
constexpr int last_sweeps = 4;

} // namespace

/// True: there is work for another turn at once, which `may_go_on` allows.
bool completion_engine::finish_turn(turn_outcome outcome, time_point now, bool may_go_on) {
    auto& p = *parts_;
    const auto defer_turn = [&] {
        p.turn_ended = now;
        schedule_turn(schedule::defer, now);
        return false;
    };
    if (outcome.worked) p.last_work = now;
    if (hot_.outstanding == 0 && hot_.ready.empty()) say_last_words(now);
    if (!hot_.ready.empty()) return defer_turn();
    if (hot_.outstanding == 0) {
        hot_.last_sweep = {};
        stop_all_waits();
        return false;
    }
    watch_events();
    const bool endless = p.policy.budget == polling_policy::endless;
    // Without a budget an empty sweep is all there is to know before the wait, whatever came before it.
    const bool parks = p.policy.budget.count() <= 0 && outcome.idle;
    if ((outcome.worked && !parks) || endless || now - p.last_work < p.policy.budget) return defer_turn();
    if (found_work_before_wait(now)) return may_go_on || defer_turn();
    wait(now);
    return false;
}

/// A device in software still has to send what the last messages caused (an acknowledgement) before run() may
/// end.
void completion_engine::say_last_words(time_point now) {
    for (int i = 0; i < last_sweeps && sweep(now); ++i) {
    }
}

/// Arms everything, then looks once more: a completion that came before the arm raises no event
/// (ibv_req_notify_cq(3)). Sinks are asked last, because a sweep disarms them.
bool completion_engine::found_work_before_wait(time_point now) {
    auto& p = *parts_;
    for (auto& entry : p.devices) {
        if (entry.fatal) continue;
        for (auto& queue : entry.queues) {
            if (queue.armed || queue.broken) continue;
            ++p.counts.arms;
            queue.armed = queue.queue->arm() == errc::success;
            if (!queue.armed) break_queue(entry, queue);
        }
    }
    if (sweep(now) || !hot_.ready.empty()) return true;
    for (auto* sink : p.sweepers) {
        if (!sink->on_park()) return true;
    }
    for (auto& group : p.called) {
        for (auto* sink : group.sinks) {
            if (sink != nullptr && !sink->on_park()) return true;
        }
    }
    return false;
}

void completion_engine::wait(time_point now) {
    auto& p = *parts_;
    hot_.last_sweep = {};
    p.waits_open = true;
    ++p.counts.waits;
    bool something = watch_events();
    auto deadline = time_point::max();
    for (auto& entry : p.devices) {
        if (entry.fatal) continue;
        deadline = std::min(deadline, entry.dev->next_deadline());
        if (wait_for_completions(entry))
            something = true;
        else
            deadline = std::min(deadline, now + poll_interval);
    }
    // run() must not end while something is outstanding.
    if (!something) deadline = std::min(deadline, now + poll_interval);
    set_timer(deadline);
}

bool completion_engine::wait_for_completions(engine_device& entry) {
    if (!entry.completions) return false;
    return entry.completions->wait(
        context_,
        [this, dev = entry.dev.get()](device_waiter& waiter, std::uint32_t round, const error_code& ec) {
            auto held = lock();
            if (waiter.finish(round, ec) && !hot_.down) on_readable(held, *dev);
        });
}

/// Asynchronous events are awaited under every policy: they have a descriptor of their own, which costs
/// nothing.
bool completion_engine::watch_events() {
    bool any = false;
    for (auto& entry : parts_->devices) {
        if (entry.fatal || !entry.events) continue;
        any |= entry.events->wait(
            context_,
            [this, dev = entry.dev.get()](device_waiter& waiter, std::uint32_t round, const error_code& ec) {
                auto held = lock();
                if (!waiter.finish(round, ec) || hot_.down) return;
                ++parts_->counts.wakes;
                if (auto* found = find_device(*dev)) dispatch_events(*found);
                schedule_turn(schedule::defer);
            });
    }
    return any;
}

/// The turn that this calls for runs here and now: it is a handler of the context already, and another one
/// would come only after one more look at all descriptors, a system call between a message and its answer.
void completion_engine::on_readable(lock_type& lock, const device& dev) {
    auto& p = *parts_;
    ++p.counts.wakes;
    p.last_work = std::chrono::steady_clock::now();
    if (auto* entry = find_device(dev)) {
        entry->dev->drain_events();
        for (auto& queue : entry->queues) queue.armed = false;
    }
    if (hot_.in_turn) return schedule_turn(schedule::defer);
    if (!hot_.scheduled) run_turn(lock);
}

/// A pending timer that ends earlier stays: it costs one empty turn, moving it costs one every time.
void completion_engine::set_timer(time_point deadline) {
    auto& p = *parts_;
    if (deadline == time_point::max()) return;
    if (p.timer_pending && p.timer_deadline <= deadline) return;
    p.timer_pending = true;
    p.timer_deadline = deadline;
    p.timer.expires_at(deadline);
    auto expired = [this, round = ++p.timer_round](const error_code&) {
        auto held = lock();
        if (hot_.down || round != parts_->timer_round) return;
        parts_->timer_pending = false;
        ++parts_->counts.wakes;
        schedule_turn(schedule::defer);
    };
    p.timer.async_wait(fixed_handler<decltype(expired)>{&p.timer_memory, expired});
}

/// While spinning, descriptors stay out of the epoll set.
void completion_engine::stop_polling_waits() noexcept {
    auto& p = *parts_;
    if (!std::exchange(p.waits_open, false)) return;
    for (auto& entry : p.devices) {
        if (entry.completions) entry.completions->close();
    }
    if (!std::exchange(p.timer_pending, false)) return;
    ++p.timer_round;
    p.timer.cancel();
}

/// With nothing outstanding run() must be able to end.
void completion_engine::stop_all_waits() noexcept {
    stop_polling_waits();
    for (auto& entry : parts_->devices) {
        if (entry.events) entry.events->close();
    }
}

} // namespace rocio

#include "io/engine_parts.hpp"
#include "io/thread_clock.hpp"

#include <boost/asio/defer.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <thread>

namespace rocio {

namespace {

constexpr int lock_attempts = 200;
constexpr int yields = 50;

void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

} // namespace

asio::execution_context::id completion_engine::id;

completion_engine::completion_engine(asio::execution_context& context)
    : asio::execution_context::service(context),
      context_(static_cast<asio::io_context&>(context)),
      parts_(std::make_unique<parts>(context_)) {}

completion_engine::~completion_engine() {
    for (auto& entry : parts_->devices) {
        entry.queues.clear();
        entry.dev->unbind(this);
    }
}

completion_engine& completion_engine::of(asio::io_context& context) {
    return asio::use_service<completion_engine>(context);
}

void completion_engine::wait_for_mutex() const {
    waiting_for_lock_.fetch_add(1, std::memory_order_relaxed);
    bool got = false;
    for (int i = 0; i < lock_attempts && !got; ++i) {
        pause();
        got = mutex_.try_lock();
    }
    if (!got) mutex_.lock();
    waiting_for_lock_.fetch_sub(1, std::memory_order_relaxed);
}

/// A mutex is not fair: without this a spinning turn would take it again before a woken thread runs. Bounded,
/// because whoever waits may have no CPU.
void completion_engine::give_way(lock_type& lock) noexcept {
    const auto wanted = [this] { return waiting_for_lock_.load(std::memory_order_relaxed) != 0; };
    if (!wanted()) return;
    lock.unlock();
    for (int i = 0; i < lock_attempts && wanted(); ++i) pause();
    for (int i = 0; i < yields && wanted(); ++i) std::this_thread::yield();
    lock.lock();
}

void completion_engine::set_policy(polling_policy policy) {
    auto held = lock();
    parts_->policy = policy;
    kick();
}

polling_policy completion_engine::policy() const {
    auto held = lock();
    return parts_->policy;
}

void completion_engine::set_log_sink(std::shared_ptr<log_sink> sink) {
    auto held = lock();
    parts_->log.swap(sink);
    held.unlock();
}

void completion_engine::log(log_level level, std::string_view room, std::string_view text) const {
    auto held = lock();
    const auto sink = parts_->log;
    held.unlock();
    if (sink) sink->write(level, room, text);
}

void completion_engine::set_name(std::string name) {
    auto held = lock();
    parts_->counts.name.swap(name);
    held.unlock();
}

engine_snapshot completion_engine::snapshot() const {
    auto held = lock();
    const auto& p = *parts_;
    engine_snapshot s = p.counts;
    s.policy = p.policy.name();
    s.completions = p.completions;
    const auto now = std::chrono::steady_clock::now();
    if (p.turn_began != time_point{}) s.in_turn = now - p.turn_began;
    if (hot_.scheduled && hot_.outstanding > 0) s.turn_due = now - p.due_since;
    const auto clock = p.cpu_clock;
    s.outstanding = hot_.outstanding;
    const auto is_queue_pair = [](const engine_owner& o) { return o.sink && o.queue; };
    s.queue_pairs =
        static_cast<std::uint32_t>(std::count_if(p.owners.begin(), p.owners.end(), is_queue_pair));
    s.devices = static_cast<std::uint32_t>(p.devices.size());
    held.unlock();
    s.gaps = p.gaps.summary();
    s.longest_gap = s.gaps.max;
    s.cpu_time = read_clock(clock);
    return s;
}

void completion_engine::work_finished() noexcept {
    if (hot_.down || hot_.outstanding == 0) return;
    if (--hot_.outstanding > 0) return;
    // What begins later is not late.
    hot_.last_sweep = {};
    // The turn ends the waits that keep run() alive.
    if (!hot_.in_turn) schedule_turn(schedule::post);
}

void completion_engine::wake() noexcept {
    auto held = lock();
    kick();
}

void completion_engine::note_peer_patience(std::chrono::nanoseconds patience) noexcept {
    if (patience.count() <= 0) return;
    auto& current = parts_->patience;
    current = current.count() == 0 ? patience : std::min(current, patience);
    parts_->gap_allowed = current / 2;
}

/// `defer` only at the end of a handler of the context: deferred work stays with its thread until the handler
/// returns, so a handler that begins an operation and then blocks (for a future, say) would wait for a turn
/// that no other thread can take.
void completion_engine::schedule_turn(schedule how, time_point now) noexcept {
    if (hot_.scheduled || hot_.down) return;
    hot_.scheduled = true;
    parts_->due_since = now == time_point{} ? std::chrono::steady_clock::now() : now;
    auto run = [this] { turn(); };
    fixed_handler<decltype(run)> handler{&parts_->turn_memory, run};
    if (how == schedule::defer)
        asio::defer(context_, handler);
    else
        asio::post(context_, handler);
}

void completion_engine::shutdown() noexcept {
    {
        auto held = lock();
        hot_.down = true;
        stop_all_waits();
    }
    // What a destroyed handler owned may hand over more: its destructor comes back here, so the lock is not
    // held.
    for (bool more = true; more;) {
        async::operation_queue<> pending;
        auto held = lock();
        auto& p = *parts_;
        pending.prepend(hot_.ready);
        for (std::size_t i = 0; i < p.owners.size(); ++i) {
            if (p.owners[i].sink) p.owners[i].sink->on_shutdown(pending);
        }
        held.unlock();
        more = !pending.empty();
    }
}

} // namespace rocio

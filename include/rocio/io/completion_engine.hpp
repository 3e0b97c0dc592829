#pragma once

#include <rocio/async/light_mutex.hpp>
#include <rocio/async/operation.hpp>
#include <rocio/async/operation_memory.hpp>
#include <rocio/device/device.hpp>
#include <rocio/io/completion_sink.hpp>
#include <rocio/io/detail/upcall_round.hpp>
#include <rocio/io/engine_snapshot.hpp>
#include <rocio/io/polling_policy.hpp>
#include <rocio/io/sweep_call.hpp>
#include <rocio/types/error.hpp>
#include <rocio/types/log_sink.hpp>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

namespace rocio {

struct engine_device;
struct engine_queue;

/// The completion engine of one io_context: an Asio service that polls the completion queues of every device
/// in use, drives devices that need it, and calls handlers. For users it has a policy and a snapshot; the
/// rest is for those who write objects on top of it.
///
/// Its unit is the *turn*: one handler on the context's executor, at most one at a time. A turn repeats
/// sweeps (devices' progress, returned slots, completion queues, 32 completions at a time in round robin),
/// then calls the handlers that became ready, and ends after 256 completions, 512 handlers, 64 sweeps or 5
/// microseconds (ten times what lies between two turns, where that is more, at most 50; of a parked engine
/// not before four sweeps), so that timers, sockets and posted work get theirs. With no work left and the
/// polling budget used up it arms every queue, sweeps once more, and only if that found nothing waits: one
/// async_wait per event descriptor and one timer.
///
/// The engine turns, and run() stays alive, while anything is outstanding: a user's operation, or an object
/// that called work_started(). A turn is not re-entered: a handler that runs the context itself
/// (io_context::poll() inside a handler) is served timers and sockets, but no completions, until it returns.
/// With the policy spin there is always a turn ready while anything is outstanding, so io_context::poll()
/// does not return then; use poll_one() or run_for().
///
/// Thread safety: all members may be called from any thread. Those marked *locked* need the lock of lock()
/// held. No handler is ever called under the lock, and no log_sink.
class completion_engine final : public asio::execution_context::service {
  public:
    using key_type = completion_engine;
    static asio::execution_context::id id;
    using time_point = std::chrono::steady_clock::time_point;
    using lock_type = std::unique_lock<async::light_mutex>;

    explicit completion_engine(asio::execution_context& context);
    ~completion_engine() override;

    /// The engine of `context`; makes it at the first call.
    static completion_engine& of(asio::io_context& context);

    asio::io_context& context() noexcept { return context_; }
    async::operation_memory& memory() noexcept { return memory_; }

    /// Takes effect at the next turn; handlers never notice.
    void set_policy(polling_policy policy);
    polling_policy policy() const;
    /// Where late turns are reported, and what its objects have to say; may be null.
    void set_log_sink(std::shared_ptr<log_sink> sink);
    /// Writes to it, if there is one. Not *locked*.
    void log(log_level level, std::string_view room, std::string_view text) const;
    /// Shown in the snapshot; a busy_poll_thread gives its own.
    void set_name(std::string name);
    /// Does not wait for a handler that runs in the turn, however long it takes.
    engine_snapshot snapshot() const;

    /// A spinning engine gives way to whoever waits here between two sweeps.
    lock_type lock() const {
        lock_mutex();
        return lock_type(mutex_, std::adopt_lock);
    }
    /// True after the context's shutdown: every entry point is then a no-op. *locked*
    bool is_shut_down() const noexcept { return hot_.down; }

    /// A device in use by this engine. Reference counted by attach() and detach(). Errors:
    /// errc::device_bound, errc::device_fatal while a device that failed is still in use, errc::not_supported
    /// if the device's descriptors cannot be waited for. *locked*
    error_info attach(const std::shared_ptr<device>& dev);
    void detach(const std::shared_ptr<device>& dev) noexcept;

    /// A completion queue of `dev` (attached) with room for `completions` more; shared by all queue pairs of
    /// the engine until it is full, then it gets a sibling. *locked*
    error_info reserve_completions(const std::shared_ptr<device>& dev, std::uint32_t completions,
                                   device_completion_queue*& out);
    void release_completions(device_completion_queue* queue, std::uint32_t completions) noexcept;

    /// Polls the queue until it is empty, at most its depth, and routes what it finds. *locked*
    void drain(const std::shared_ptr<device>& dev, device_completion_queue* queue) noexcept;

    /// For who sweeps a device without turns: polls the queue once, at most 32 completions, and gives what it
    /// found, of all owners of the queue, until the next poll. Then comes break_queue(), if there was an
    /// error. Not from inside a sink. *locked*
    std::span<const work_completion> poll(const device& dev, const device_completion_queue* queue,
                                          errc& error) noexcept;
    /// Routes what poll() found and who called it does not own. *locked*
    void route_others(std::span<const work_completion> batch) noexcept;
    void break_queue(const device& dev, const device_completion_queue* queue) noexcept;

    /// A place in the table of owners: its `owner` and `generation` go into every wr_id of the sink. A sink
    /// that names its completion queue hears of no other one's failure. *locked*
    error_info add_sink(completion_sink& sink, const device& dev, wr_id& prefix,
                        const device_completion_queue* queue = nullptr);
    /// Completions still queued for it are dropped and counted as stale. *locked*
    void remove_sink(wr_id prefix) noexcept;
    /// When the sweep that runs began, without a look at the clock; the epoch while the engine waits.
    /// *locked*
    time_point sweep_began() const noexcept { return hot_.last_sweep; }
    /// When the completions were found that a sink gets now. The clock is read once for all that one poll
    /// found, and not if nobody asks. *locked*
    time_point found_at() noexcept {
        if (hot_.found_at == time_point{}) hot_.found_at = std::chrono::steady_clock::now();
        return hot_.found_at;
    }
    /// A sink got a completion for which it has no work request. *locked*
    void count_stale() noexcept;
    /// A queue pair was destroyed because its device did not flush all of its work requests in time. *locked*
    void count_incomplete_drain() noexcept;
    /// From now on the sink's on_sweep() and on_park() are called. *locked*
    void add_sweeper(completion_sink& sink);
    /// The same, but on_sweep() comes only in the sweep after a sweep_call: what has nothing to do costs
    /// nothing, however many there are. Throws std::bad_alloc. *locked*
    sweep_call add_called_sweeper(completion_sink& sink);
    void remove_sweeper(completion_sink& sink) noexcept;

    /// While the balance is positive the engine turns. *locked*
    void work_started() noexcept {
        ++hot_.outstanding;
        hot_.kicked = true;
        if (!hot_.in_turn && !hot_.scheduled) schedule_turn(schedule::post);
    }
    void work_finished() noexcept;

    /// Queues an operation whose result is set; its handler runs in this or the next turn, never inside this
    /// call. The operation must have been counted by work_started(); it is finished when its handler has been
    /// called. *locked*
    void complete(async::operation_base* op) noexcept {
        // After shutdown nothing is called any more; the queue is destroyed with the engine.
        hot_.ready.push(op);
        kick();
    }
    /// The same of several, linked by `next` from first to last. *locked*
    void complete(async::operation_base* first, async::operation_base* last) noexcept {
        hot_.ready.append(first, last);
        kick();
    }
    /// True: called from a handler that this engine calls, and nothing else is ready. An operation whose
    /// result was there when it began may go by start_completed_in_round() then: work_started() and
    /// complete() in one, which calls nobody. *locked*
    bool is_in_round() const noexcept {
        return detail::upcall_round::current().engine() == this && hot_.ready.empty();
    }
    void start_completed_in_round(async::operation_base* op) noexcept {
        ++hot_.outstanding;
        detail::upcall_round::current().push(op);
    }
    /// The same lock as lock()'s, without a guard; leave() is the last that its function does.
    bool try_enter() const noexcept { return mutex_.try_lock(); }
    void leave() const noexcept { mutex_.unlock(); }
    /// leave() for who has a result to give, without a register to be saved.
    bool leave_with(bool result) const noexcept {
        if (!mutex_.try_unlock()) [[unlikely]]
            return wake_next(result);
        return result;
    }
    lock_type entered() const noexcept { return lock_type(mutex_, std::adopt_lock); } ///< After try_enter().

    /// Makes sure a turn comes. *locked*
    void kick() noexcept {
        if (hot_.outstanding == 0) return;
        hot_.kicked = true;
        if (!hot_.in_turn && !hot_.scheduled) schedule_turn(schedule::post);
    }
    /// The same from any thread, without the lock.
    void wake() noexcept;

    /// A peer of ours gives up after this time without an answer; a gap between turns above half of it is
    /// logged. *locked*
    void note_peer_patience(std::chrono::nanoseconds patience) noexcept;

  private:
    class turn_guard;
    class upcalls;
    struct parts;
    struct turn_outcome {
        bool worked = false;
        bool idle = false; ///< The last sweep found nothing, and no handler is left to call.
    };
    enum class schedule : std::uint8_t { post, defer };

    void shutdown() noexcept override;
    /// `now`: where it is known already.
    void schedule_turn(schedule how, time_point now = {}) noexcept;
    void turn();
    void run_turn(lock_type& lock);
    std::chrono::nanoseconds turn_length(time_point now) noexcept;
    turn_outcome turn_loop(lock_type& lock, time_point& now);
    bool sweep(time_point now);
    bool sweep_called();
    bool sweep_those_called();
    bool poll_again();
    std::size_t poll_queue(engine_device& entry, engine_queue& queue, std::span<work_completion> batch);
    void break_queue(engine_device& entry, engine_queue& queue) noexcept;
    void route(std::span<const work_completion> batch) noexcept;
    static void give_whole(completion_sink& sink, std::span<const work_completion> batch) noexcept;
    bool dispatch_events(engine_device& entry) noexcept;
    void announce(const engine_device& entry, const device_event& event,
                  const device_completion_queue* queue = nullptr) noexcept;
    void run_ready(std::uint32_t most);
    bool finish_turn(turn_outcome outcome, time_point now, bool may_go_on);
    void say_last_words(time_point now);
    bool found_work_before_wait(time_point now);
    void wait(time_point now);
    bool wait_for_completions(engine_device& entry);
    bool watch_events();
    void set_timer(time_point deadline);
    void on_readable(lock_type& lock, const device& dev);
    engine_device* find_device(const device& dev) noexcept;
    void stop_polling_waits() noexcept;
    void stop_all_waits() noexcept;
    void note_gap(time_point now) noexcept;
    void note_late_turn(time_point now, std::chrono::nanoseconds gap) noexcept;
    void count_gap() noexcept;
    void log_late_turn(lock_type& lock) noexcept;
    void give_way(lock_type& lock) noexcept;

    void lock_mutex() const {
        if (!mutex_.try_lock()) [[unlikely]]
            wait_for_mutex();
    }
    void wait_for_mutex() const;
    [[gnu::noinline]] bool wake_next(bool result) const noexcept {
        mutex_.wake_one();
        return result;
    }

    /// What every operation touches: here, so that the members above are a few instructions in their callers.
    struct hot_state {
        async::operation_queue<> ready;
        std::uint32_t outstanding = 0;
        bool down = false;
        bool in_turn = false;
        bool scheduled = false; ///< A turn will come.
        bool kicked = false;    ///< Since the last turn: new work, which renews the polling budget.
        time_point last_sweep{};
        time_point found_at{}; ///< The epoch: not asked for yet.
    };

    asio::io_context& context_;
    mutable async::light_mutex mutex_;
    mutable std::atomic<std::uint32_t> waiting_for_lock_{0};
    hot_state hot_;
    async::operation_memory memory_;
    std::unique_ptr<parts> parts_;
};

} // namespace rocio

#include <rocio/stream/detail/receive_core.hpp>
#include <rocio/stream/detail/view_state.hpp>

#include <boost/asio/error.hpp>

#include <algorithm>

namespace rocio::detail {

void receive_some_operation::stop_taking() noexcept {
    auto held = from->engine().lock();
    from->stop_filling(this);
}

view_state::view_state(std::shared_ptr<receive_core> core, std::optional<std::uint8_t> channel,
                       const view_options& options)
    : core_(std::move(core)),
      engine_(core_->engine()),
      pool_(core_->pool()),
      channel_(channel),
      limit_(std::min(options.drop_oldest_beyond.value_or(pool_.depth()), pool_.depth())),
      queued_(pool_.depth()) {}

view_state::~view_state() = default;

std::string view_state::name() const {
    return channel_ ? "channel " + std::to_string(*channel_) : "all";
}

namespace {

/// What a receive that cannot be started ends with at once.
bool is_invalid(const receive_one_operation&) noexcept {
    return false;
}
bool is_invalid(const receive_some_operation& op) noexcept {
    return op.out.empty();
}
bool is_invalid(const receive_batch_operation& op) noexcept {
    return op.most == 0;
}

} // namespace

void view_state::start(receive_one_operation* op) {
    start_operation(op);
}
void view_state::start(receive_some_operation* op) {
    start_operation(op);
}
void view_state::start(receive_batch_operation* op) {
    start_operation(op);
}

/// A handler that takes the next frames of those queued needs no other function and no register to be saved.
template <class Operation>
inline void view_state::start_operation(Operation* op) {
    if (!engine_.try_enter()) [[unlikely]]
        return start_contended(op);
    if (queued_.empty() || !engine_.is_in_round() || is_invalid(*op)) [[unlikely]]
        return start_entered(op);
    take_queued(op);
    engine_.start_completed_in_round(op);
    engine_.leave();
}

template <class Operation>
[[gnu::noinline]] void view_state::start_contended(Operation* op) {
    engine_.lock().release();
    start_entered(op);
}

template <class Operation>
[[gnu::noinline]] void view_state::start_entered(Operation* op) {
    auto held = engine_.entered();
    if (engine_.is_shut_down()) {
        held.unlock();
        return op->destroy();
    }
    engine_.work_started();
    if (is_invalid(*op)) {
        op->set(errc::invalid_argument, {});
        return engine_.complete(op);
    }
    if (!queued_.empty()) {
        take_queued(op);
        return engine_.complete(op);
    }
    filling_ = nullptr;
    if (!core_->has_ended()) [[likely]]
        return waiting(op).push(op);
    op->set(core_->end_reason(), {});
    engine_.complete(op);
}

void view_state::cancel(std::uint64_t id) {
    auto held = engine().lock();
    const auto end = [this, id](auto& queue, auto result) {
        for (auto* op = queue.front(); op; op = static_cast<decltype(op)>(op->next)) {
            if (op->id != id) continue;
            queue.remove(op);
            op->set(asio::error::operation_aborted, std::move(result));
            return engine().complete(op);
        }
    };
    end(waiting_one_, frame());
    end(waiting_some_, std::size_t{0});
    end(waiting_batch_, frame_batch());
}

void view_state::cancel_all(const error_code& ec) {
    auto held = engine().lock();
    complete_all(ec);
}

void view_state::destroy_owner() {
    auto held = engine().lock();
    complete_all(asio::error::operation_aborted);
    core_->detach_view(*this);
    drop_queued();
}

void view_state::complete_all(const error_code& ec) {
    while (auto* op = waiting_one_.pop()) {
        op->set(ec, frame());
        engine().complete(op);
    }
    while (auto* op = waiting_some_.pop()) {
        op->set(ec, 0);
        engine().complete(op);
    }
    while (auto* op = waiting_batch_.pop()) {
        op->set(ec, frame_batch());
        engine().complete(op);
    }
}

void view_state::take_operations(async::operation_queue<>& pending) noexcept {
    filling_ = nullptr; // it goes uncalled
    while (auto* op = waiting_one_.pop()) pending.push(op);
    while (auto* op = waiting_some_.pop()) pending.push(op);
    while (auto* op = waiting_batch_.pop()) pending.push(op);
}

/// What replaces frames sends those back.
void view_state::take_queued(receive_some_operation* op) noexcept {
    do queued_.drop_front(op->take(pool_, queued_.front()));
    while (!op->is_full() && !queued_.empty());
    core_->give_back_recycled();
    if (op->is_full() || engine_.is_in_round()) return;
    // What comes until its handler is called is put in too.
    op->takes_more = true;
    filling_ = op;
}

void view_state::take_queued(receive_batch_operation* op) noexcept {
    const auto& first = queued_.front();
    const auto slots = first.front(static_cast<std::uint32_t>(std::min<std::size_t>(first.size(), op->most)));
    op->take({pool_, slots.first, slots.size(), have_one_lease(slots)});
    queued_.drop_front(slots.size());
}

bool view_state::have_one_lease(const slot_range& slots) const noexcept {
    if (queued_have_one_lease_) [[likely]]
        return true;
    for (auto slot = slots.first; slot != slots.end; ++slot)
        if (pool_.leases(slot) != 1) return false;
    return true;
}

inline std::uint32_t view_state::fill(const slot_range& slots) noexcept {
    const auto taken = filling_->take(pool_, slots);
    if (filling_->is_full()) filling_ = nullptr;
    return taken;
}

inline std::uint32_t view_state::give_to_waiting(const slot_range& slots) noexcept {
    if (auto* op = waiting_one_.pop()) {
        op->take(pool_, slots.first);
        engine_.complete(op);
        return 1;
    }
    if (auto* op = waiting_batch_.pop()) return give_to_batch(op, slots);
    if (auto* op = waiting_some_.pop()) return give_to_some(op, slots);
    return 0;
}

inline std::uint32_t view_state::give_to_batch(receive_batch_operation* op,
                                               const slot_range& slots) noexcept {
    const auto n = static_cast<std::uint32_t>(std::min<std::size_t>(slots.size(), op->most));
    op->take({pool_, slots.first, n, core_->lends_to_one()});
    engine_.complete(op);
    return n;
}

/// What follows is put in too, unless somebody else waits.
inline std::uint32_t view_state::give_to_some(receive_some_operation* op, const slot_range& slots) noexcept {
    const bool alone = !others_wait();
    const auto n = op->take(pool_, alone ? slots : slots.front(1));
    engine_.complete(op);
    if (!alone || op->is_full()) return n;
    op->takes_more = true;
    filling_ = op;
    return n;
}

void view_state::deliver(slot_range slots) noexcept {
    arrived_ += slots.size();
    do {
        const auto taken = filling_ ? fill(slots) : give_to_waiting(slots);
        if (taken == 0) return queue(slots);
        slots = slots.without(taken);
    } while (!slots.empty());
}

inline void view_state::queue(const slot_range& slots) noexcept {
    if (slots.size() > limit_ - queued_.size()) [[unlikely]]
        return queue_in_place_of_oldest(slots);
    const bool one_lease = core_->lends_to_one();
    queued_have_one_lease_ = one_lease && (queued_have_one_lease_ || queued_.empty());
    queued_.push(slots);
}

/// One by one, since the oldest may be of these.
[[gnu::noinline]] void view_state::queue_in_place_of_oldest(const slot_range& slots) noexcept {
    queued_have_one_lease_ = false;
    for (auto slot = slots.first; slot != slots.end; ++slot) {
        if (queued_.size() == limit_) {
            ++dropped_;
            pool_.drop_lease(queued_.pop());
        }
        queued_.push({slot, slot + 1});
    }
}

void view_state::drop_queued() noexcept {
    while (!queued_.empty()) pool_.drop_lease(queued_.pop());
}

} // namespace rocio::detail

#include <rocio/stream/detail/receive_core.hpp>
#include <rocio/stream/detail/view_state.hpp>

#include <boost/asio/error.hpp>

#include <algorithm>
#include <bit>

namespace rocio::detail {

void receive_some_operation::before_upcall() noexcept {
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
      ring_(std::bit_ceil(pool_.depth())),
      mask_(static_cast<std::uint32_t>(ring_.size()) - 1) {}

view_state::~view_state() = default;

std::string view_state::name() const {
    return channel_ ? "channel " + std::to_string(*channel_) : "all";
}

/// A handler that takes the next frame of those queued needs no other function and no register to be saved.
void view_state::start(receive_one_operation* op) {
    if (!engine_.try_enter()) [[unlikely]]
        return start_contended(op);
    if (count_ == 0 || !engine_.is_in_round()) [[unlikely]]
        return start_entered(op);
    op->take(pool_, pop());
    engine_.start_completed_in_round(op);
    engine_.leave();
}

[[gnu::noinline]] void view_state::start_contended(receive_one_operation* op) {
    engine_.lock().release();
    start_entered(op);
}

[[gnu::noinline]] void view_state::start_entered(receive_one_operation* op) {
    auto held = engine_.entered();
    if (engine_.is_shut_down()) {
        held.unlock();
        return op->destroy();
    }
    engine_.work_started();
    if (count_ > 0) return finish(op, pop());
    filling_ = nullptr;
    if (!core_->has_ended()) [[likely]]
        return waiting_one_.push(op);
    op->set(core_->end_reason(), {});
    engine_.complete(op);
}

void view_state::start(receive_some_operation* op) {
    auto held = engine().lock();
    if (engine().is_shut_down()) {
        held.unlock();
        return op->destroy();
    }
    engine().work_started();
    const auto end_now = [&](const error_code& ec) {
        op->set(ec, 0);
        engine().complete(op);
    };
    if (op->out.empty()) return end_now(errc::invalid_argument);
    if (count_ > 0) return finish(op);
    filling_ = nullptr;
    if (core_->has_ended()) return end_now(core_->end_reason());
    waiting_some_.push(op);
}

void view_state::start(receive_batch_operation* op) {
    auto held = engine_.lock();
    if (engine_.is_shut_down()) {
        held.unlock();
        return op->destroy();
    }
    engine_.work_started();
    filling_ = nullptr;
    if (op->most == 0)
        op->set(errc::invalid_argument, {});
    else if (count_ > 0)
        return finish_with_queued(op);
    else if (!core_->has_ended()) [[likely]]
        return waiting_batch_.push(op);
    else
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

void view_state::finish(receive_one_operation* op, std::uint32_t slot) noexcept {
    op->take(pool_, slot);
    engine_.complete(op);
}

/// With what is queued. What comes until its handler is called is put in too.
void view_state::finish(receive_some_operation* op) noexcept {
    filling_ = op;
    while (filling_ && count_ > 0) {
        const auto slot = pop();
        (void)fill({&slot, 1});
    }
    engine_.complete(op);
    core_->note_recycled();
}

/// As many of the first as lie side by side. `sole`: each has one lease, this one.
std::size_t view_state::finish(receive_batch_operation* op, std::span<const std::uint32_t> slots,
                               bool sole) noexcept {
    const auto most = std::min(slots.size(), op->most);
    std::size_t n = 1;
    while (n < most && slots[n] == slots.front() + n) ++n;
    op->take({pool_, slots.front(), static_cast<std::uint32_t>(n), sole});
    engine_.complete(op);
    return n;
}

void view_state::finish_with_queued(receive_batch_operation* op) noexcept {
    const auto at = head_ & mask_;
    const auto queued =
        std::span(ring_).subspan(at, std::min({std::size_t{count_}, op->most, ring_.size() - at}));
    // Another view may have come since.
    const auto has_one_lease = [&](std::uint32_t slot) { return pool_.leases(slot) == 1; };
    const bool sole = std::all_of(queued.begin(), queued.end(), has_one_lease);
    const auto n = finish(op, queued, sole);
    head_ += n;
    count_ -= static_cast<std::uint32_t>(n);
}

inline std::size_t view_state::fill(std::span<const std::uint32_t> slots) noexcept {
    const auto taken = filling_->take(pool_, slots);
    if (filling_->is_full()) filling_ = nullptr;
    return taken;
}

/// For the first of these frames; what follows is put in too, unless somebody else waits.
inline std::size_t view_state::give_to_waiting(std::span<const std::uint32_t> slots) noexcept {
    if (auto* op = waiting_one_.pop()) return finish(op, slots.front()), 1;
    if (auto* op = waiting_batch_.pop()) return finish(op, slots, core_->lends_to_one());
    auto* op = waiting_some_.pop();
    if (!op) return 0;
    engine_.complete(op);
    filling_ = op;
    if (!others_wait()) return fill(slots);
    (void)fill(slots.first(1));
    filling_ = nullptr;
    return 1;
}

void view_state::deliver(std::span<const std::uint32_t> slots) noexcept {
    do {
        const auto taken = filling_ ? fill(slots) : give_to_waiting(slots);
        if (taken == 0) return queue(slots);
        at_once_ += taken;
        slots = slots.subspan(taken);
    } while (!slots.empty());
}

inline void view_state::queue(std::span<const std::uint32_t> slots) noexcept {
    const auto n = static_cast<std::uint32_t>(slots.size());
    if (n > limit_ - count_) [[unlikely]] {
        // One by one, so that the oldest go, be they of these.
        if (n > 1) {
            for (const auto slot : slots) queue({&slot, 1});
            return;
        }
        ++dropped_;
        pool_.drop_lease(pop());
    }
    const auto at = (head_ + count_) & mask_;
    count_ += n;
    const auto before_end = std::min<std::size_t>(n, ring_.size() - at);
    std::copy_n(slots.begin(), before_end, ring_.begin() + static_cast<std::ptrdiff_t>(at));
    if (before_end < n) [[unlikely]]
        std::copy(slots.begin() + static_cast<std::ptrdiff_t>(before_end), slots.end(), ring_.begin());
}

void view_state::drop_queued() noexcept {
    while (count_ > 0) pool_.drop_lease(pop());
}

} // namespace rocio::detail

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

[[gnu::flatten]] void view_state::start(receive_one_operation* op) {
    auto held = engine().lock();
    if (engine().is_shut_down()) [[unlikely]] {
        held.unlock();
        return op->destroy();
    }
    engine().work_started();
    if (count_ > 0) return finish(op, pop());
    filling_ = nullptr;
    if (const auto reason = core_->end_reason()) {
        op->set(reason, {});
        return engine().complete(op);
    }
    waiting_one_.push(op);
}

[[gnu::flatten]] void view_state::start(receive_some_operation* op) {
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
    if (count_ > 0) return finish(op, pop());
    filling_ = nullptr;
    if (const auto reason = core_->end_reason()) return end_now(reason);
    waiting_some_.push(op);
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
}

void view_state::take_operations(async::operation_queue<>& pending) noexcept {
    filling_ = nullptr; // it goes uncalled
    while (auto* op = waiting_one_.pop()) pending.push(op);
    while (auto* op = waiting_some_.pop()) pending.push(op);
}

void view_state::finish(receive_one_operation* op, std::uint32_t slot) noexcept {
    ++delivered_;
    op->take(pool_, slot);
    engine().complete(op);
}

/// What comes until its handler is called is put in, but for what is somebody else's who waits.
void view_state::finish(receive_some_operation* op, std::uint32_t slot) noexcept {
    engine().complete(op);
    ++delivered_;
    bool room = op->take(pool_, slot);
    for (; room && count_ > 0; ++delivered_) room = op->take(pool_, pop());
    const bool alone = waiting_one_.empty() && waiting_some_.empty();
    filling_ = room && alone ? op : nullptr;
    core_->note_recycled();
}

void view_state::queue(std::uint32_t slot) noexcept {
    if (count_ >= limit_) {
        ++dropped_;
        pool_.drop_lease(pop());
    }
    ring_[(head_ + count_++) & mask_] = slot;
}

void view_state::drop_queued() noexcept {
    while (count_ > 0) pool_.drop_lease(pop());
}

} // namespace rocio::detail

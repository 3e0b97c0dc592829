#include <rocio/stream/detail/receive_core.hpp>
#include <rocio/stream/detail/view_state.hpp>

#include <boost/asio/error.hpp>

#include <algorithm>

namespace rocio::detail {

void receive_some_operation::before_upcall() noexcept {
    if (std::get<0>(result_)) return;
    auto& taken = std::get<1>(result_);
    auto held = from->engine().lock();
    taken += from->take_more(out.subspan(taken));
}

view_state::view_state(std::shared_ptr<receive_core> core, std::optional<std::uint8_t> channel,
                       const view_options& options)
    : core_(std::move(core)), channel_(channel), options_(options), ring_(core_->config().rx_queue_depth) {}

view_state::~view_state() = default;

completion_engine& view_state::engine() noexcept {
    return core_->engine();
}

std::string view_state::name() const {
    return channel_ ? "channel " + std::to_string(*channel_) : "all";
}

std::uint64_t view_state::next_id() noexcept {
    return last_id_.fetch_add(1, std::memory_order_relaxed) + 1;
}

void view_state::start(receive_one_operation* op) {
    auto held = engine().lock();
    if (engine().is_shut_down()) {
        held.unlock();
        return op->destroy();
    }
    engine().work_started();
    if (count_ > 0) return finish_one(op, pop());
    if (const auto reason = core_->end_reason()) {
        op->set(reason, {});
        return engine().complete(op);
    }
    waiting_one_.push(op);
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
    if (count_ > 0) return finish_some(op, pop());
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
    while (auto* op = waiting_one_.pop()) pending.push(op);
    while (auto* op = waiting_some_.pop()) pending.push(op);
}

void view_state::finish_one(receive_one_operation* op, const queued_frame& entry) {
    ++delivered_;
    op->set({}, frame(core_->pool(), entry));
    engine().complete(op);
}

void view_state::finish_some(receive_some_operation* op, const queued_frame& entry) {
    ++delivered_;
    op->out[0] = frame(core_->pool(), entry);
    op->set({}, 1);
    engine().complete(op);
}

void view_state::deliver(const queued_frame& entry) {
    if (auto* op = waiting_one_.pop()) return finish_one(op, entry);
    if (auto* op = waiting_some_.pop()) return finish_some(op, entry);
    const auto limit =
        std::min<std::uint32_t>(options_.drop_oldest_beyond.value_or(core_->config().rx_queue_depth),
                                static_cast<std::uint32_t>(ring_.size()));
    if (count_ >= limit) {
        ++dropped_;
        core_->give_back(pop().slot);
    }
    ring_[(head_ + count_) % ring_.size()] = entry;
    ++count_;
}

queued_frame view_state::pop() noexcept {
    const auto entry = ring_[head_];
    head_ = static_cast<std::uint32_t>((head_ + 1) % ring_.size());
    --count_;
    return entry;
}

std::size_t view_state::take_more(std::span<frame> out) {
    std::size_t n = 0;
    for (; n < out.size() && count_ > 0; ++n) out[n] = frame(core_->pool(), pop());
    delivered_ += n;
    return n;
}

void view_state::drop_queued() noexcept {
    while (count_ > 0) core_->give_back(pop().slot);
}

} // namespace rocio::detail

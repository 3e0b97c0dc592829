#include <rocio/io/detail/raw_completions.hpp>

#include <boost/asio/error.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace rocio {

raw_completions::raw_completions(completion_engine& engine, std::shared_ptr<device> dev, std::uint32_t depth)
    : engine_(engine), device_(std::move(dev)), depth_(depth) {
    constexpr std::uint32_t most = 1U << 24;
    if (depth == 0 || depth > most) {
        throw_if({errc::invalid_argument, "a completion queue of depth " + std::to_string(depth) +
                                              " was asked for, allowed is 1 to " + std::to_string(most)});
    }
    ring_.resize(std::size_t{2} * depth);
    auto held = engine_.lock();
    throw_if(engine_.attach(device_));
    if (auto e = engine_.add_sink(*this, *device_, place_)) {
        engine_.detach(device_);
        throw_if(e);
    }
    engine_.add_sweeper(*this);
}

raw_completions::~raw_completions() {
    auto held = engine_.lock();
    finish(asio::error::operation_aborted, 0);
    engine_.remove_sweeper(*this);
    engine_.remove_sink(place_);
    engine_.detach(device_);
}

error_info raw_completions::promise(std::uint32_t n) {
    if (depth_ - promised_ < n) {
        return {errc::limit_exceeded, "the completion queue has room for " + std::to_string(depth_) +
                                          " completions, " + std::to_string(promised_) +
                                          " are promised and " + std::to_string(n) +
                                          " more are asked for: make it deeper"};
    }
    promised_ += n;
    return {};
}

void raw_completions::give_back(wr_id prefix, std::uint32_t n) noexcept {
    forget(prefix);
    promised_ -= n;
}

void raw_completions::forget(wr_id prefix) noexcept {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count_; ++i) {
        const auto& c = place(i);
        if (c.id.owner == prefix.owner && c.id.generation == prefix.generation) continue;
        place(kept++) = c;
    }
    count_ = kept;
}

void raw_completions::push(const work_completion& completion) noexcept {
    // Only a device that completes what was never posted gets here.
    if (count_ == ring_.size()) return engine_.count_stale();
    place(count_++) = completion;
}

bool raw_completions::on_sweep() noexcept {
    if (!waiting_ || count_ == 0) return false;
    finish({}, take_locked(waiting_->out));
    return true;
}

void raw_completions::on_device_event(const device_event& event) noexcept {
    if (event.kind != device_event_kind::device_fatal &&
        event.kind != device_event_kind::completion_queue_error)
        return;
    failure_ = errc::device_fatal;
    if (count_ == 0) finish(failure_, 0);
}

std::size_t raw_completions::take_locked(std::span<work_completion> out) noexcept {
    const auto n = std::min(out.size(), count_);
    for (std::size_t i = 0; i < n; ++i) out[i] = place(i);
    head_ = (head_ + n) % ring_.size();
    count_ -= n;
    return n;
}

std::size_t raw_completions::take(std::span<work_completion> out) {
    auto held = engine_.lock();
    return take_locked(out);
}

void raw_completions::finish(const error_code& ec, std::size_t n) noexcept {
    auto* op = std::exchange(waiting_, nullptr);
    if (!op) return;
    op->set(ec, n);
    engine_.complete(op);
}

void raw_completions::start(poll_operation* op) {
    auto held = engine_.lock();
    if (engine_.is_shut_down()) {
        held.unlock();
        return op->destroy();
    }
    engine_.work_started();
    const bool second = waiting_ != nullptr;
    if (!second && !op->out.empty() && count_ == 0 && !failure_) {
        waiting_ = op;
        return;
    }
    if (second)
        op->set(errc::invalid_state, 0);
    else if (count_ == 0 && failure_)
        op->set(failure_, 0);
    else
        op->set({}, take_locked(op->out));
    engine_.complete(op);
}

void raw_completions::cancel() {
    auto held = engine_.lock();
    finish(asio::error::operation_aborted, 0);
}

void raw_completions::cancel(const void* key, asio::cancellation_type) {
    auto held = engine_.lock();
    if (waiting_ && waiting_->cancellation_key == key) finish(asio::error::operation_aborted, 0);
}

void raw_completions::on_shutdown(async::operation_queue<>& pending) noexcept {
    if (waiting_) pending.push(std::exchange(waiting_, nullptr));
}

} // namespace rocio

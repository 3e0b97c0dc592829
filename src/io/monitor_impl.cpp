#include <rocio/io/detail/monitor_impl.hpp>

#include <boost/asio/error.hpp>

namespace rocio::detail {

monitor_impl::monitor_impl(completion_engine& engine, std::shared_ptr<device> dev)
    : engine_(engine), device_(std::move(dev)) {
    auto held = engine_.lock();
    throw_if(engine_.attach(device_));
    if (auto e = engine_.add_sink(*this, *device_, place_)) {
        engine_.detach(device_);
        throw_if(e);
    }
}

monitor_impl::~monitor_impl() {
    auto held = engine_.lock();
    engine_.remove_sink(place_);
    engine_.detach(device_);
}

void monitor_impl::start(event_operation* op) {
    auto held = engine_.lock();
    if (engine_.is_shut_down()) {
        held.unlock();
        return op->destroy();
    }
    engine_.work_started();
    if (count_ == 0 && !fatal_) return waiting_.push(op);
    if (count_ == 0) {
        op->set(errc::device_fatal, {});
    } else {
        op->set({}, kept_[first_]);
        first_ = (first_ + 1) % kept_.size();
        --count_;
    }
    engine_.complete(op);
}

void monitor_impl::finish_all(const error_code& ec) noexcept {
    while (auto* op = waiting_.pop()) {
        op->set(ec, {});
        engine_.complete(op);
    }
}

void monitor_impl::cancel() {
    auto held = engine_.lock();
    finish_all(asio::error::operation_aborted);
}

void monitor_impl::cancel(const void* key, asio::cancellation_type) {
    auto held = engine_.lock();
    auto* op = waiting_.take_by_key(key);
    if (!op) return;
    op->set(asio::error::operation_aborted, {});
    engine_.complete(op);
}

std::uint64_t monitor_impl::lost() const {
    auto held = engine_.lock();
    return lost_;
}

void monitor_impl::on_device_event(const device_event& event) noexcept {
    if (auto* op = waiting_.pop()) {
        op->set({}, event);
        engine_.complete(op);
    } else {
        if (count_ == kept_.size()) {
            first_ = (first_ + 1) % kept_.size();
            --count_;
            ++lost_;
        }
        kept_[(first_ + count_++) % kept_.size()] = event;
    }
    if (event.kind != device_event_kind::device_fatal) return;
    fatal_ = true;
    finish_all(errc::device_fatal);
}

void monitor_impl::on_shutdown(async::operation_queue<>& pending) noexcept {
    while (auto* op = waiting_.pop()) pending.push(op);
}

} // namespace rocio::detail

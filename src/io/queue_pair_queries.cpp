#include <rocio/io/detail/queue_pair_impl.hpp>

namespace rocio::detail {

// ---- What a queue pair tells of itself

qpn queue_pair_impl::number() const noexcept {
    auto held = engine().lock();
    auto* pair = core_.pair_or_null();
    return pair ? pair->number() : qpn{};
}

queue_pair_state queue_pair_impl::state() const noexcept {
    auto held = engine().lock();
    auto* pair = core_.pair_or_null();
    return pair ? pair->state() : queue_pair_state::error;
}

error_code queue_pair_impl::close_reason() const {
    auto held = engine().lock();
    return close_reason_;
}

peer_parameters queue_pair_impl::peer() const {
    auto held = engine().lock();
    return peer_;
}

error_info queue_pair_impl::last_error() const {
    auto held = engine().lock();
    return last_error_;
}

bool queue_pair_impl::counters(device_queue_pair_counters& out) const {
    auto held = engine().lock();
    auto* pair = core_.pair_or_null();
    return pair && pair->counters(out);
}

queue_pair_snapshot queue_pair_impl::snapshot() const {
    queue_pair_snapshot s;
    s.device = core_.dev()->name();
    s.type = to_string(core_.config().type);
    auto held = engine().lock();
    s.set_state(core_.pair_state());
    s.set_local(core_.local());
    if (peer_.queue_pair != qpn{}) s.set_peer(peer_);
    s.counters = core_.counters();
    return s;
}

} // namespace rocio::detail

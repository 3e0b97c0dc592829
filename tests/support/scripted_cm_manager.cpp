#include "scripted_cm_manager.hpp"

#include <algorithm>
#include <cerrno>

namespace rocio::test {

namespace {

error_info invalid(const char* call) {
    return {error_code(EINVAL, boost::system::system_category()), std::string(call) + ": Invalid argument"};
}

} // namespace

scripted_cm::manager::~manager() {
    const inside here(*this);
    const std::lock_guard lock(cm_->mutex_);
    for (const auto& event : events) {
        if (event.kind == cm_event_kind::connect_request) cm_->ends_.erase(event.connection);
    }
    const auto left =
        std::erase_if(cm_->ends_, [this](const auto& entry) { return entry.second.owner == this; });
    if (left > 0) cm_->violations_.push_back(std::to_string(left) + " ids outlived their owners");
    for (auto& [id, owner] : cm_->owners_) {
        if (owner == this) owner = nullptr;
    }
    std::erase(cm_->managers_, this);
}

bool scripted_cm::manager::next_event(cm_event& out) {
    const inside here(*this, is_slow());
    const std::lock_guard lock(cm_->mutex_);
    if (events.empty()) {
        fd_.clear();
        return false;
    }
    out = events.front();
    events.pop_front();
    const auto listener = cm_->ends_.find(out.id);
    if (out.kind == cm_event_kind::connect_request && listener != cm_->ends_.end() &&
        listener->second.waiting > 0)
        --listener->second.waiting;
    return true;
}

error_info scripted_cm::manager::create(cm_id& out) {
    const inside here(*this);
    call_hook(cm_call::create);
    const std::lock_guard lock(cm_->mutex_);
    if (auto e = cm_->enter(cm_call::create, {})) return e;
    out = cm_->make_end(*this);
    return {};
}

error_info scripted_cm::manager::listen(const cm_endpoint& where, int backlog, cm_id& out) {
    const inside here(*this);
    call_hook(cm_call::listen);
    const std::lock_guard lock(cm_->mutex_);
    cm_record record;
    record.from = where;
    record.backlog = backlog;
    if (auto e = cm_->enter(cm_call::listen, record)) return e;
    auto local = where;
    if (local.port == 0) local.port = ++cm_->last_port_;
    for (const auto& [id, e] : cm_->ends_) {
        if (e.listens && e.local.port == local.port && e.local.address == local.address &&
            e.owner->address == address)
            return {error_code(EADDRINUSE, boost::system::system_category()), "rdma_bind_addr: in use"};
    }
    out = cm_->make_end(*this);
    auto& made = cm_->ends_[out];
    made.listens = true;
    made.local = local;
    made.backlog = static_cast<std::size_t>(std::max(backlog, 0));
    return {};
}

error_info scripted_cm::manager::resolve_address(cm_id id, const cm_endpoint& from, const cm_endpoint& to,
                                                 std::chrono::milliseconds) {
    const inside here(*this);
    call_hook(cm_call::resolve_address);
    const std::lock_guard lock(cm_->mutex_);
    cm_record record;
    record.id = id;
    record.from = from;
    record.to = to;
    if (auto e = cm_->enter(cm_call::resolve_address, record)) return e;
    auto* const e = cm_->find(id, "resolve_address");
    if (!e) return invalid("resolve_address");
    e->local = from;
    e->local.port = ++cm_->last_port_;
    e->peer = to;
    cm_->push_after(cm_call::resolve_address, id,
                    [&] { cm_->push(id, {.kind = cm_event_kind::address_resolved}); });
    return {};
}

error_info scripted_cm::manager::resolve_route(cm_id id, std::chrono::milliseconds) {
    const inside here(*this);
    call_hook(cm_call::resolve_route);
    const std::lock_guard lock(cm_->mutex_);
    if (auto e = cm_->enter(cm_call::resolve_route, {.id = id})) return e;
    if (!cm_->find(id, "resolve_route")) return invalid("resolve_route");
    cm_->push_after(cm_call::resolve_route, id,
                    [&] { cm_->push(id, {.kind = cm_event_kind::route_resolved}); });
    return {};
}

error_info scripted_cm::manager::connect(cm_id id, const cm_offer& offer) {
    const inside here(*this);
    call_hook(cm_call::connect);
    const std::lock_guard lock(cm_->mutex_);
    check_size(offer.data.size(), cm_private_data::most_at_connect, "connect");
    const std::vector<std::byte> data(offer.data.begin(), offer.data.end());
    if (auto e = cm_->enter(cm_call::connect, {.id = id, .offer = offer, .data = data})) return e;
    auto* const e = cm_->find(id, "connect");
    if (!e) return invalid("connect");
    e->asks = true;
    e->queue_pair = offer.queue_pair;
    cm_->push_after(cm_call::connect, id, [&] { cm_->deliver_request(id, data); });
    return {};
}

error_info scripted_cm::manager::establish(cm_id id) {
    const inside here(*this);
    call_hook(cm_call::establish);
    const std::lock_guard lock(cm_->mutex_);
    if (auto e = cm_->enter(cm_call::establish, {.id = id})) return e;
    auto* const e = cm_->find(id, "establish");
    if (!e || e->gone) return invalid("establish");
    e->connected = true;
    cm_->push_after(cm_call::establish, id, [&] {
        auto* const other = cm_->other_of(*e);
        if (!other) return;
        other->connected = true;
        cm_->push(e->other, {.kind = cm_event_kind::established});
    });
    return {};
}

error_info scripted_cm::manager::accept(cm_id id, const cm_offer& offer) {
    const inside here(*this);
    call_hook(cm_call::accept);
    const std::lock_guard lock(cm_->mutex_);
    check_size(offer.data.size(), cm_private_data::most_at_accept, "accept");
    const std::vector<std::byte> data(offer.data.begin(), offer.data.end());
    if (auto e = cm_->enter(cm_call::accept, {.id = id, .offer = offer, .data = data})) return e;
    auto* const e = cm_->find(id, "accept");
    if (!e || e->gone) return invalid("accept");
    e->queue_pair = offer.queue_pair;
    cm_->push_after(cm_call::accept, id, [&] {
        if (auto* const other = cm_->other_of(*e)) {
            other->peer_queue_pair = offer.queue_pair;
            return cm_->push(e->other, {.kind = cm_event_kind::connect_response,
                                        .data = padded(data, cm_private_data::most_at_accept)});
        }
        e->connected = true;
        cm_->push(id, {.kind = cm_event_kind::established});
    });
    return {};
}

error_info scripted_cm::manager::reject(cm_id id, std::span<const std::byte> data) {
    const inside here(*this);
    call_hook(cm_call::reject);
    const std::lock_guard lock(cm_->mutex_);
    check_size(data.size(), cm_private_data::most_at_reject, "reject");
    if (auto e = cm_->enter(cm_call::reject, {.id = id, .data = {data.begin(), data.end()}})) return e;
    auto* const e = cm_->find(id, "reject");
    if (!e || e->gone) return invalid("reject");
    cm_->push_after(cm_call::reject, id, [&] {
        auto* const other = cm_->other_of(*e);
        if (!other) return;
        cm_->push(e->other, rejection(reject_consumer, data));
        other->gone = true;
        other->other = e->other = cm_id::none;
    });
    return {};
}

error_info scripted_cm::manager::disconnect(cm_id id) {
    const inside here(*this);
    call_hook(cm_call::disconnect);
    const std::lock_guard lock(cm_->mutex_);
    if (auto e = cm_->enter(cm_call::disconnect, {.id = id})) return e;
    auto* const e = cm_->find(id, "disconnect");
    if (!e) return invalid("disconnect");
    if (!std::exchange(e->connected, false)) return e->was_connected ? error_info{} : invalid("disconnect");
    e->was_connected = true;
    cm_->push_after(cm_call::disconnect, id, [&] {
        cm_->push(id, {.kind = cm_event_kind::disconnected});
        if (cm_->time_wait_) cm_->push(id, {.kind = cm_event_kind::time_wait_exit});
        cm_->part(*e);
    });
    return {};
}

error_info scripted_cm::manager::numbers(cm_id id, cm_numbers& out) {
    const inside here(*this);
    call_hook(cm_call::numbers);
    const std::lock_guard lock(cm_->mutex_);
    if (auto e = cm_->enter(cm_call::numbers, {.id = id})) return e;
    auto* const e = cm_->find(id, "numbers");
    if (!e) return invalid("numbers");
    if (e->other == cm_id::none && cm_->imposed_) {
        out = *cm_->imposed_;
        return {};
    }
    out = {};
    out.local_address = e->local.address;
    out.peer_address = e->peer.address;
    out.peer_queue_pair = e->peer_queue_pair;
    out.receive_psn = e->first;
    if (const auto* const other = cm_->other_of(*e)) out.send_psn = other->first;
    out.path_mtu = cm_->path_mtu_;
    out.reads_in = 8;
    out.reads_out = 4;
    return {};
}

cm_endpoint scripted_cm::manager::local_endpoint(cm_id id) const {
    const std::lock_guard lock(cm_->mutex_);
    const auto found = cm_->ends_.find(id);
    return found == cm_->ends_.end() ? cm_endpoint{} : found->second.local;
}

cm_endpoint scripted_cm::manager::peer_endpoint(cm_id id) const {
    const std::lock_guard lock(cm_->mutex_);
    const auto found = cm_->ends_.find(id);
    return found == cm_->ends_.end() ? cm_endpoint{} : found->second.peer;
}

std::size_t scripted_cm::manager::size() const noexcept {
    const std::lock_guard lock(cm_->mutex_);
    const auto is_mine = [this](const auto& entry) { return entry.second.owner == this; };
    return static_cast<std::size_t>(std::ranges::count_if(cm_->ends_, is_mine));
}

void scripted_cm::manager::destroy(cm_id id) noexcept {
    const inside here(*this, is_slow());
    const std::lock_guard lock(cm_->mutex_);
    cm_->calls_.push_back({.what = "destroy", .id = id});
    const auto found = cm_->ends_.find(id);
    if (found == cm_->ends_.end()) {
        cm_->violations_.emplace_back("an id was destroyed that is not there");
        return;
    }
    auto gone = found->second;
    cm_->ends_.erase(found);
    // Requests that nobody has heard of go with their listener.
    for (const auto& event : events) {
        if (event.id != id || event.kind != cm_event_kind::connect_request) continue;
        const auto unheard = cm_->ends_.find(event.connection);
        if (unheard == cm_->ends_.end()) continue;
        auto e = unheard->second;
        cm_->ends_.erase(unheard);
        cm_->part(e);
    }
    std::erase_if(events, [id](const cm_event& event) { return event.id == id; });
    cm_->part(gone);
}

} // namespace rocio::test

#include "scripted_connection_manager.hpp"

#include "scripted_cm_manager.hpp"

#include <algorithm>

namespace rocio::test {

namespace {

constexpr std::array<const char*, cm_calls> names{
    "create_manager", "create", "listen", "resolve_address", "resolve_route", "connect",
    "establish",      "accept", "reject", "disconnect",      "numbers"};

bool is_any(const gid& address) noexcept {
    return address == gid() || address == gid::from_v4({0, 0, 0, 0});
}

} // namespace

cm_private_data padded(std::span<const std::byte> bytes, std::size_t size) {
    cm_private_data out;
    std::copy_n(bytes.begin(), std::min(bytes.size(), size), out.bytes.begin());
    out.size = size;
    return out;
}

void scripted_cm::serve(scripted_device& dev, const gid& address) {
    dev.set_connection_manager(
        [cm = shared_from_this(), address](std::unique_ptr<connection_manager>& out) -> error_info {
            {
                const std::lock_guard lock(cm->mutex_);
                if (auto e = cm->enter(cm_call::create_manager, {})) return e;
            }
            out = std::make_unique<manager>(cm, address);
            return {};
        });
}

error_info scripted_cm::enter(cm_call call, cm_record record) {
    const auto index = static_cast<std::size_t>(call);
    auto& f = failures_[index];
    const bool strikes = f.after > 0 && --f.after == 0;
    record.what = names[index];
    record.offer.data = {};
    if (strikes) record.what += " failed";
    calls_.push_back(std::move(record));
    return strikes ? f.error : error_info{};
}

void scripted_cm::push(cm_id to, cm_event event) {
    if (event.id == cm_id::none) event.id = to;
    const auto stands = ends_.find(event.id);
    if (event.kind == cm_event_kind::established && stands != ends_.end()) stands->second.connected = true;
    const auto owner = owners_.find(event.id);
    if (owner != owners_.end() && owner->second) owner->second->push(event);
}

void scripted_cm::push_after(cm_call call, cm_id id, const std::function<void()>& otherwise) {
    const auto found = answers_.find(call);
    if (found == answers_.end()) return otherwise();
    for (const auto& event : found->second) push(id, event);
}

cm_id scripted_cm::make_end(manager& owner) {
    const auto id = static_cast<cm_id>(++last_id_);
    auto& made = ends_[id];
    made.owner = &owner;
    made.first = psn{last_psn_ += 0x111};
    owners_[id] = &owner;
    return id;
}

scripted_cm::end* scripted_cm::find(cm_id id, const char* what) {
    const auto found = ends_.find(id);
    if (found != ends_.end()) return &found->second;
    violations_.push_back(std::string(what) + " of an id that is not there");
    return nullptr;
}

scripted_cm::end* scripted_cm::other_of(const end& e) {
    const auto found = ends_.find(e.other);
    return found == ends_.end() ? nullptr : &found->second;
}

std::pair<cm_id, scripted_cm::end*> scripted_cm::listener_at(const cm_endpoint& where) {
    for (auto& [id, e] : ends_) {
        if (!e.listens || e.local.port != where.port) continue;
        if (e.local.address == where.address ||
            (is_any(e.local.address) && e.owner->address == where.address))
            return {id, &e};
    }
    return {cm_id::none, nullptr};
}

void scripted_cm::deliver_request(cm_id from, std::span<const std::byte> data) {
    auto& asking = ends_[from];
    const auto [listener, l] = listener_at(asking.peer);
    if (!l) return push(from, rejection(reject_invalid_service_id));
    if (l->waiting >= l->backlog) return push(from, rejection(reject_consumer));
    ++l->waiting;
    const auto made = make_end(*l->owner);
    auto& asked = ends_[made];
    asked.local = asking.peer;
    asked.peer = asking.local;
    asked.other = from;
    asked.peer_queue_pair = asking.queue_pair;
    asking.other = made;
    push(listener, {.kind = cm_event_kind::connect_request,
                    .connection = made,
                    .data = padded(data, cm_private_data::most_at_connect)});
}

/// `e` says goodbye, in order or by its end.
void scripted_cm::part(end& e) {
    auto* const other = other_of(e);
    if (!other) return;
    const auto to = std::exchange(e.other, cm_id::none);
    other->other = cm_id::none;
    if (std::exchange(other->connected, false)) {
        other->was_connected = true;
        push(to, {.kind = cm_event_kind::disconnected});
        if (time_wait_) push(to, {.kind = cm_event_kind::time_wait_exit});
        return;
    }
    other->gone = true;
    push(to, rejection(e.asks ? reject_timed_out : reject_consumer));
}

void scripted_cm::answer(cm_call call, std::vector<cm_event> events) {
    const std::lock_guard lock(mutex_);
    answers_[call] = std::move(events);
}

void scripted_cm::fail(cm_call call, const error_info& error, std::size_t k) {
    const std::lock_guard lock(mutex_);
    failures_[static_cast<std::size_t>(call)] = {k, error};
}

void scripted_cm::before(cm_call call, std::function<void()> hook) {
    const std::lock_guard lock(mutex_);
    hooks_[static_cast<std::size_t>(call)] = std::move(hook);
}

void scripted_cm::impose(const cm_numbers& n) {
    const std::lock_guard lock(mutex_);
    imposed_ = n;
}

void scripted_cm::set_time_wait(bool on) {
    const std::lock_guard lock(mutex_);
    time_wait_ = on;
}

void scripted_cm::set_path_mtu(mtu m) {
    const std::lock_guard lock(mutex_);
    path_mtu_ = m;
}

void scripted_cm::be_slow(bool on) {
    const std::lock_guard lock(mutex_);
    slow_ = on;
}

void scripted_cm::raise(const cm_event& event) {
    const std::lock_guard lock(mutex_);
    push(event.id, event);
}

cm_id scripted_cm::request(std::span<const std::byte> data, std::size_t size) {
    const std::lock_guard lock(mutex_);
    cm_id listener = cm_id::none;
    for (const auto& [id, e] : ends_) {
        if (e.listens) listener = id;
    }
    if (listener == cm_id::none) return listener;
    const auto made = make_end(*ends_[listener].owner);
    auto& asked = ends_[made];
    asked.local = ends_[listener].local;
    asked.peer = {gid::from_v4({10, 0, 0, 99}), ++last_port_};
    ++ends_[listener].waiting;
    push(listener, {.kind = cm_event_kind::connect_request, .connection = made, .data = padded(data, size)});
    return made;
}

std::vector<cm_record> scripted_cm::calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
}

std::vector<std::string> scripted_cm::log() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> out;
    for (const auto& call : calls_) out.push_back(call.what);
    return out;
}

std::size_t scripted_cm::count(const std::string& what) const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(
        std::ranges::count_if(calls_, [&](const cm_record& call) { return call.what == what; }));
}

cm_record scripted_cm::last(const std::string& what) const {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(calls_.rbegin(), calls_.rend(),
                                    [&](const cm_record& call) { return call.what == what; });
    return found == calls_.rend() ? cm_record{} : *found;
}

cm_id scripted_cm::newest() const {
    const std::lock_guard lock(mutex_);
    return static_cast<cm_id>(last_id_);
}

std::size_t scripted_cm::live_ids() const {
    const std::lock_guard lock(mutex_);
    return ends_.size();
}

std::size_t scripted_cm::live_managers() const {
    const std::lock_guard lock(mutex_);
    return managers_.size();
}

std::size_t scripted_cm::untaken_events() const {
    const std::lock_guard lock(mutex_);
    std::size_t n = 0;
    for (const auto* const m : managers_) n += m->events.size();
    return n;
}

std::vector<std::string> scripted_cm::violations() const {
    const std::lock_guard lock(mutex_);
    return violations_;
}

} // namespace rocio::test

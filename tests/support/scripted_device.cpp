#include "scripted_device.hpp"

#include "scripted_state.hpp"

#include <algorithm>
#include <numeric>

namespace rocio::test {

using script::pair_state;

namespace {

gid_table_entry entry_of(std::uint32_t index, const char* address) {
    gid_table_entry e;
    e.index = index;
    e.value = gid::parse(address).value();
    e.netdev = "script0";
    e.prefix = 24;
    return e;
}

port_attributes active_port() {
    port_attributes a;
    a.state = port_state::active;
    a.active_mtu = mtu::b4096;
    a.netdev_mtu = 4200;
    a.netdev = "script0";
    return a;
}

} // namespace

scripted_device::scripted_device(const scripted_device_config& config)
    : state_(std::make_shared<script::scripted_state>(config)) {
    for (std::uint8_t port = 1; port <= config.limits.ports; ++port) {
        state_->ports[port] = active_port();
        state_->gids[port] = {entry_of(0, port == 1 ? "10.0.0.1" : "10.0.1.1")};
    }
}

scripted_device::~scripted_device() = default;

bool scripted_device::complete_send(std::size_t pair, errc status) {
    std::lock_guard lock(state_->mutex);
    auto* p = state_->live_pair(pair);
    if (!p || p->sends.empty()) return false;
    state_->complete_send(*p, status);
    return true;
}

bool scripted_device::complete_receive(std::size_t pair, std::span<const std::byte> payload,
                                       std::optional<std::uint32_t> immediate) {
    std::lock_guard lock(state_->mutex);
    auto* p = state_->live_pair(pair);
    if (!p || p->receives.empty() || p->receives.front().buffer.size < payload.size()) return false;
    state_->complete_receive(*p, errc::success, payload, immediate, completion_opcode::receive);
    return true;
}

bool scripted_device::complete_write(std::size_t pair, std::uint32_t immediate) {
    std::lock_guard lock(state_->mutex);
    auto* p = state_->live_pair(pair);
    if (!p || p->receives.empty()) return false;
    state_->complete_receive(*p, errc::success, {}, immediate,
                             completion_opcode::receive_rdma_write_with_immediate);
    return true;
}

bool scripted_device::fail_receive(std::size_t pair, errc status) {
    std::lock_guard lock(state_->mutex);
    auto* p = state_->live_pair(pair);
    if (!p || p->receives.empty()) return false;
    state_->complete_receive(*p, status, {}, {}, completion_opcode::receive);
    return true;
}

void scripted_device::inject(const work_completion& completion, std::size_t queue) {
    std::lock_guard lock(state_->mutex);
    state_->push(queue, completion);
}

void scripted_device::refill(std::optional<work_completion> completion, std::size_t queue) {
    std::lock_guard lock(state_->mutex);
    state_->queues.at(queue)->endless = completion;
}

void scripted_device::fail_polls(errc error, std::size_t queue) {
    std::lock_guard lock(state_->mutex);
    state_->queues.at(queue)->poll_error = error;
}

void scripted_device::raise(const device_event& event) {
    std::lock_guard lock(state_->mutex);
    state_->async_queue.push_back(event);
    if (state_->async_events.fd() >= 0) state_->async_events.raise();
}

void scripted_device::raise_spurious_event() {
    state_->events.raise();
}

void scripted_device::raise_empty_event(std::size_t queue) {
    std::lock_guard lock(state_->mutex);
    auto& q = *state_->queues.at(queue);
    q.armed = false;
    state_->raise_event(q);
}

void scripted_device::set_event_per_completion(bool on) {
    std::lock_guard lock(state_->mutex);
    state_->event_per_completion = on;
}

void scripted_device::interrupt_drains(std::size_t n) {
    std::lock_guard lock(state_->mutex);
    state_->interrupted_drains = n;
}

void scripted_device::break_async_event_fd() {
    std::lock_guard lock(state_->mutex);
    state_->async_broken = true;
    state_->async_events.raise();
}

void scripted_device::fail_call(device_call call, std::size_t k, errc error) {
    std::lock_guard lock(state_->mutex);
    state_->failures[static_cast<std::size_t>(call)] = {k, error};
}

void scripted_device::fail_any_call(std::size_t k, errc error) {
    std::lock_guard lock(state_->mutex);
    state_->any_failure = {k, error};
}

void scripted_device::set_flush(flush_behaviour behaviour, std::size_t some) {
    std::lock_guard lock(state_->mutex);
    state_->flush = behaviour;
    state_->flush_some = some;
}

void scripted_device::set_flush_on_destroy(bool on) {
    std::lock_guard lock(state_->mutex);
    state_->flush_on_destroy = on;
}

void scripted_device::on_arm(std::function<void()> hook) {
    std::lock_guard lock(state_->mutex);
    state_->arm_hook = std::move(hook);
}

void scripted_device::on_progress(std::function<bool(time_point)> hook) {
    std::lock_guard lock(state_->mutex);
    state_->progress_hook = std::move(hook);
}

void scripted_device::set_next_deadline(time_point when) {
    std::lock_guard lock(state_->mutex);
    state_->deadline = when;
}

void scripted_device::set_gid_table(std::uint8_t port, std::vector<gid_table_entry> table) {
    std::lock_guard lock(state_->mutex);
    state_->gids[port] = std::move(table);
}

void scripted_device::set_port(std::uint8_t port, const port_attributes& attributes) {
    std::lock_guard lock(state_->mutex);
    state_->ports[port] = attributes;
}

void scripted_device::set_connection_manager(
    std::function<error_info(std::unique_ptr<connection_manager>&)> maker) {
    std::lock_guard lock(state_->mutex);
    state_->connection_managers = std::move(maker);
}

std::size_t scripted_device::calls(device_call call) const {
    std::lock_guard lock(state_->mutex);
    return state_->calls[static_cast<std::size_t>(call)];
}

std::size_t scripted_device::calls() const {
    std::lock_guard lock(state_->mutex);
    return std::accumulate(state_->calls.begin(), state_->calls.end(), std::size_t{0});
}

std::size_t scripted_device::arms(std::size_t queue) const {
    std::lock_guard lock(state_->mutex);
    return state_->queues.at(queue)->arms;
}

bool scripted_device::is_armed(std::size_t queue) const {
    std::lock_guard lock(state_->mutex);
    return state_->queues.at(queue)->armed;
}

std::size_t scripted_device::polls(std::size_t queue) const {
    std::lock_guard lock(state_->mutex);
    return state_->queues.at(queue)->polls;
}

std::size_t scripted_device::queued(std::size_t queue) const {
    std::lock_guard lock(state_->mutex);
    return state_->queues.at(queue)->completions.size();
}

std::size_t scripted_device::events_raised(std::size_t queue) const {
    std::lock_guard lock(state_->mutex);
    return state_->queues.at(queue)->raised;
}

std::size_t scripted_device::events_acknowledged(std::size_t queue) const {
    std::lock_guard lock(state_->mutex);
    return state_->queues.at(queue)->acknowledged;
}

std::size_t scripted_device::drains() const {
    std::lock_guard lock(state_->mutex);
    return state_->drains;
}

std::size_t scripted_device::progress_calls() const {
    std::lock_guard lock(state_->mutex);
    return state_->progress_calls;
}

std::size_t scripted_device::posted_sends(std::size_t pair) const {
    std::lock_guard lock(state_->mutex);
    return state_->pairs.at(pair)->sends.size();
}

std::size_t scripted_device::posted_receives(std::size_t pair) const {
    std::lock_guard lock(state_->mutex);
    return state_->pairs.at(pair)->receives.size();
}

std::vector<posted_send> scripted_device::send_log(std::size_t pair) const {
    std::lock_guard lock(state_->mutex);
    return state_->pairs.at(pair)->send_log;
}

std::vector<receive_request> scripted_device::receive_log(std::size_t pair) const {
    std::lock_guard lock(state_->mutex);
    return state_->pairs.at(pair)->receive_log;
}

std::optional<connect_attributes> scripted_device::connection(std::size_t pair) const {
    std::lock_guard lock(state_->mutex);
    return state_->pairs.at(pair)->connection;
}

std::optional<init_attributes> scripted_device::initialisation(std::size_t pair) const {
    std::lock_guard lock(state_->mutex);
    return state_->pairs.at(pair)->initialisation;
}

qpn scripted_device::number_of(std::size_t pair) const {
    std::lock_guard lock(state_->mutex);
    return state_->pairs.at(pair)->number;
}

void scripted_device::reuse_number(qpn number) {
    std::lock_guard lock(state_->mutex);
    state_->next_number = number.value();
}

std::size_t scripted_device::live_completion_queues() const {
    std::lock_guard lock(state_->mutex);
    const auto alive = [](const auto& q) { return q->alive; };
    return static_cast<std::size_t>(std::count_if(state_->queues.begin(), state_->queues.end(), alive));
}

std::size_t scripted_device::live_queue_pairs() const {
    std::lock_guard lock(state_->mutex);
    const auto alive = [](const auto& p) { return p->alive; };
    return static_cast<std::size_t>(std::count_if(state_->pairs.begin(), state_->pairs.end(), alive));
}

std::size_t scripted_device::live_regions() const {
    std::lock_guard lock(state_->mutex);
    return state_->regions.size();
}

std::vector<std::span<std::byte>> scripted_device::live_ranges() const {
    std::lock_guard lock(state_->mutex);
    std::vector<std::span<std::byte>> ranges;
    for (const auto& [key, bytes] : state_->regions) ranges.push_back(bytes);
    return ranges;
}

std::vector<std::string> scripted_device::violations() const {
    std::lock_guard lock(state_->mutex);
    return state_->violations;
}

device_limits scripted_device::limits() const {
    return state_->config.limits;
}

endpoint_capabilities scripted_device::capabilities(std::uint8_t) const {
    return {.exact_icrc = true, .segment_train = 7, .receive_buffer = 12345};
}

error_info scripted_device::query_port(std::uint8_t port, port_attributes& out) const {
    std::lock_guard lock(state_->mutex);
    if (const errc e = state_->enter(device_call::query_port); e != errc::success)
        return {e, "the script refuses the port query"};
    out = state_->ports[port];
    return {};
}

error_info scripted_device::gid_table(std::uint8_t port, std::vector<gid_table_entry>& out) const {
    std::lock_guard lock(state_->mutex);
    if (const errc e = state_->enter(device_call::gid_table); e != errc::success)
        return {e, "the script refuses the GID table"};
    out = state_->gids[port];
    return {};
}

error_info scripted_device::create_completion_queue(std::uint32_t depth,
                                                    std::unique_ptr<device_completion_queue>& out) {
    std::lock_guard lock(state_->mutex);
    if (const errc e = state_->enter(device_call::create_completion_queue); e != errc::success)
        return {e, "the script refuses a completion queue"};
    state_->queues.push_back(std::make_unique<script::queue_state>(depth));
    out = std::make_unique<script::scripted_completion_queue>(state_, state_->queues.size() - 1, depth);
    return {};
}

error_info scripted_device::create_queue_pair(const device_queue_pair_config& config,
                                              std::unique_ptr<device_queue_pair>& out) {
    std::lock_guard lock(state_->mutex);
    if (const errc e = state_->enter(device_call::create_queue_pair); e != errc::success)
        return {e, "the script refuses a queue pair"};
    const auto& queue = dynamic_cast<script::scripted_completion_queue&>(*config.completions);
    state_->pairs.push_back(std::make_unique<pair_state>(config, queue.index()));
    state_->pairs.back()->number = qpn{state_->next_number++};
    out = std::make_unique<script::scripted_queue_pair>(state_, state_->pairs.size() - 1);
    return {};
}

error_info scripted_device::register_memory(std::span<std::byte> bytes, const memory_region_config& config,
                                            std::unique_ptr<device_memory_region>& out) {
    std::lock_guard lock(state_->mutex);
    if (const errc e = state_->enter(device_call::register_memory); e != errc::success) return {e, {}};
    const auto key = state_->next_key++;
    state_->regions[key] = bytes;
    const auto iova = config.iova.value_or(reinterpret_cast<std::uintptr_t>(bytes.data()));
    out = std::make_unique<script::scripted_memory_region>(state_, bytes, key, iova);
    return {};
}

error_info scripted_device::create_connection_manager(std::unique_ptr<connection_manager>& out) {
    std::unique_lock lock(state_->mutex);
    const auto make = state_->connection_managers;
    lock.unlock();
    return make ? make(out) : device::create_connection_manager(out);
}

errc scripted_device::bind(const void* engine) {
    std::lock_guard lock(state_->mutex);
    if (!state_->config.exclusive) return errc::success;
    if (state_->bound_to && state_->bound_to != engine) return errc::device_bound;
    state_->bound_to = engine;
    return errc::success;
}

void scripted_device::unbind(const void* engine) noexcept {
    std::lock_guard lock(state_->mutex);
    if (state_->bound_to == engine) state_->bound_to = nullptr;
}

bool scripted_device::progress(time_point now) {
    std::unique_lock lock(state_->mutex);
    ++state_->progress_calls;
    const auto hook = state_->progress_hook;
    lock.unlock();
    return hook && hook(now);
}

int scripted_device::event_fd() const noexcept {
    const int foreign = state_->config.foreign_event_fd;
    return foreign >= 0 ? foreign : state_->events.fd();
}

device::time_point scripted_device::next_deadline() const noexcept {
    std::lock_guard lock(state_->mutex);
    return state_->deadline;
}

void scripted_device::drain_events() {
    std::lock_guard lock(state_->mutex);
    ++state_->drains;
    if (state_->interrupted_drains > 0) {
        --state_->interrupted_drains;
        return;
    }
    if (state_->events.fd() >= 0) state_->events.clear();
    for (auto& q : state_->queues) q->acknowledged += std::exchange(q->pending_events, 0);
}

bool scripted_device::next_event(device_event& out) {
    std::lock_guard lock(state_->mutex);
    if (state_->async_queue.empty()) {
        if (!state_->async_broken && state_->async_events.fd() >= 0) state_->async_events.clear();
        return false;
    }
    out = state_->async_queue.front();
    state_->async_queue.erase(state_->async_queue.begin());
    return true;
}

int scripted_device::async_event_fd() const noexcept {
    return state_->async_events.fd();
}

device_snapshot scripted_device::snapshot() const {
    device_snapshot s;
    s.name = name();
    s.kind = kind();
    return s;
}

} // namespace rocio::test

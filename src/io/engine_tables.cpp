#include "io/engine_parts.hpp"

#include <algorithm>

namespace rocio {

namespace {

constexpr std::uint32_t smallest_queue = 1024;

std::shared_ptr<device_waiter> waiter_for(int descriptor) {
    return descriptor < 0 ? nullptr : std::make_shared<device_waiter>(descriptor);
}

} // namespace

engine_device* completion_engine::find_device(const device& dev) noexcept {
    auto& devices = parts_->devices;
    const auto it =
        std::find_if(devices.begin(), devices.end(), [&](const auto& e) { return e.dev.get() == &dev; });
    return it == devices.end() ? nullptr : &*it;
}

namespace {

engine_queue* find_queue(engine_device* entry, const device_completion_queue* queue) noexcept {
    if (!entry) return nullptr;
    for (auto& q : entry->queues)
        if (q.queue.get() == queue) return &q;
    return nullptr;
}

} // namespace

error_info completion_engine::attach(const std::shared_ptr<device>& dev) {
    auto& p = *parts_;
    if (!dev) return {errc::device_not_found, "no device given: pass the result of open_device()"};
    if (hot_.down) return {errc::stopped, "the io_context is being destroyed"};
    if (auto* entry = find_device(*dev)) {
        if (entry->fatal)
            return {errc::device_fatal,
                    "device " + dev->name() + " failed: destroy its objects and open it again"};
        ++entry->uses;
        return {};
    }
    engine_device entry{dev, 1, {}, waiter_for(dev->event_fd()), waiter_for(dev->async_event_fd())};
    entry.needs_progress = dev->needs_progress();
    for (const auto* waiter : {entry.completions.get(), entry.events.get()}) {
        if (!waiter) continue;
        if (const auto ec = waiter->probe())
            return {errc::not_supported,
                    "a descriptor of device " + dev->name() + " cannot be waited for: " + ec.message()};
    }
    if (const errc e = dev->bind(this); e != errc::success) {
        return {e, "device " + dev->name() +
                       " already belongs to another io_context: open one device (address) for each context"};
    }
    p.devices.push_back(std::move(entry));
    return {};
}

void completion_engine::detach(const std::shared_ptr<device>& dev) noexcept {
    auto* entry = find_device(*dev);
    if (!entry || --entry->uses > 0) return;
    for (auto* waiter : {entry->completions.get(), entry->events.get()}) {
        if (waiter) waiter->close();
    }
    entry->queues.clear();
    entry->dev->unbind(this);
    auto& devices = parts_->devices;
    devices.erase(devices.begin() + (entry - devices.data()));
}

error_info completion_engine::reserve_completions(const std::shared_ptr<device>& dev,
                                                  std::uint32_t completions, device_completion_queue*& out) {
    auto* entry = find_device(*dev);
    if (!entry) return {errc::invalid_state, "device " + dev->name() + " is not in use by this io_context"};
    for (auto& q : entry->queues) {
        if (q.broken || q.queue->depth() - q.promised < completions) continue;
        q.promised += completions;
        out = q.queue.get();
        return {};
    }
    const auto most = dev->limits().max_completions;
    if (completions > most) {
        return {errc::limit_exceeded, "device " + dev->name() + " has completion queues of at most " +
                                          std::to_string(most) +
                                          " entries; send and receive depth together ask for " +
                                          std::to_string(completions) + ": lower the depth"};
    }
    engine_queue fresh;
    // Each twice as deep as the one before it: a sweep looks at all of them.
    const auto before = entry->queues.empty() ? 0 : entry->queues.back().queue->depth();
    const auto depth =
        std::min(most, std::max({completions, smallest_queue, std::min(before, most / 2) * 2}));
    if (auto e = dev->create_completion_queue(depth, fresh.queue)) return e;
    // Armed before anything can complete into it, or the first event would be missed.
    if (const errc e = fresh.queue->arm(); e != errc::success)
        return {e, "cannot arm a completion queue of " + dev->name()};
    fresh.armed = true;
    fresh.promised = completions;
    out = fresh.queue.get();
    entry->queues.push_back(std::move(fresh));
    return {};
}

void completion_engine::release_completions(device_completion_queue* queue,
                                            std::uint32_t completions) noexcept {
    for (auto& entry : parts_->devices) {
        for (auto& q : entry.queues) {
            if (q.queue.get() != queue) continue;
            // What a destroyed queue pair left behind must not take the place of others' completions.
            drain(entry.dev, queue);
            q.promised -= completions;
            return;
        }
    }
}

void completion_engine::drain(const std::shared_ptr<device>& dev, device_completion_queue* queue) noexcept {
    auto* const entry = find_device(*dev);
    auto* const found = find_queue(entry, queue);
    if (!found) return;
    const auto rounds = queue->depth() / completions_per_poll + 1;
    // Not the sweep's batch: this may be called while that is routed.
    std::array<work_completion, completions_per_poll> batch{};
    for (std::uint32_t i = 0; i < rounds && poll_queue(*entry, *found, batch); ++i) {
    }
}

std::span<const work_completion>
completion_engine::poll(const device& dev, const device_completion_queue* queue, errc& error) noexcept {
    auto* const entry = find_device(dev);
    auto* const found = find_queue(entry, queue);
    if (!found || found->broken || entry->fatal) return {};
    auto& p = *parts_;
    const auto n = found->queue->poll(p.batch, error);
    p.completions += n;
    hot_.found_at = {};
    return std::span(p.batch).first(n);
}

void completion_engine::break_queue(const device& dev, const device_completion_queue* queue) noexcept {
    auto* const entry = find_device(dev);
    if (auto* found = find_queue(entry, queue)) break_queue(*entry, *found);
}

error_info completion_engine::add_sink(completion_sink& sink, const device& dev, wr_id& prefix,
                                       const device_completion_queue* queue) {
    auto& p = *parts_;
    if (p.free_owners.empty()) {
        if (p.owners.size() > 0xFFFF)
            return {errc::limit_exceeded, "one io_context serves at most 65536 queue pairs and monitors"};
        p.free_owners.push_back(static_cast<std::uint16_t>(p.owners.size()));
        p.owners.emplace_back();
    }
    prefix.owner = p.free_owners.back();
    p.free_owners.pop_back();
    auto& owner = p.owners[prefix.owner];
    owner.sink = &sink;
    owner.dev = &dev;
    owner.queue = queue;
    prefix.generation = owner.generation;
    if (auto* named = find_queue(find_device(dev), queue))
        named->sorter = ++named->sinks == 1 && sink.sorts_batches() ? &sink : nullptr;
    return {};
}

void completion_engine::remove_sink(wr_id prefix) noexcept {
    auto& owner = parts_->owners[prefix.owner];
    if (!owner.sink || owner.generation != prefix.generation) return;
    if (auto* named = find_queue(find_device(*owner.dev), owner.queue)) {
        --named->sinks;
        named->sorter = nullptr;
    }
    owner.sink = nullptr;
    owner.dev = nullptr;
    owner.queue = nullptr;
    ++owner.generation;
    parts_->free_owners.push_back(prefix.owner);
}

void completion_engine::count_stale() noexcept {
    ++parts_->counts.stale_completions;
}

void completion_engine::count_incomplete_drain() noexcept {
    ++parts_->counts.incomplete_drains;
}

void completion_engine::add_sweeper(completion_sink& sink) {
    parts_->sweepers.push_back(&sink);
}

sweep_call completion_engine::add_called_sweeper(completion_sink& sink) {
    auto& groups = parts_->called;
    const auto has_place = [](const called_sweepers& group) {
        return std::find(group.sinks.begin(), group.sinks.end(), nullptr) != group.sinks.end();
    };
    auto group = std::find_if(groups.begin(), groups.end(), has_place);
    if (group == groups.end()) {
        auto calls = std::make_shared<sweep_call::board>();
        calls->first = parts_->first_calls;
        group = groups.insert(groups.end(), {std::move(calls), {}});
    }
    const auto place = std::find(group->sinks.begin(), group->sinks.end(), nullptr);
    *place = &sink;
    return {group->calls, std::uint64_t{1} << (place - group->sinks.begin())};
}

void completion_engine::remove_sweeper(completion_sink& sink) noexcept {
    std::erase(parts_->sweepers, &sink);
    for (auto& group : parts_->called)
        std::replace(group.sinks.begin(), group.sinks.end(), &sink, static_cast<completion_sink*>(nullptr));
}

} // namespace rocio

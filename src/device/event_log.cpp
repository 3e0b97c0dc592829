#include <rocio/device/event_log.hpp>

#include <algorithm>

namespace rocio {

std::string describe(const device_event& event) {
    const auto port = "port " + std::to_string(event.port) + ": ";
    const auto pair = "queue pair " + std::to_string(event.queue_pair.value()) + ": ";
    switch (event.kind) {
    case device_event_kind::port_active:
        return port + "active";
    case device_event_kind::port_error:
        return port + "down";
    case device_event_kind::gid_change:
        return port + "GID table changed";
    case device_event_kind::queue_pair_fatal:
        return pair + "fatal error";
    case device_event_kind::queue_pair_access_error:
        return pair + "access error";
    case device_event_kind::communication_established:
        return pair + "communication established";
    case device_event_kind::completion_queue_error:
        return "completion queue: error";
    case device_event_kind::device_fatal:
        return "device: fatal error";
    }
    return "unknown event";
}

void event_log::add(const device_event& event) noexcept {
    const auto now = std::chrono::system_clock::now();
    const std::lock_guard held(mutex_);
    entries_[so_far_++ % capacity] = {now, event};
}

void event_log::fill(device_snapshot& out) const {
    std::array<entry, capacity> entries;
    {
        const std::lock_guard held(mutex_);
        entries = entries_;
        out.events_so_far = so_far_;
    }
    out.events.clear();
    const auto kept = std::min<std::uint64_t>(out.events_so_far, capacity);
    for (auto n = out.events_so_far - kept; n < out.events_so_far; ++n) {
        const auto& e = entries[n % capacity];
        out.events.push_back({e.time, describe(e.event)});
    }
}

} // namespace rocio

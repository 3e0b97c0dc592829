#include "snapshot_parts.hpp"

#include <array>
#include <cstdio>

namespace rocio::detail {

namespace {

template <class T>
void append(std::vector<T>& whole, const std::vector<T>& part) {
    whole.insert(whole.end(), part.begin(), part.end());
}

std::string label_of(const engine_snapshot& engine) {
    return engine.name.empty() ? "engine" : "engine " + engine.name;
}

} // namespace

void append(status_snapshot& whole, const status_snapshot& part) {
    append(whole.engines, part.engines);
    append(whole.devices, part.devices);
    append(whole.queue_pairs, part.queue_pairs);
    append(whole.streams, part.streams);
    append(whole.rings, part.rings);
    append(whole.sensors, part.sensors);
    append(whole.services, part.services);
    append(whole.callers, part.callers);
    append(whole.fpgas, part.fpgas);
    append(whole.handshakes, part.handshakes);
    append(whole.stale, part.stale);
}

void note_stalled_engines(status_snapshot& whole, std::chrono::nanoseconds limit) {
    for (const auto& engine : whole.engines) {
        if (engine.in_turn > limit) {
            const auto reason = "its turn lasts for " + seconds_text(engine.in_turn);
            whole.stale.push_back({label_of(engine), engine.in_turn, reason});
        } else if (engine.turn_due > limit) {
            const auto reason = "its turn is due for " + seconds_text(engine.turn_due);
            whole.stale.push_back({label_of(engine), engine.turn_due, reason});
        }
    }
}

std::string seconds_text(std::chrono::nanoseconds duration) {
    std::array<char, 32> text{};
    const int n =
        std::snprintf(text.data(), text.size(), "%.1f s", std::chrono::duration<double>(duration).count());
    return {text.data(), static_cast<std::size_t>(n)};
}

} // namespace rocio::detail

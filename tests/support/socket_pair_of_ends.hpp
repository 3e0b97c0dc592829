#pragma once

#include "soft_end.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <poll.h>

namespace rocio::test {

inline std::shared_ptr<soft_device> open_soft(const std::string& address,
                                              const std::optional<fault_plan>& faults = std::nullopt) {
    soft_device_config config;
    config.address = address;
    config.faults = faults;
    std::shared_ptr<soft_device> device;
    throw_if(soft_device::open(config, device));
    return device;
}

/// Turns the ends in a plain loop until `done`; sleeps in poll(2) on their descriptors, no longer than their
/// next deadline and `nap`, when all are idle. False after `limit`.
inline bool drive(const std::vector<soft_end*>& ends, const std::function<bool()>& done,
                  std::chrono::seconds limit = std::chrono::seconds(30),
                  std::chrono::milliseconds nap = std::chrono::milliseconds(50)) {
    using clock = std::chrono::steady_clock;
    const auto end_of_patience = clock::now() + limit;
    while (!done()) {
        const auto now = clock::now();
        if (now > end_of_patience) return false;
        bool worked = false;
        for (soft_end* e : ends) worked |= e->turn(now);
        if (worked || done()) continue;
        std::vector<pollfd> fds;
        auto wake = std::min(now + nap, end_of_patience);
        for (soft_end* e : ends) {
            fds.push_back({e->device().event_fd(), POLLIN, 0});
            wake = std::min(wake, e->device().next_deadline());
        }
        const auto wait =
            std::chrono::ceil<std::chrono::milliseconds>(std::max(wake - now, clock::duration::zero()));
        ::poll(fds.data(), fds.size(), static_cast<int>(wait.count()));
    }
    return true;
}

} // namespace rocio::test

#pragma once

#include "soft_end.hpp"

#include <rocio/soft/fault_link.hpp>
#include <rocio/soft/simulated_network.hpp>

#include <chrono>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <vector>

namespace rocio::test {

inline gid v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
    return gid::from_v4({a, b, c, d});
}

/// Two soft devices on a simulated network, connected, and a clock that moves only when nothing else happens.
class simulated_pair {
  public:
    explicit simulated_pair(const std::optional<fault_plan>& faults = std::nullopt,
                            const soft_end_options& options = {})
        : a(soft_device::over(make_link(v4(10, 0, 0, 1), faults)), options),
          b(soft_device::over(make_link(v4(10, 0, 0, 2), faults)), options) {
        connect_ends(a, b);
    }

    /// Turns both ends, and moves the clock to the next deadline when both are idle, until `done`. False when
    /// there is nothing left to wait for, or after `steps`.
    bool run_until(const std::function<bool()>& done, int steps = 200'000) {
        while (!done()) {
            if (--steps < 0) return false;
            const bool worked_a = a.turn(now);
            const bool worked_b = b.turn(now);
            if (worked_a || worked_b || done()) continue;
            const auto next = std::min(a.device().next_deadline(), b.device().next_deadline());
            if (next == device::time_point::max()) return false;
            now = std::max(now, next);
        }
        return true;
    }
    /// Until nothing happens any more and nothing is waited for.
    bool settle() {
        run_until([] { return false; });
        return a.device().next_deadline() == device::time_point::max() &&
               b.device().next_deadline() == device::time_point::max();
    }

    soft::simulated_network network{};
    device::time_point now = device::time_point{} + std::chrono::hours(1);
    soft_end a, b;

  private:
    std::unique_ptr<soft::link> make_link(const gid& address, const std::optional<fault_plan>& faults) {
        auto link = network.attach(address);
        if (!faults) return link;
        return std::make_unique<soft::fault_link>(std::move(link), *faults);
    }
};

} // namespace rocio::test

#pragma once

#include <rocio/fpga/control_faults.hpp>

#include <optional>
#include <random>
#include <utility>

namespace rocio::fpga::detail {

/// One direction of a faulty path for datagrams of type T. Keeps at most one back.
template <class T>
class fault_gate {
  public:
    fault_gate(const control_faults& faults, std::uint64_t direction)
        : faults_(faults), draw_(faults.seed * 2 + direction) {}

    /// Calls `out` for each datagram that leaves the path now.
    template <class Out>
    void pass(T in, Out out) {
        // Each question is asked each time, so that one fault does not shift the others.
        const bool drop = happens(faults_.drop);
        const bool twice = happens(faults_.duplicate);
        const bool keep = happens(faults_.reorder);
        if (drop) return;
        if (keep && !kept_) {
            kept_ = std::move(in);
            return;
        }
        auto late = std::exchange(kept_, std::nullopt);
        out(in);
        if (twice) out(in);
        if (late) out(*late);
    }

  private:
    bool happens(double probability) {
        constexpr double scale = 1.0 / 18446744073709551616.0; // 2^-64
        return static_cast<double>(draw_()) * scale < probability;
    }

    control_faults faults_;
    std::mt19937_64 draw_;
    std::optional<T> kept_{};
};

} // namespace rocio::fpga::detail

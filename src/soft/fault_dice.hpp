#pragma once

#include <rocio/soft/fault_plan.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

namespace rocio::soft {

/// What happens to one datagram.
struct fault_decision {
    bool drop = false;
    bool duplicate = false;
    bool reorder = false;
    bool delay = false;
    bool corrupt = false;
    std::uint32_t distance = 0;            ///< Reordered behind this many later ones.
    std::chrono::nanoseconds delay_time{}; ///< When delayed.
    std::uint32_t bits = 0;                ///< To flip, when corrupted.

    bool untouched() const noexcept { return !drop && !duplicate && !reorder && !delay && !corrupt; }
    bool held() const noexcept { return reorder || delay; }
};

/// Draws decisions from a plan. The decision for a datagram is a pure function of the plan and the datagram's
/// number, so a run can be repeated whatever the timing.
class fault_dice {
  public:
    explicit fault_dice(const fault_plan& plan) noexcept : plan_(plan) {}

    fault_decision decide(std::uint64_t number) const noexcept;
    /// Flips `bits` different bits of `bytes` (all of them when there are fewer).
    void flip(std::span<std::byte> bytes, std::uint32_t bits, std::uint64_t number) const noexcept;

  private:
    enum class use : std::uint64_t {
        drop,
        duplicate,
        reorder,
        distance,
        delay,
        delay_time,
        corrupt,
        bits,
        flip
    };

    std::uint64_t draw(std::uint64_t number, use u, std::uint64_t index = 0) const noexcept;
    bool happens(double probability, std::uint64_t number, use u) const noexcept;

    fault_plan plan_;
};

} // namespace rocio::soft

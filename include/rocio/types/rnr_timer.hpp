#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <stdexcept>

namespace rocio {

/// How long a sender waits after "receiver not ready": a code 0..31 of the table in IBA 9.7.5.2.8. Mind that
/// code 0 is the longest wait, 655.36 ms. Constructing one from a code above 31 throws std::out_of_range.
class rnr_timer {
  public:
    constexpr rnr_timer() noexcept = default;
    explicit constexpr rnr_timer(std::uint32_t code) : code_(static_cast<std::uint8_t>(code)) {
        if (code > 31) throw std::out_of_range("RNR timer code exceeds 31");
    }

    constexpr std::uint8_t code() const noexcept { return code_; }
    /// 10 us .. 655.36 ms.
    std::chrono::microseconds duration() const noexcept;
    /// The shortest timer of at least `wait`; 655.36 ms (code 0) when none is long enough.
    static rnr_timer at_least(std::chrono::microseconds wait) noexcept;

    friend constexpr bool operator==(rnr_timer, rnr_timer) noexcept = default;

  private:
    std::uint8_t code_ = 12;
};

} // namespace rocio

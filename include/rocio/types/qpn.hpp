#pragma once

#include <compare>
#include <cstdint>
#include <stdexcept>

namespace rocio {

/// Queue pair number: 24 bits (IBA 9.2.4). Constructing one from a wider value throws std::out_of_range.
class qpn {
  public:
    static constexpr std::uint32_t max = 0xFFFFFF;

    constexpr qpn() noexcept = default;
    explicit constexpr qpn(std::uint32_t value) : value_(value) {
        if (value > max) throw std::out_of_range("queue pair number exceeds 24 bits");
    }

    constexpr std::uint32_t value() const noexcept { return value_; }
    friend constexpr auto operator<=>(qpn, qpn) noexcept = default;

  private:
    std::uint32_t value_ = 0;
};

} // namespace rocio

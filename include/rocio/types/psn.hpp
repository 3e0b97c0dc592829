#pragma once

#include <cstdint>
#include <stdexcept>

namespace rocio {

/// Packet sequence number: a place on a ring of 2^24 (IBA 9.7.1). There is no order on a ring, hence no
/// operator<; distance() and is_after() compare two numbers less than half a ring apart.
class psn {
  public:
    static constexpr std::uint32_t mask = 0xFFFFFF;
    static constexpr std::int32_t half_ring = 0x800000;

    constexpr psn() noexcept = default;
    /// Throws std::out_of_range above 24 bits: a peer's value must be checked, never cut.
    explicit constexpr psn(std::uint32_t value) : value_(value) {
        if (value > mask) throw std::out_of_range("packet sequence number exceeds 24 bits");
    }

    constexpr std::uint32_t value() const noexcept { return value_; }

    friend constexpr bool operator==(psn, psn) noexcept = default;
    friend constexpr psn operator+(psn p, std::uint32_t n) noexcept { return wrapped(p.value_ + n); }
    friend constexpr psn operator-(psn p, std::uint32_t n) noexcept { return wrapped(p.value_ - n); }
    constexpr psn& operator+=(std::uint32_t n) noexcept { return *this = *this + n; }
    constexpr psn& operator++() noexcept { return *this += 1; }

  private:
    static constexpr psn wrapped(std::uint32_t v) noexcept {
        psn p;
        p.value_ = v & mask;
        return p;
    }
    std::uint32_t value_ = 0;
};

/// Steps from `from` to `to`, in -2^23 .. 2^23-1. Positive: `to` is ahead. -2^23 counts as behind, as the
/// Linux kernel counts it (capture peer_rc_psn_window).
constexpr std::int32_t distance(psn from, psn to) noexcept {
    const std::uint32_t d = (to.value() - from.value()) & psn::mask;
    return d >= 0x800000U ? static_cast<std::int32_t>(d) - 0x1000000 : static_cast<std::int32_t>(d);
}

constexpr bool is_after(psn a, psn b) noexcept {
    return distance(b, a) > 0;
}

} // namespace rocio

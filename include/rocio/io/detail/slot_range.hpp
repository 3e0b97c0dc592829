#pragma once

#include <cstdint>

namespace rocio::detail {

/// Slots side by side: `first` to `end` - 1.
struct slot_range {
    std::uint32_t first = 0, end = 0;

    constexpr std::uint32_t size() const noexcept { return end - first; }
    constexpr bool empty() const noexcept { return first == end; }
    /// Its first `n`, at most all.
    constexpr slot_range front(std::uint32_t n) const noexcept { return {first, first + n}; }
    /// What is left without those.
    constexpr slot_range without(std::uint32_t n) const noexcept { return {first + n, end}; }
};

} // namespace rocio::detail

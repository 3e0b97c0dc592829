#pragma once

#include <cstdint>

namespace rocio::detail {

/// Slots side by side: `first` to `end` - 1.
struct slot_range {
    std::uint32_t first = 0, end = 0;

    std::uint32_t size() const noexcept { return end - first; }
    bool empty() const noexcept { return first == end; }
    /// Its first `n`, at most all.
    slot_range front(std::uint32_t n) const noexcept { return {first, first + n}; }
    /// What is left without those.
    slot_range without(std::uint32_t n) const noexcept { return {first + n, end}; }
};

} // namespace rocio::detail

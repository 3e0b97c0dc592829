#pragma once

#include <compare>
#include <cstdint>

namespace rocio {

/// Key by which the device's own work requests name a memory region.
struct lkey {
    std::uint32_t value = 0;
    friend constexpr auto operator<=>(lkey, lkey) noexcept = default;
};

/// Key by which the peer names a memory region; whoever has it may use the rights the region grants.
struct rkey {
    std::uint32_t value = 0;
    friend constexpr auto operator<=>(rkey, rkey) noexcept = default;
};

} // namespace rocio

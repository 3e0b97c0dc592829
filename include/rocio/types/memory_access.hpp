#pragma once

#include <cstdint>

namespace rocio {

/// Rights of a memory region; combine with |. Local read is always granted. remote_write needs local_write
/// (IBA 10.6.3.1); registration refuses it otherwise.
enum class memory_access : std::uint8_t {
    local_read = 0,
    local_write = 1,
    remote_write = 2,
    remote_read = 4,
};

constexpr memory_access operator|(memory_access a, memory_access b) noexcept {
    return static_cast<memory_access>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
constexpr bool grants(memory_access have, memory_access need) noexcept {
    return (static_cast<std::uint8_t>(have) & static_cast<std::uint8_t>(need)) ==
           static_cast<std::uint8_t>(need);
}

} // namespace rocio

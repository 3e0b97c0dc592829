#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace rocio::wire {

inline std::uint16_t byte_swapped(std::uint16_t v) noexcept {
    return __builtin_bswap16(v);
}
inline std::uint32_t byte_swapped(std::uint32_t v) noexcept {
    return __builtin_bswap32(v);
}
inline std::uint64_t byte_swapped(std::uint64_t v) noexcept {
    return __builtin_bswap64(v);
}

template <std::unsigned_integral T>
T load_big(const std::byte* p) noexcept {
    T v;
    std::memcpy(&v, p, sizeof v);
    return std::endian::native == std::endian::little ? byte_swapped(v) : v;
}

template <std::unsigned_integral T>
void store_big(std::byte* p, T v) noexcept {
    if (std::endian::native == std::endian::little) v = byte_swapped(v);
    std::memcpy(p, &v, sizeof v);
}

/// The ICRC is the only little-endian field.
inline std::uint32_t load_little32(const std::byte* p) noexcept {
    std::uint32_t v;
    std::memcpy(&v, p, sizeof v);
    return std::endian::native == std::endian::little ? v : byte_swapped(v);
}

/// The low 24 bits of the big-endian word at p: queue pair numbers, PSNs and MSNs share their word with
/// another field.
inline std::uint32_t load_big24_of_word(const std::byte* p) noexcept {
    return load_big<std::uint32_t>(p) & 0xFFFFFF;
}

} // namespace rocio::wire

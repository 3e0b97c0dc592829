#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace rocio::rpc::detail {

template <std::size_t Size>
struct unsigned_of_size;
template <>
struct unsigned_of_size<1> : std::type_identity<std::uint8_t> {};
template <>
struct unsigned_of_size<4> : std::type_identity<std::uint32_t> {};
template <>
struct unsigned_of_size<8> : std::type_identity<std::uint64_t> {};

/// The value in sizeof(T) bytes of any alignment, least significant byte first. The length is in the type, so
/// whoever calls has checked it.
template <class T>
constexpr T load_little(std::span<const std::byte, sizeof(T)> in) noexcept {
    using bits = typename unsigned_of_size<sizeof(T)>::type;
    bits value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        value = static_cast<bits>(value | (std::to_integer<std::uint64_t>(in[i]) << (8 * i)));
    }
    return std::bit_cast<T>(value);
}

template <class T>
constexpr void store_little(T value, std::span<std::byte, sizeof(T)> out) noexcept {
    using bits = typename unsigned_of_size<sizeof(T)>::type;
    const std::uint64_t raw = std::bit_cast<bits>(value);
    for (std::size_t i = 0; i < sizeof(T); ++i) out[i] = static_cast<std::byte>((raw >> (8 * i)) & 0xFFU);
}

} // namespace rocio::rpc::detail

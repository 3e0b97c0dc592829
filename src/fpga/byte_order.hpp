#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

// Integers of the register protocols. The spans are checked by the callers.
namespace rocio::fpga::detail {

template <class T>
T load_little(std::span<const std::byte> from) {
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i)
        value = static_cast<T>(value | static_cast<T>(static_cast<T>(from[i]) << (8 * i)));
    return value;
}

template <class T>
void store_little(std::span<std::byte> to, T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) to[i] = static_cast<std::byte>(value >> (8 * i));
}

template <class T>
T load_big(std::span<const std::byte> from) {
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i)
        value = static_cast<T>(value | static_cast<T>(static_cast<T>(from[i]) << (8 * (sizeof(T) - 1 - i))));
    return value;
}

template <class T>
void store_big(std::span<std::byte> to, T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
        to[i] = static_cast<std::byte>(value >> (8 * (sizeof(T) - 1 - i)));
}

} // namespace rocio::fpga::detail

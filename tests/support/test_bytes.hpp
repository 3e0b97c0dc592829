#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rocio::test {

/// Contents of message `seed`: every position and every message differs from its neighbours, so a packet in
/// the wrong place, or of another message, shows.
constexpr std::byte byte_of_message(std::uint32_t seed, std::size_t position) noexcept {
    const std::uint64_t x = (position + 1) * 0x9E3779B97F4A7C15ULL + seed * 0xD1B54A32D192ED03ULL;
    return static_cast<std::byte>((x ^ x >> 29) >> 24 & 0xFF);
}

inline void fill_message(std::span<std::byte> out, std::uint32_t seed, std::size_t from = 0) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = byte_of_message(seed, from + i);
}

/// Bytes [from, from + length) of message `seed`.
inline std::vector<std::byte> message_bytes(std::uint32_t seed, std::size_t from, std::size_t length) {
    std::vector<std::byte> bytes(length);
    fill_message(bytes, seed, from);
    return bytes;
}

/// The first position where `bytes` is not message `seed`, or bytes.size().
inline std::size_t first_difference(std::span<const std::byte> bytes, std::uint32_t seed) noexcept {
    std::size_t i = 0;
    while (i < bytes.size() && bytes[i] == byte_of_message(seed, i)) ++i;
    return i;
}

} // namespace rocio::test

#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace rocio::test {

using byte_string = std::vector<std::byte>;

/// The bytes as they stand, from a list of numbers.
inline byte_string bytes_of(std::initializer_list<int> values) {
    byte_string out;
    for (const int v : values) out.push_back(static_cast<std::byte>(v));
    return out;
}

/// 32-bit words, each with its lowest byte first.
inline byte_string words_of(std::initializer_list<std::uint32_t> words) {
    byte_string out;
    for (const auto w : words) {
        for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<std::byte>(w >> shift));
    }
    return out;
}

/// `n` bytes that differ from each other and between seeds.
inline byte_string pattern(std::size_t n, unsigned seed = 0) {
    byte_string out(n);
    for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<std::byte>(i * 7 + i / 256 + seed * 31);
    return out;
}

} // namespace rocio::test

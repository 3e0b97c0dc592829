#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace rocio::test {

inline unsigned hex_digit(char c) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto value = digits.find(c);
    if (value == std::string_view::npos) throw std::invalid_argument("not a lower-case hex digit");
    return static_cast<unsigned>(value);
}

/// "0a1b 2c" to bytes; blanks are skipped.
inline std::vector<std::byte> from_hex(std::string_view text) {
    std::vector<std::byte> bytes;
    std::string digits;
    for (const char c : text) {
        if (c != ' ') digits += c;
    }
    if (digits.size() % 2 != 0) throw std::invalid_argument("half a byte of hex");
    for (std::size_t i = 0; i < digits.size(); i += 2) {
        bytes.push_back(std::byte(hex_digit(digits[i]) << 4 | hex_digit(digits[i + 1])));
    }
    return bytes;
}

inline std::string to_hex(std::span<const std::byte> bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const std::byte b : bytes) {
        text += digits[std::to_integer<unsigned>(b) >> 4];
        text += digits[std::to_integer<unsigned>(b) & 15];
    }
    return text;
}

} // namespace rocio::test

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace rocio::fpga {

/// "0x" and eight digits.
inline std::string slac_hex(std::uint32_t value) {
    constexpr const char* digits = "0123456789abcdef";
    std::string text = "0x00000000";
    for (std::size_t i = text.size(); value != 0; value >>= 4) text[--i] = digits[value & 0xF];
    return text;
}

} // namespace rocio::fpga

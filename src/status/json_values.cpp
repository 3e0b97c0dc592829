#include <rocio/status/json_values.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string>

namespace rocio {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD"; // U+FFFD

std::uint8_t byte_at(std::string_view text, std::size_t i) {
    return static_cast<std::uint8_t>(text[i]);
}

bool is_continuation(std::string_view text, std::size_t i) {
    return i < text.size() && (byte_at(text, i) & 0xC0) == 0x80;
}

/// The length of the well-formed sequence at `i` (RFC 3629, section 4), 0 if there is none.
std::size_t sequence_length(std::string_view text, std::size_t i) {
    const auto lead = byte_at(text, i);
    if (lead < 0x80) return 1;
    if (lead < 0xC2 || lead > 0xF4) return 0; // a stray continuation, an overlong form, past U+10FFFF
    const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    for (std::size_t k = 1; k < length; ++k) {
        if (!is_continuation(text, i + k)) return 0;
    }
    const auto second = byte_at(text, i + 1);
    const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
    const bool surrogate = lead == 0xED && second >= 0xA0;
    const bool too_large = lead == 0xF4 && second >= 0x90;
    return overlong || surrogate || too_large ? 0 : length;
}

} // namespace

boost::json::string json_text(std::string_view text) {
    boost::json::string result;
    result.reserve(text.size());
    std::size_t done = 0; // what is well-formed is copied in one piece
    for (std::size_t i = 0; i < text.size();) {
        if (const auto length = sequence_length(text, i)) {
            i += length;
            continue;
        }
        result.append(text.substr(done, i - done));
        result.append(replacement);
        done = ++i;
    }
    result.append(text.substr(done));
    return result;
}

boost::json::value json_number(double number) {
    if (!std::isfinite(number)) return nullptr;
    return number;
}

boost::json::string json_hex(std::uint64_t value, int digits) {
    std::array<char, 16> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, 16).ptr;
    const std::string_view hex(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
    std::string text = "0x";
    if (hex.size() < static_cast<std::size_t>(digits))
        text.append(static_cast<std::size_t>(digits) - hex.size(), '0');
    text.append(hex);
    return boost::json::string(text);
}

} // namespace rocio

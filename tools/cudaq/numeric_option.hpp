#pragma once

#include <CLI/App.hpp>
#include <CLI/Error.hpp>

#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace rocio::tools {

/// A number as the original's programs take it: decimal; with `any_base` also 0x… and 0…. The last one
/// counts.
template <class Number>
void add_number(CLI::App& app, const std::string& name, Number& value, const std::string& help,
                bool any_base = false) {
    const auto store = [&value, name, any_base](const std::string& text) {
        std::string_view digits = text;
        int base = 10;
        if (any_base && digits.size() > 1 && digits[0] == '0') {
            base = digits[1] == 'x' || digits[1] == 'X' ? 16 : 8;
            digits.remove_prefix(base == 16 ? 2 : 1);
        }
        const auto* const end = digits.data() + digits.size();
        const auto parsed = std::from_chars(digits.data(), end, value, base);
        if (parsed.ec != std::errc() || parsed.ptr != end)
            throw CLI::ValidationError(name, "\"" + text + "\" is not possible; allowed: 0 to " +
                                                 std::to_string(std::numeric_limits<Number>::max()));
    };
    app.add_option_function<std::string>(name, store, help)
        ->type_name("N")
        ->take_last()
        ->default_str(std::to_string(value));
}

} // namespace rocio::tools

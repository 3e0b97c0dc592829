#include "lib/human.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string_view>

namespace rocio::tools {

namespace {

std::string three_digits(double value) {
    const double size = std::abs(value);
    const int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
    return text.data();
}

/// Whole numbers below 1000 as they are, others scaled by powers of 1000.
std::string scaled(double value, std::string_view unit) {
    constexpr std::array<std::string_view, 7> prefixes = {"", "k", "M", "G", "T", "P", "E"};
    if (!std::isfinite(value)) return "-";
    std::size_t step = 0;
    while (std::abs(value) >= 999.5 && step + 1 < prefixes.size()) {
        value /= 1000;
        ++step;
    }
    const bool whole = step == 0 && value == std::floor(value);
    auto text = whole ? std::to_string(static_cast<std::int64_t>(value)) : three_digits(value);
    if (step > 0 || !unit.empty()) text += ' ';
    return text.append(prefixes[step]).append(unit);
}

} // namespace

std::string human_bytes(double bytes) {
    return scaled(bytes, "B");
}

std::string human_count(double count) {
    return scaled(count, "");
}

std::string human_duration(std::chrono::nanoseconds time) {
    const auto ns = static_cast<double>(time.count());
    if (std::abs(ns) < 999.5) return std::to_string(time.count()) + " ns";
    if (std::abs(ns) < 999.5e3) return three_digits(ns / 1e3) + " us";
    if (std::abs(ns) < 999.5e6) return three_digits(ns / 1e6) + " ms";
    if (std::abs(ns) < 99.95e9) return three_digits(ns / 1e9) + " s";
    const auto seconds = std::llround(ns / 1e9);
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "%lld min %02lld s", seconds / 60, std::abs(seconds % 60));
    return text.data();
}

} // namespace rocio::tools

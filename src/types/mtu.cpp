#include <rocio/types/mtu.hpp>

#include <charconv>

namespace rocio {

std::optional<mtu> mtu_from_code(std::uint32_t code) noexcept {
    if (code < 1 || code > 5) return std::nullopt;
    return static_cast<mtu>(code);
}

std::optional<mtu> mtu_from_bytes(std::uint32_t n) noexcept {
    for (std::uint32_t code = 1; code <= 5; ++code) {
        if (bytes(static_cast<mtu>(code)) == n) return static_cast<mtu>(code);
    }
    return std::nullopt;
}

std::optional<mtu> parse_mtu(std::string_view text) noexcept {
    std::uint32_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stop != end) return std::nullopt;
    if (const auto from_code = mtu_from_code(value)) return from_code;
    return mtu_from_bytes(value);
}

std::optional<mtu> mtu_of_netdev(std::uint32_t netdev_mtu) noexcept {
    constexpr std::uint32_t headers = 80;
    for (std::uint32_t code = 5; code >= 1; --code) {
        const auto m = static_cast<mtu>(code);
        if (netdev_mtu >= bytes(m) + headers) return m;
    }
    return std::nullopt;
}

std::string to_string(mtu m) {
    return std::to_string(bytes(m));
}

} // namespace rocio

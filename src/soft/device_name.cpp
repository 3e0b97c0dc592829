#include <rocio/soft/soft_device.hpp>
#include <rocio/wire/packet.hpp>

#include <charconv>
#include <optional>
#include <string>
#include <system_error>

namespace rocio {

namespace {

constexpr std::string_view scheme = "soft:";

error_info bad_name(std::string_view name, const char* why) {
    return {errc::invalid_device_name,
            "device name \"" + std::string(name) + "\": " + why +
                "; written as soft:127.0.0.2, soft:10.0.0.2:4791 or soft:[::1]:4791"};
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return port;
}

struct host_and_port {
    std::string_view host{};
    std::optional<std::string_view> port{};
    bool well_formed = true;
};

host_and_port split(std::string_view rest) {
    if (!rest.starts_with('[')) {
        const auto colon = rest.find(':');
        if (colon == std::string_view::npos) return {rest, std::nullopt};
        return {rest.substr(0, colon), rest.substr(colon + 1)};
    }
    const auto close = rest.find(']');
    if (close == std::string_view::npos) return {.well_formed = false};
    const auto behind = rest.substr(close + 1);
    if (behind.empty()) return {rest.substr(1, close - 1), std::nullopt};
    return {rest.substr(1, close - 1), behind.substr(1), behind.starts_with(':')};
}

} // namespace

error_info soft_device::parse_name(std::string_view name, soft_device_config& out) {
    if (!name.starts_with(scheme)) return bad_name(name, "it does not start with \"soft:\"");
    const bool bracketed = name.substr(scheme.size()).starts_with('[');
    const host_and_port parts = split(name.substr(scheme.size()));
    if (!parts.well_formed) return bad_name(name, "the bracket is not closed or something stands behind it");

    const auto address = gid::parse(parts.host);
    if (!address) return bad_name(name, "it does not name a numeric address");
    if (bracketed == address->is_v4_mapped())
        return bad_name(name, "brackets are for IPv6 addresses, and only for these");
    std::uint16_t port = wire::udp_port;
    if (parts.port) {
        const auto asked = parse_port(*parts.port);
        if (!asked) return bad_name(name, "the port is not a number from 0 to 65535");
        port = *asked;
    }
    out.address = std::string(parts.host);
    out.udp_port = port;
    return {};
}

} // namespace rocio

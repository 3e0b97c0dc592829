#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rocio::tools {

/// What carries the words to a SLAC board's registers.
enum class bus_kind : std::uint8_t { srp_udp, srp_rssi, zmq };

constexpr std::string_view to_string(bus_kind kind) noexcept {
    if (kind == bus_kind::zmq) return "zmq";
    return kind == bus_kind::srp_rssi ? "srp-rssi" : "srp-udp";
}

constexpr std::optional<bus_kind> parse_bus_kind(std::string_view text) noexcept {
    for (const auto kind : {bus_kind::srp_udp, bus_kind::srp_rssi, bus_kind::zmq}) {
        if (text == to_string(kind)) return kind;
    }
    return std::nullopt;
}

/// Where boards have their registers (UDP 8192), and where rogue's examples put a memory bridge (TCP).
constexpr std::uint16_t default_register_port(bus_kind kind) noexcept {
    return kind == bus_kind::zmq ? 10000 : 8192;
}

} // namespace rocio::tools

#pragma once

#include <cstdint>
#include <string_view>

namespace rocio::tools {

/// How two sides find each other: rocio's rendezvous over TCP, rdma_cm, or numbers given by hand (`fixed`, on
/// the command line "static").
enum class connection_kind : std::uint8_t { tcp, cm, fixed };

constexpr std::string_view to_string(connection_kind kind) noexcept {
    if (kind == connection_kind::fixed) return "static";
    return kind == connection_kind::cm ? "cm" : "tcp";
}

} // namespace rocio::tools

#pragma once

#include <cstdint>
#include <string_view>

namespace rocio::tools {

/// How two programs find each other: rocio's rendezvous over TCP, or rdma_cm.
enum class connection_kind : std::uint8_t { tcp, cm };

constexpr std::string_view to_string(connection_kind kind) noexcept {
    return kind == connection_kind::cm ? "cm" : "tcp";
}

} // namespace rocio::tools

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rocio {

/// InfiniBand path MTU; the value is the code of IBA 9.2 (1..5) that verbs, FPGAs and rogue use.
enum class mtu : std::uint8_t { b256 = 1, b512 = 2, b1024 = 3, b2048 = 4, b4096 = 5 };

constexpr std::uint32_t bytes(mtu m) noexcept {
    return 128U << static_cast<std::uint8_t>(m);
}
constexpr std::uint8_t code(mtu m) noexcept {
    return static_cast<std::uint8_t>(m);
}

/// From a code 1..5, else nothing.
std::optional<mtu> mtu_from_code(std::uint32_t code) noexcept;
/// From exactly 256, 512, 1024, 2048 or 4096, else nothing.
std::optional<mtu> mtu_from_bytes(std::uint32_t bytes) noexcept;
/// From text: bytes ("4096") or code ("5"), else nothing.
std::optional<mtu> parse_mtu(std::string_view text) noexcept;
/// The largest path MTU that fits a network interface of `netdev_mtu` bytes (80 bytes of headers, as rdma_rxe
/// counts them: 1500 gives 1024, 9000 gives 4096), nothing below 336.
std::optional<mtu> mtu_of_netdev(std::uint32_t netdev_mtu) noexcept;
/// "4096".
std::string to_string(mtu m);

} // namespace rocio

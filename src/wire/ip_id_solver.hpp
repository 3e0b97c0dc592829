#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace rocio::wire {

/// The IPv4 identification that explains `difference`, the CRC received against the CRC computed for
/// identification 0, in a packet of `packet_size` bytes (a multiple of 4, 16..max_packet_size) from BTH to
/// ICRC.
///
/// CRC is linear: difference = id * x^n mod P, where n is the number of bits that the CRC runs over after the
/// id. Multiplied by x^-n it must be the id again, that is, a polynomial of degree below 16.
std::optional<std::uint16_t> solve_ip_id(std::uint32_t difference, std::size_t packet_size) noexcept;

} // namespace rocio::wire

#pragma once

#include <rocio/types/error.hpp>
#include <rocio/types/parameters.hpp>

#include <array>
#include <cstddef>
#include <span>

namespace rocio::cudaq_numbers {

/// Queue pair number, rkey of the receive ring, IPv4 address of the RoCE port; 4 bytes each, big-endian.
inline constexpr std::size_t size = 12;
using bytes = std::array<std::byte, size>;

/// errc::invalid_argument for an address that is not IPv4.
error_info encode(const local_parameters& local, bytes& out);
/// What is not told is taken from our own side (path MTU) or what CUDA-Q's programs agree on (PSN 0, address
/// 0).
peer_parameters decode(std::span<const std::byte, size> in, const local_parameters& local);

} // namespace rocio::cudaq_numbers

#pragma once

#include <rocio/types/gid.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rocio::soft {

/// One address of one of this machine's interfaces.
struct local_address {
    gid value{};
    unsigned prefix = 0; ///< Bits of the address itself: at most 32 for IPv4.
    std::string netdev{};
    std::uint32_t mtu = 0; ///< Of the interface, bytes; 0 where unknown.
    bool up = false;
    bool loopback = false;
};

/// All of them, in the system's order; empty when the system does not say.
std::vector<local_address> local_addresses();

/// The one that holds `address`; Linux gives every IPv4 address of a loopback subnet (127.0.0.0/8) to its
/// interface.
std::optional<local_address> find_local_address(const gid& address);

} // namespace rocio::soft

#pragma once

#include <rocio/types/gid.hpp>

#include <cstdint>
#include <cstring>

#include <netinet/in.h>

namespace rocio::soft {

/// Between the GIDs that queue pairs name and the addresses that sockets take. Inline: both run once per
/// datagram.

inline gid gid_of(const sockaddr_in& address) noexcept {
    gid::bytes_type bytes{};
    bytes[10] = bytes[11] = 0xFF;
    std::memcpy(bytes.data() + 12, &address.sin_addr, 4);
    return gid{bytes};
}

/// `address` must be IPv4-mapped.
inline sockaddr_in to_sockaddr(const gid& address, std::uint16_t port) noexcept {
    sockaddr_in out{};
    out.sin_family = AF_INET;
    out.sin_port = htons(port);
    std::memcpy(&out.sin_addr, address.bytes().data() + 12, 4);
    return out;
}

} // namespace rocio::soft

#pragma once

#include <rocio/types/gid.hpp>

#include <cstdint>
#include <cstring>

#include <netinet/in.h>
#include <sys/socket.h>

namespace rocio::soft {

/// What sockets of either family take and give.
union socket_address {
    sockaddr_in6 v6{};
    sockaddr_in v4;
    sockaddr generic;
};

/// Between the GIDs that queue pairs name and the addresses that sockets take. Inline: both run once per
/// datagram.

inline gid gid_of(const in_addr& address) noexcept {
    gid::bytes_type bytes{};
    bytes[10] = bytes[11] = 0xFF;
    std::memcpy(bytes.data() + 12, &address, 4);
    return gid{bytes};
}

inline gid gid_of(const in6_addr& address) noexcept {
    gid::bytes_type bytes{};
    std::memcpy(bytes.data(), &address, bytes.size());
    return gid{bytes};
}

inline gid gid_of(const socket_address& address) noexcept {
    return address.generic.sa_family == AF_INET ? gid_of(address.v4.sin_addr) : gid_of(address.v6.sin6_addr);
}

/// Port and family stand at the same place in both.
inline std::uint16_t port_of(const socket_address& address) noexcept {
    return ntohs(address.v4.sin_port);
}

inline socklen_t size_of(const socket_address& address) noexcept {
    return address.generic.sa_family == AF_INET ? sizeof address.v4 : sizeof address.v6;
}

/// IPv4 for an IPv4-mapped GID. `scope`: the interface of a link-local IPv6 address.
inline socket_address to_socket_address(const gid& address, std::uint16_t port,
                                        std::uint32_t scope = 0) noexcept {
    socket_address out;
    if (address.is_v4_mapped()) {
        out.v4 = {};
        out.v4.sin_family = AF_INET;
        out.v4.sin_port = htons(port);
        std::memcpy(&out.v4.sin_addr, address.bytes().data() + 12, 4);
        return out;
    }
    out.v6.sin6_family = AF_INET6;
    out.v6.sin6_port = htons(port);
    std::memcpy(&out.v6.sin6_addr, address.bytes().data(), 16);
    if (IN6_IS_ADDR_LINKLOCAL(&out.v6.sin6_addr)) out.v6.sin6_scope_id = scope;
    return out;
}

} // namespace rocio::soft

#include "soft/socket_address.hpp"
#include "soft/unique_fd.hpp"

#include <rocio/soft/local_address.hpp>

#include <bit>
#include <cstring>
#include <memory>

#include <ifaddrs.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace rocio::soft {

namespace {

std::uint32_t mtu_of(int fd, const char* netdev) {
    ifreq request{};
    std::strncpy(request.ifr_name, netdev, IFNAMSIZ - 1);
    if (ioctl(fd, SIOCGIFMTU, &request) != 0 || request.ifr_mtu < 0) return 0;
    return static_cast<std::uint32_t>(request.ifr_mtu);
}

template <class Address>
Address as(const sockaddr* address) {
    Address out{};
    std::memcpy(&out, address, sizeof out);
    return out;
}

unsigned ones_in(const in6_addr& mask) {
    unsigned n = 0;
    for (const auto byte : mask.s6_addr) n += static_cast<unsigned>(std::popcount(byte));
    return n;
}

void take_v4(const ifaddrs& entry, local_address& out) {
    out.value = gid_of(as<sockaddr_in>(entry.ifa_addr).sin_addr);
    if (entry.ifa_netmask != nullptr)
        out.prefix = static_cast<unsigned>(std::popcount(as<sockaddr_in>(entry.ifa_netmask).sin_addr.s_addr));
}

void take_v6(const ifaddrs& entry, local_address& out) {
    out.value = gid_of(as<sockaddr_in6>(entry.ifa_addr).sin6_addr);
    if (entry.ifa_netmask != nullptr) out.prefix = ones_in(as<sockaddr_in6>(entry.ifa_netmask).sin6_addr);
}

local_address describe(const ifaddrs& entry, int fd) {
    local_address out;
    entry.ifa_addr->sa_family == AF_INET ? take_v4(entry, out) : take_v6(entry, out);
    out.netdev = entry.ifa_name;
    out.mtu = mtu_of(fd, entry.ifa_name);
    out.up = (entry.ifa_flags & IFF_UP) != 0 && (entry.ifa_flags & IFF_RUNNING) != 0;
    out.loopback = (entry.ifa_flags & IFF_LOOPBACK) != 0;
    return out;
}

} // namespace

std::vector<local_address> local_addresses() {
    ifaddrs* head = nullptr;
    if (getifaddrs(&head) != 0) return {};
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> list(head, freeifaddrs);
    const unique_fd fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));

    std::vector<local_address> out;
    for (const ifaddrs* i = head; i != nullptr; i = i->ifa_next)
        if (i->ifa_addr != nullptr &&
            (i->ifa_addr->sa_family == AF_INET || i->ifa_addr->sa_family == AF_INET6))
            out.push_back(describe(*i, fd.get()));
    return out;
}

std::optional<local_address> find_local_address(const gid& address) {
    const auto all = local_addresses();
    for (const auto& a : all)
        if (a.value == address) return a;
    for (const auto& a : all)
        if (a.loopback && a.value.is_v4_mapped() && a.value.shares_prefix(address, 96 + a.prefix)) return a;
    return std::nullopt;
}

} // namespace rocio::soft

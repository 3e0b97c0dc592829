#include "verbs/interface_prefixes.hpp"

#include <bit>
#include <cstring>
#include <memory>
#include <utility>

#include <ifaddrs.h>
#include <netinet/in.h>

namespace rocio::verbs {

namespace {

template <class Address>
Address copied(const sockaddr* from) noexcept {
    Address out{};
    std::memcpy(&out, from, sizeof out);
    return out;
}

unsigned bits_of(std::span<const std::uint8_t> mask) noexcept {
    unsigned bits = 0;
    for (const auto byte : mask) bits += static_cast<unsigned>(std::popcount(byte));
    return bits;
}

std::optional<interface_prefix> prefix_of(const ifaddrs& entry) {
    if (entry.ifa_addr == nullptr || entry.ifa_netmask == nullptr) return std::nullopt;
    if (entry.ifa_addr->sa_family == AF_INET) {
        const auto address = copied<sockaddr_in>(entry.ifa_addr).sin_addr.s_addr;
        const auto mask = copied<sockaddr_in>(entry.ifa_netmask).sin_addr.s_addr;
        return interface_prefix{gid::from_v4(std::bit_cast<gid::v4_bytes>(address)), entry.ifa_name,
                                static_cast<unsigned>(std::popcount(mask))};
    }
    if (entry.ifa_addr->sa_family == AF_INET6) {
        const auto address = copied<sockaddr_in6>(entry.ifa_addr).sin6_addr;
        const auto mask = copied<sockaddr_in6>(entry.ifa_netmask).sin6_addr;
        return interface_prefix{gid{std::bit_cast<gid::bytes_type>(address)}, entry.ifa_name,
                                bits_of(mask.s6_addr)};
    }
    return std::nullopt;
}

gid_type type_of(std::uint32_t type) noexcept {
    switch (type) {
    case IBV_GID_TYPE_ROCE_V1:
        return gid_type::roce_v1;
    case IBV_GID_TYPE_ROCE_V2:
        return gid_type::roce_v2;
    default:
        return gid_type::infiniband;
    }
}

} // namespace

std::vector<interface_prefix> interface_prefixes() {
    ifaddrs* head = nullptr;
    if (getifaddrs(&head) != 0) return {};
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> list(head, freeifaddrs);
    std::vector<interface_prefix> out;
    for (const ifaddrs* i = head; i != nullptr; i = i->ifa_next)
        if (auto found = prefix_of(*i)) out.push_back(*std::move(found));
    return out;
}

gid_table_entry entry_of(const ibv_gid_entry& entry, std::string netdev,
                         std::span<const interface_prefix> prefixes) {
    gid_table_entry out;
    out.index = entry.gid_index;
    gid::bytes_type raw{};
    std::memcpy(raw.data(), entry.gid.raw, raw.size());
    out.value = gid{raw};
    out.type = type_of(entry.gid_type);
    for (const auto& p : prefixes)
        if (p.address == out.value && p.netdev == netdev) out.prefix = p.bits;
    out.netdev = std::move(netdev);
    return out;
}

} // namespace rocio::verbs

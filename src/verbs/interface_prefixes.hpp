#pragma once

#include <rocio/types/gid.hpp>
#include <rocio/types/gid_table.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <infiniband/verbs.h>

namespace rocio::verbs {

/// An address of one of this machine's interfaces with the length of its subnet in bits of the address.
struct interface_prefix {
    gid address{};
    std::string netdev{};
    unsigned bits = 0;
};

/// IPv4 and IPv6, in the system's order.
std::vector<interface_prefix> interface_prefixes();

/// One entry of a verbs GID table; `netdev` is the name of its interface ("" where unknown). The prefix comes
/// from the interface's own addresses: the same address on another interface says nothing.
gid_table_entry entry_of(const ibv_gid_entry& entry, std::string netdev,
                         std::span<const interface_prefix> prefixes);

} // namespace rocio::verbs

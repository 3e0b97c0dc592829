#pragma once

#include "doctor/findings.hpp"

#include <rocio/types/gid.hpp>

#include <optional>

namespace rocio::tools {

/// Looks at the machine, and with `peer` at the way to it. Takes at most about three seconds; needs no
/// rights, but sees less without them.
system_facts gather(const std::optional<gid>& peer);

/// Sends packets of the sizes of the path MTUs to a UDP port of the peer where nobody listens, with "don't
/// fragment". Its ICMP "port unreachable" proves that the packet came through.
peer_facts probe_peer(const gid& peer);

} // namespace rocio::tools

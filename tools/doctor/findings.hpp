#pragma once

#include <rocio/io/machine_limits.hpp>
#include <rocio/types/gid_table.hpp>
#include <rocio/types/mtu.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rocio::tools {

/// One port of a device as it was found.
struct port_facts {
    std::string device{};
    std::string kind{};
    std::uint8_t port = 1;
    bool active = false;
    mtu active_mtu = mtu::b1024;
    std::string netdev{};
    std::uint32_t netdev_mtu = 0;
    std::vector<gid_table_entry> gids{};
    std::string refusal{}; ///< Why the device could not be opened; empty: it could.
};

/// What probes to one peer gave.
struct peer_facts {
    gid address{};
    std::string route_netdev{};        ///< Empty: no route.
    std::optional<bool> neighbour{};   ///< Whether its link-layer address is known; nothing: not asked.
    std::optional<mtu> largest{};      ///< Largest path MTU whose packets were answered.
    std::optional<mtu> first_silent{}; ///< Smallest one whose packets were not.
};

/// Everything that is looked at, gathered before it is judged.
struct system_facts {
    std::vector<port_facts> ports{};
    std::string no_system_devices{}; ///< Why there are none; empty: there are some.
    machine_limits limits{};
    std::string udp_4791_holder{}; ///< Sentence that names who has it; empty: nobody.
    bool held_by_kernel = false;
    std::uint64_t receive_buffer_default = 0; ///< net.core.rmem_default, bytes.
    std::uint64_t receive_buffer_most = 0;    ///< net.core.rmem_max, bytes.
    std::optional<peer_facts> peer{};
};

enum class severity { ok, note, problem };

/// One result: what was looked at, what was found, and the command that mends it.
struct finding {
    severity level = severity::ok;
    std::string subject{};
    std::string text{};
    std::string mend{};
};

/// Pure: judges the facts. A problem is what makes a connection or a stream fail; a note what may make it
/// slow.
std::vector<finding> examine(const system_facts& facts);

/// The entries of the table as lines: the chosen one first, then the others with the reason each lost.
std::vector<std::string> gid_lines(const port_facts& port, const std::optional<gid>& peer);

} // namespace rocio::tools

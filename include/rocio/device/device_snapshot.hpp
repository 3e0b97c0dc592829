#pragma once

#include <rocio/types/gid_table.hpp>
#include <rocio/types/mtu.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rocio {

/// A device as the status shows it; a value.
struct device_snapshot {
    struct counter {
        std::string name; ///< snake_case; a group prefix before a dot where there is one ("drops.bad_icrc").
        std::uint64_t value = 0;
    };

    std::string name;
    std::string kind;
    std::string port_state; ///< "active" or "down".
    std::uint32_t active_mtu = 0;
    std::vector<gid_table_entry> gids;
    std::vector<counter> counters;
};

} // namespace rocio

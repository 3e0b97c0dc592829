#pragma once

#include <rocio/types/gid_table.hpp>
#include <rocio/types/mtu.hpp>

#include <chrono>
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

    /// What device_limits says.
    struct limit {
        std::string name; ///< snake_case: "max_queue_pairs".
        std::uint64_t value = 0;
    };
    struct event {
        std::chrono::system_clock::time_point time{};
        std::string text; ///< "port 1: active", "queue pair 17: access error".
    };

    std::string name;
    std::string kind;
    std::string port_state; ///< "active" or "down".
    std::uint32_t active_mtu = 0;
    std::vector<gid_table_entry> gids;
    std::vector<limit> limits;
    std::vector<counter> counters;
    std::vector<event> events;       ///< The latest, oldest first; at most 64.
    std::uint64_t events_so_far = 0; ///< Those that are no longer shown too.
};

} // namespace rocio

#pragma once

#include <rocio/io/memory_options.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rocio {

/// What the machine allows in the way of memory_options and thread_placement.
struct machine_limits {
    /// Reserved huge pages of one size.
    struct huge_page_pool {
        std::uint64_t page_size = 0; ///< Bytes.
        std::string setting{};       ///< The file that says how many are reserved.
        std::uint64_t total = 0;
        std::uint64_t free = 0; ///< And not promised to anybody.
    };

    std::optional<huge_page_pool> mib2{}; ///< Absent: the machine has no such pages.
    std::optional<huge_page_pool> gib1{};
    std::string transparent{};               ///< "always", "madvise", "never"; "": the kernel has none.
    std::vector<unsigned> nodes{};           ///< NUMA nodes with memory; empty: the kernel tells none.
    std::optional<std::uint64_t> lockable{}; ///< RLIMIT_MEMLOCK, bytes; absent: unlimited.
    std::uint64_t locked = 0;                ///< By this process so far, bytes.
    bool may_lock_more = false;              ///< CAP_IPC_LOCK.
    std::optional<int> priority{};           ///< RLIMIT_RTPRIO; absent: unlimited.
    bool may_set_priority = false;           ///< CAP_SYS_NICE.

    /// Of the sizes mib2 and gib1.
    const std::optional<huge_page_pool>& pool(huge_pages size) const noexcept {
        return size == huge_pages::gib1 ? gib1 : mib2;
    }
};

/// Reads /proc and /sys, as the calling thread sees them; what cannot be read is as if there were none.
machine_limits read_machine_limits();

/// "0-2,7", as Linux writes sets of CPUs and nodes; what is no number ends it.
std::vector<unsigned> parse_number_list(const std::string& text);

} // namespace rocio

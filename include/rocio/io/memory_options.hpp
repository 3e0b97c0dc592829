#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rocio {

/// Which pages a block of memory is made of.
enum class huge_pages : std::uint8_t {
    no,          ///< Ordinary ones (4 KiB on x86).
    transparent, ///< Huge ones where the kernel has them (madvise(MADV_HUGEPAGE)); nothing to reserve.
    mib2,        ///< 2 MiB ones that were reserved (hugetlbfs); the block is rounded up to whole pages.
    gib1,        ///< 1 GiB ones, the same.
};

/// "no", "thp", "2M", "1G", as on the command line.
constexpr std::string_view to_string(huge_pages kind) noexcept {
    constexpr std::string_view names[] = {"no", "thp", "2M", "1G"};
    return names[static_cast<std::size_t>(kind)];
}

/// How the memory of a slab or ring is made. What cannot be had is a warning and never an error: it goes to
/// the log sink of the engine and stays in memory_snapshot::warnings, and names the limit. The memory is
/// there all the same.
struct memory_options {
    /// Fewer TLB misses. Without free pages of the size asked for it is tried with the next smaller one, at
    /// last with transparent ones. Reserved pages are always faulted in, because one that is missing later
    /// ends the program (SIGBUS).
    rocio::huge_pages huge_pages = rocio::huge_pages::no;
    /// Preferred NUMA node, best the one of the NIC (/sys/class/net/DEV/device/numa_node). Default: that of
    /// the thread that touches a page first.
    std::optional<unsigned> numa_node{};
    /// Faults all pages in when the memory is made, and not when the first message comes.
    bool prefault = false;
    /// Keeps the pages from being swapped out (mlock); faults them in. Limited by RLIMIT_MEMLOCK.
    bool lock = false;
};

} // namespace rocio

#include "memory_texts.hpp"

#include <cstring>

namespace rocio::memory_texts {

namespace {

std::string bytes_text(std::uint64_t bytes) {
    return std::to_string(bytes) + " bytes";
}

std::string pages_text(huge_pages kind) {
    switch (kind) {
    case huge_pages::no:
        return "ordinary pages";
    case huge_pages::transparent:
        return "transparent huge pages";
    case huge_pages::mib2:
        return "2 MiB pages";
    case huge_pages::gib1:
        return "1 GiB pages";
    }
    return {};
}

std::string list_text(const std::vector<unsigned>& numbers) {
    std::string text;
    for (const auto n : numbers) text += (text.empty() ? "" : ", ") + std::to_string(n);
    return text;
}

} // namespace

std::string no_huge_pages(const machine_limits& limits, huge_pages asked, std::uint64_t bytes,
                          huge_pages got) {
    const auto instead = "; " + pages_text(got) + " are used instead";
    const auto& pool = limits.pool(asked);
    if (!pool) return "this machine has no " + pages_text(asked) + " (/sys/kernel/mm/hugepages)" + instead;
    const auto needed = (bytes + pool->page_size - 1) / pool->page_size;
    const auto found = bytes_text(bytes) + " need " + std::to_string(needed) + " " + pages_text(asked) +
                       ", " + std::to_string(pool->free) + " of " + std::to_string(pool->total) + " in " +
                       pool->setting + " are free";
    if (pool->free >= needed) {
        return found +
               ", but the kernel gave none: a hugetlb limit of the control group, or none free on the node" +
               instead;
    }
    return found + ": raise it, as root: echo " + std::to_string(pool->total + needed - pool->free) + " > " +
           pool->setting + instead;
}

std::string no_transparent_pages(const machine_limits& limits) {
    if (limits.transparent.empty())
        return "the kernel has no transparent huge pages; ordinary pages are used instead";
    return "transparent huge pages are off: /sys/kernel/mm/transparent_hugepage/enabled is \"" +
           limits.transparent + "\", allowed: madvise or always; ordinary pages are used instead";
}

std::string no_such_node(const machine_limits& limits, unsigned node) {
    const auto asked = "NUMA node " + std::to_string(node) + " was asked for";
    if (limits.nodes.empty()) return asked + ", but the kernel tells of none (/sys/devices/system/node)";
    return asked + "; the nodes with memory are: " + list_text(limits.nodes);
}

std::string node_refused(unsigned node, int error) {
    return "memory cannot be bound to NUMA node " + std::to_string(node) +
           ": mbind: " + std::strerror(error) +
           " (the nodes this process may use are Mems_allowed_list in /proc/self/status; a container needs "
           "CAP_SYS_NICE)";
}

std::string node_full(unsigned node, std::uint64_t elsewhere, std::uint64_t looked_at) {
    return "NUMA node " + std::to_string(node) + " had not enough free memory: of " +
           std::to_string(looked_at) + " pages looked at " + std::to_string(elsewhere) +
           " lie on other nodes (/sys/devices/system/node/node" + std::to_string(node) + "/meminfo)";
}

std::string not_faulted_in(std::uint64_t bytes, int error) {
    return bytes_text(bytes) + " could not be faulted in: " + std::strerror(error) +
           " (free memory, or the memory limit of the control group)";
}

std::string not_locked(const machine_limits& limits, std::uint64_t bytes, int error) {
    const auto failed = bytes_text(bytes) + " cannot be locked: mlock: " + std::strerror(error);
    const auto raise = ": ulimit -l unlimited, LimitMEMLOCK=infinity in a systemd unit, or CAP_IPC_LOCK";
    if (!limits.lockable) return failed + " (RLIMIT_MEMLOCK is unlimited)";
    return failed + "; RLIMIT_MEMLOCK allows " + bytes_text(*limits.lockable) + ", of which " +
           std::to_string(limits.locked) + " are locked already" + raise;
}

} // namespace rocio::memory_texts

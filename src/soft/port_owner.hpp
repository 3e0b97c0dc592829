#pragma once

#include <rocio/types/gid.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace rocio::soft {

/// Who holds a UDP port.
struct port_owner {
    enum class kind { nobody, process, kernel, unknown };
    kind who = kind::unknown;
    std::string text{}; ///< "process 4711 (rocio)", "the kernel module rdma_rxe", …
};

/// Looks for the holder of `port` on `address` or on the wildcard address, in the system's tables. `proc` and
/// `modules` are where procfs and the list of loaded modules are mounted.
///
/// rdma_rxe binds 0.0.0.0:4791 and [::]:4791 as soon as it is loaded; no process holds such a socket's inode.
port_owner find_port_owner(const gid& address, std::uint16_t port,
                           const std::filesystem::path& proc = "/proc",
                           const std::filesystem::path& modules = "/sys/module");

} // namespace rocio::soft

#pragma once

#include <rocio/device/device_snapshot.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace rocio::verbs {

/// What the kernel tells of RDMA devices in files. All answers are empty or 0 where a file is missing, so a
/// container without sysfs loses names and counters only. The root is an argument for the tests.
class sysfs {
  public:
    explicit sysfs(std::filesystem::path root = "/sys") : root_(std::move(root)) {}

    /// The RDMA devices the kernel has, sorted.
    std::vector<std::string> devices() const;
    /// Whether any of them is given to user space.
    bool has_uverbs() const;

    /// The network interface of a port, whether up or down: from the GID table's attributes, else the parent
    /// of a software device (rdma_rxe), else the network function of the same PCI device with this port.
    std::string netdev(std::string_view device, std::uint8_t port) const;
    /// Bytes; 0 where unknown.
    std::uint32_t netdev_mtu(const std::string& netdev) const;

    /// ports/N/hw_counters, sorted by name, as "hw_counters.NAME".
    std::vector<device_snapshot::counter> counters(std::string_view device, std::uint8_t port) const;

  private:
    std::filesystem::path port_folder(std::string_view device, std::uint8_t port) const;
    std::filesystem::path root_;
};

} // namespace rocio::verbs

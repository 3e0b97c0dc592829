#pragma once

#include <rocio/device/device.hpp>
#include <rocio/soft/fault_plan.hpp>
#include <rocio/types/error.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rocio {

/// For soft devices only; other kinds refuse what they cannot do.
struct open_options {
    std::uint32_t receive_buffer = 0; ///< Bytes the kernel may hold for the device; 0: the system's default.
    std::optional<fault_plan> faults{}; ///< A bad network, for tests.
};

/// Opens a device by name: "soft:127.0.0.2", "soft:10.0.0.2:4791". On failure `out` is left alone. Errors:
/// errc::invalid_device_name ("" and names that cannot be parsed), errc::verbs_not_built (names such as
/// mlx5_0 or rxe0), errc::device_not_found, and those of soft_device::open(). Any thread.
error_info open_device(std::string_view name, std::shared_ptr<device>& out, const open_options& options = {});
/// The same; throws rocio::exception.
std::shared_ptr<device> open_device(std::string_view name, const open_options& options = {});

/// A device that open_device() would take.
struct device_description {
    std::string name{};
    std::string kind{};
    gid address{};
    std::string netdev{};
    std::uint32_t netdev_mtu = 0; ///< Bytes.
    mtu active_mtu = mtu::b1024;
    port_state state = port_state::down;
};

/// One soft device per IPv4 address of this machine, whether or not its UDP port is free; the loopback
/// interface serves every other 127.x.y.z too.
std::vector<device_description> list_devices();

} // namespace rocio

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
    std::string capture{};              ///< File for every packet sent and received; empty: none.
};

/// Opens a device by name: "soft:127.0.0.2", "soft:10.0.0.2:4791", or a system device as the kernel calls it:
/// "mlx5_0", "rxe0". A device belongs to the first io_context that uses it; a system device may be opened
/// once more, under the same name, for another one. On failure `out` is left alone. Errors:
/// errc::invalid_device_name ("" and names that cannot be parsed), errc::no_devices and
/// errc::device_not_found (system devices: the text says what is missing and how to get it),
/// errc::verbs_not_built (a system device's name in a build with -DROCIO_VERBS=OFF), errc::not_supported
/// (options that a system device does not have), and those of soft_device::open() and verbs_device::open().
/// Any thread.
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
    std::uint8_t port = 1;
};

/// One soft device per address of this machine, whether or not its UDP port is free (the loopback
/// interface serves every other 127.x.y.z too), then one entry per port of each system device. A system
/// device that this process may not open is listed by its name alone.
std::vector<device_description> list_devices();

/// Why list_devices() holds no system device and what to do about it; "" when it does.
std::string why_no_verbs_devices();

} // namespace rocio

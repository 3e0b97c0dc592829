#include <rocio/open/open_device.hpp>
#include <rocio/soft/local_address.hpp>
#include <rocio/soft/soft_device.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace rocio {

namespace {

error_info open_soft(std::string_view name, std::shared_ptr<device>& out, const open_options& options) {
    soft_device_config config;
    config.receive_buffer = options.receive_buffer;
    config.faults = options.faults;
    if (auto bad = soft_device::parse_name(name, config)) return bad;
    std::shared_ptr<soft_device> made;
    if (auto bad = soft_device::open(config, made)) return bad;
    out = std::move(made);
    return {};
}

/// What the kernel allows as the name of an RDMA device.
bool may_be_a_verbs_name(std::string_view name) {
    return name.size() < 64 && std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-' || c == '.';
           });
}

error_info not_a_soft_device(std::string_view name) {
    const std::string quoted = "\"" + std::string(name) + "\"";
    const std::string instead = "; this build opens soft devices: soft:127.0.0.2 needs no hardware";
    if (!may_be_a_verbs_name(name))
        return {errc::device_not_found, "device " + quoted + " not found" + instead};
    return {errc::verbs_not_built,
            "No RDMA devices found: " + quoted +
                " not found, because names such as mlx5_0 and rxe0 need libibverbs and a Linux build with "
                "ROCIO_VERBS=ON" +
                instead};
}

} // namespace

error_info open_device(std::string_view name, std::shared_ptr<device>& out, const open_options& options) {
    if (name.empty())
        return {errc::invalid_device_name, "device name \"\" not found: give one such as soft:127.0.0.2"};
    if (name.starts_with("soft:")) return open_soft(name, out, options);
    return not_a_soft_device(name);
}

std::shared_ptr<device> open_device(std::string_view name, const open_options& options) {
    std::shared_ptr<device> out;
    throw_if(open_device(name, out, options));
    return out;
}

std::vector<device_description> list_devices() {
    std::vector<device_description> out;
    for (const auto& a : soft::local_addresses())
        out.push_back({"soft:" + a.value.to_address_string(), "soft", a.value, a.netdev, a.mtu,
                       mtu_of_netdev(a.mtu).value_or(mtu::b256),
                       a.up ? port_state::active : port_state::down});
    return out;
}

} // namespace rocio

#include "open/verbs_part.hpp"

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
    config.capture = options.capture;
    if (auto bad = soft_device::parse_name(name, config)) return bad;
    std::shared_ptr<soft_device> made;
    if (auto bad = soft_device::open(config, made)) return bad;
    out = std::move(made);
    return {};
}

std::string soft_name(const gid& address) {
    const std::string text = address.to_address_string();
    return address.is_v4_mapped() ? "soft:" + text : "soft:[" + text + "]";
}

/// What the kernel allows as the name of an RDMA device.
bool may_be_a_verbs_name(std::string_view name) {
    return name.size() < 64 && std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-' || c == '.';
           });
}

} // namespace

error_info open_device(std::string_view name, std::shared_ptr<device>& out, const open_options& options) {
    if (name.empty())
        return {errc::invalid_device_name, "device name \"\" not found: give one such as soft:127.0.0.2"};
    if (name.starts_with("soft:")) return open_soft(name, out, options);
    if (may_be_a_verbs_name(name)) return open_verbs(name, options, out);
    return {errc::device_not_found,
            "device \"" + std::string(name) +
                "\" not found: no device has such a name; `rocio devices` lists those "
                "there are, soft:127.0.0.2 needs no hardware"};
}

std::shared_ptr<device> open_device(std::string_view name, const open_options& options) {
    std::shared_ptr<device> out;
    throw_if(open_device(name, out, options));
    return out;
}

std::vector<device_description> list_devices() {
    std::vector<device_description> out;
    for (const auto& a : soft::local_addresses())
        out.push_back({soft_name(a.value), "soft", a.value, a.netdev, a.mtu,
                       mtu_of_netdev(a.mtu).value_or(mtu::b256),
                       a.up ? port_state::active : port_state::down});
    append_verbs_devices(out);
    return out;
}

} // namespace rocio

#include "open/verbs_part.hpp"

#include <rocio/types/gid_table.hpp>
#include <rocio/verbs/verbs_device.hpp>

#include <utility>

namespace rocio {

namespace {

/// The address a peer without any of its own would be given, else whatever the table begins with.
gid shown_address(const verbs_device& dev, std::uint8_t port) {
    std::vector<gid_table_entry> table;
    if (dev.gid_table(port, table) || table.empty()) return {};
    const auto choice = choose_gid(table, {});
    return choice.chosen ? choice.chosen->value : table.front().value;
}

void append_ports(const verbs_device& dev, std::vector<device_description>& out) {
    for (unsigned port = 1; port <= dev.limits().ports; ++port) {
        const auto number = static_cast<std::uint8_t>(port);
        port_attributes found;
        if (dev.query_port(number, found)) continue;
        out.push_back({dev.name(), dev.kind(), shown_address(dev, number), found.netdev, found.netdev_mtu,
                       found.active_mtu, found.state, number});
    }
}

} // namespace

error_info open_verbs(std::string_view name, const open_options& options, std::shared_ptr<device>& out) {
    const char* const foreign = options.faults                ? "faults"
                                : options.receive_buffer != 0 ? "receive_buffer"
                                : !options.capture.empty()    ? "capture"
                                                              : nullptr;
    if (foreign != nullptr)
        return {errc::not_supported, std::string(foreign) + " asked for " + std::string(name) +
                                         "; only soft devices have that, such as soft:127.0.0.2"};
    std::shared_ptr<verbs_device> made;
    if (auto bad = verbs_device::open(name, made)) {
        if (bad.text.find("soft:") == std::string::npos) bad.text += "; soft:127.0.0.2 needs no hardware";
        return bad;
    }
    out = std::move(made);
    return {};
}

void append_verbs_devices(std::vector<device_description>& out) {
    for (const auto& name : verbs_device::names()) {
        std::shared_ptr<verbs_device> dev;
        if (verbs_device::open(name, dev))
            out.push_back({.name = name, .kind = "verbs"}); // there, but not for us: opening says why
        else
            append_ports(*dev, out);
    }
}

std::string why_no_verbs_devices() {
    const error_info why = verbs_device::why_none();
    return why ? why.message() : std::string();
}

} // namespace rocio

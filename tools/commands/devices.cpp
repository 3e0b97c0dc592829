#include "commands/commands.hpp"

#include <rocio/open/open_device.hpp>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include <iomanip>
#include <iostream>
#include <memory>

namespace rocio::tools {

namespace {

const char* text_of(port_state state) {
    return state == port_state::active ? "active" : "down";
}

void print_table(const std::vector<device_description>& devices) {
    std::cout << std::left << std::setw(24) << "DEVICE" << std::setw(8) << "KIND" << std::setw(8) << "PORT"
              << std::setw(12) << "NETDEV" << std::setw(8) << "MTU" << std::setw(10) << "PATH MTU"
              << "GID\n";
    for (const auto& d : devices) {
        std::cout << std::left << std::setw(24) << d.name << std::setw(8) << d.kind << std::setw(8)
                  << text_of(d.state) << std::setw(12) << d.netdev << std::setw(8) << d.netdev_mtu
                  << std::setw(10) << bytes(d.active_mtu) << d.address.to_string() << "\n";
    }
    if (devices.empty()) std::cout << "none: bring an interface with an IPv4 address up\n";
    if (const std::string why = why_no_verbs_devices(); !why.empty())
        std::cout << "system devices: " << why << "\n";
}

void print_json(const std::vector<device_description>& devices) {
    boost::json::array list;
    for (const auto& d : devices) {
        list.push_back({{"name", d.name},
                        {"kind", d.kind},
                        {"port", d.port},
                        {"port_state", text_of(d.state)},
                        {"netdev", d.netdev},
                        {"netdev_mtu", d.netdev_mtu},
                        {"active_mtu", bytes(d.active_mtu)},
                        {"address", d.address.to_address_string()},
                        {"gid", d.address.to_string()}});
    }
    const std::string reason = why_no_verbs_devices();
    const boost::json::value why = reason.empty() ? boost::json::value() : boost::json::value(reason);
    std::cout << boost::json::serialize(
                     boost::json::object{{"devices", list}, {"no_system_devices_because", why}})
              << "\n";
}

} // namespace

void add_devices(CLI::App& app, int&) {
    auto* command = app.add_subcommand("devices", "Lists the devices that can be opened");
    auto json = std::make_shared<bool>(false);
    command->add_flag("--json", *json, "One JSON object instead of a table");
    command->callback([json] {
        const auto devices = list_devices();
        if (*json) return print_json(devices);
        print_table(devices);
    });
}

} // namespace rocio::tools

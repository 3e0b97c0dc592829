#include "commands/commands.hpp"
#include "hsb/sensor_options.hpp"
#include "lib/options.hpp"

#include <rocio/fpga/hsb_listener.hpp>
#include <rocio/open/open_device.hpp>

#include <CLI/CLI.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>

#include <algorithm>
#include <chrono>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

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

// ---- Boards that announce themselves

namespace asio = boost::asio;

/// By address and data plane, so that a board with two ports is there twice.
using sightings = std::map<std::string, fpga::hsb_sighting>;

asio::awaitable<void> listen_for_boards(fpga::hsb_listener& listener, sightings& seen) {
    for (;;) {
        const auto [ec, board] = co_await listener.async_next(asio::as_tuple(asio::use_awaitable));
        if (ec) co_return;
        seen[board.from.to_string() + "/" + std::to_string(board.board.data_plane)] = board;
    }
}

sightings find_boards(const asio::ip::udp::endpoint& where, std::chrono::nanoseconds time) {
    asio::io_context context(1);
    fpga::hsb_listener listener(context, where);
    sightings seen;
    asio::steady_timer limit(context, std::chrono::duration_cast<std::chrono::steady_clock::duration>(time));
    limit.async_wait([&listener](const error_code&) { listener.cancel(); });
    asio::co_spawn(context, listen_for_boards(listener, seen), asio::detached);
    context.run();
    return seen;
}

std::string version_text(std::uint16_t version) {
    std::ostringstream text;
    text << "0x" << std::hex << std::setw(4) << std::setfill('0') << version;
    return text.str();
}

void print_board_table(const sightings& boards) {
    std::cout << std::left << std::setw(18) << "ADDRESS" << std::setw(12) << "DATA PLANE" << std::setw(12)
              << "IP VERSION" << std::setw(18) << "SERIAL" << std::setw(20) << "MAC"
              << "BOARD\n";
    for (const auto& [key, b] : boards) {
        const auto& a = b.board;
        std::cout << std::left << std::setw(18) << b.from.to_string() << std::setw(12)
                  << std::to_string(a.data_plane) << std::setw(12) << version_text(a.ip_version)
                  << std::setw(18) << a.serial_text() << std::setw(20) << a.mac_text() << a.board_name()
                  << "\n";
    }
    if (boards.empty())
        std::cout << "none: a board announces itself once a second by broadcast; check cable, subnet and "
                     "that no firewall drops UDP port 12267\n";
}

void print_board_json(const sightings& boards) {
    boost::json::array list;
    for (const auto& [key, b] : boards) {
        const auto& a = b.board;
        list.push_back({{"address", b.from.to_string()},
                        {"announced_address", a.address_text()},
                        {"mac", a.mac_text()},
                        {"data_plane", a.data_plane},
                        {"ip_version", version_text(a.ip_version)},
                        {"serial", a.serial_text()},
                        {"uuid", a.uuid_text()},
                        {"board", a.board_name()},
                        {"board_id", a.board_id},
                        {"sifs_per_sensor", a.sifs_per_sensor()}});
    }
    std::cout << boost::json::serialize(boost::json::object{{"boards", list}}) << "\n";
}

struct devices_options {
    bool json = false;
    bool hsb = false;
    std::optional<std::chrono::nanoseconds> seconds{};
    std::string announcements = "0.0.0.0:12267";
};

int list_boards(const devices_options& o) {
    const auto where = parse_udp_endpoint("--announcements", o.announcements, fpga::hsb_announcement_port);
    const auto boards = find_boards(where, o.seconds.value_or(std::chrono::seconds(3)));
    if (o.json)
        print_board_json(boards);
    else
        print_board_table(boards);
    return boards.empty() ? 1 : 0;
}

void list_own(const devices_options& o) {
    const auto devices = list_devices();
    if (o.json) return print_json(devices);
    print_table(devices);
}

} // namespace

void add_devices(CLI::App& app, int& status) {
    auto* command = app.add_subcommand("devices", "Lists the devices that can be opened, or the boards in "
                                                  "the network");
    auto o = std::make_shared<devices_options>();
    command->add_flag("--json", o->json, "One JSON object instead of a table");
    auto* hsb = command->add_flag("--hsb", o->hsb,
                                  "Lists the Holoscan Sensor Bridge boards that announce themselves; fails "
                                  "if there is none");
    options::seconds(*command, o->seconds)->needs(hsb)->description("how long to listen, default 3s");
    command->add_option("--announcements", o->announcements, "ADDRESS[:PORT] where boards are listened for")
        ->capture_default_str()
        ->needs(hsb);
    command->callback([o, &status] {
        if (o->hsb) return void(status = list_boards(*o));
        list_own(*o);
    });
}

} // namespace rocio::tools

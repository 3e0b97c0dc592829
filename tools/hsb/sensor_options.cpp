#include "hsb/sensor_options.hpp"

#include "cudaq/numeric_option.hpp"
#include "hsb/sensor_command.hpp"

#include <rocio/types/error.hpp>

#include <CLI/CLI.hpp>
#include <boost/asio/ip/address.hpp>

#include <charconv>
#include <fstream>

namespace rocio::tools {

namespace {

namespace asio = boost::asio;

constexpr const char* group = "HSB board";

CLI::Option* grouped(CLI::App& app, const std::string& name) {
    auto* option = app.get_option(name);
    option->group(group);
    return option;
}

template <class Number>
void add_hsb_number(CLI::App& app, const std::string& name, Number& value, const std::string& help,
                    bool any_base = false) {
    add_number(app, name, value, help, any_base);
    grouped(app, name);
}

} // namespace

asio::ip::udp::endpoint parse_udp_endpoint(const std::string& option, const std::string& text,
                                           std::uint16_t port) {
    const auto refuse = [&] {
        return exception({errc::invalid_argument, option + " is \"" + text +
                                                      "\"; allowed: ADDRESS or ADDRESS:PORT, the address "
                                                      "IPv4 and numeric"});
    };
    const auto colon = text.find(':');
    error_code ec;
    const auto address = asio::ip::make_address_v4(text.substr(0, colon), ec);
    if (ec) throw refuse();
    if (colon == std::string::npos) return {address, port};
    const auto digits = text.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (error != std::errc() || end != digits.data() + digits.size()) throw refuse();
    return {address, port};
}

std::optional<std::array<std::uint8_t, 6>> mac_of_interface(const std::string& name) {
    if (name.empty() || name.find('/') != std::string::npos) return std::nullopt;
    std::ifstream file("/sys/class/net/" + name + "/address");
    std::string text;
    std::getline(file, text);
    return parse_mac(text);
}

void emulate_hsb_options::add_to(CLI::App& app) {
    add_hsb_number(app, "--hsb-port", control_port, "UDP port of the control channel");
    app.add_option("--hsb-address", control_address,
                   "Address of the control channel; default: the device's own")
        ->option_text("ADDRESS")
        ->group(group);
    add_hsb_number(app, "--ip-version", ip_version, "Version of the IP: 0x2510 or later", true);
    app.add_option("--virtual-ports", virtual_ports, "Virtual ports, each of which can send")
        ->check(CLI::Range(1, 32))
        ->capture_default_str()
        ->group(group);
    add_hsb_number(app, "--data-plane", data_plane, "Number of its Ethernet port");
    app.add_option("--announce", announce_to, "ADDRESS[:PORT] to announce itself to once a second, or off")
        ->capture_default_str()
        ->group(group);
}

void recv_hsb_options::add_to(CLI::App& app) {
    add_hsb_number(app, "--hsb-port", control_port, "UDP port of the FPGA's control channel");
    add_hsb_number(app, "--data-plane", data_plane, "The FPGA's Ethernet port that sends");
    app.add_option("--sensor", sensor, "Sensor; default: the number of the data plane")
        ->check(CLI::Range(0, 31))
        ->group(group);
    app.add_option("--sifs-per-sensor", sifs_per_sensor, "Sensor interfaces of each sensor, by the board")
        ->check(CLI::Range(1, 2))
        ->capture_default_str()
        ->group(group);
    app.add_option("--pages", pages, "Frames that fit into the memory; before IP version 0x2602 at most 4")
        ->check(CLI::Range(1, 4096))
        ->capture_default_str()
        ->group(group);
    app.add_option_function<std::string>(
           "--policy",
           [this](const std::string& text) {
               policy = text == "latest" ? sensor_policy::latest : sensor_policy::every;
           },
           "Which frames are taken when they come too fast")
        ->check(CLI::IsMember({"every", "latest"}))
        ->default_str("every")
        ->group(group);
    add_hsb_number(app, "--ethernet-mtu", ethernet_mtu, "MTU on the way, in bytes");
    app.add_option_function<std::string>(
           "--host-mac",
           [this](const std::string& text) {
               host_mac = parse_mac(text);
               if (!host_mac)
                   throw CLI::ValidationError("--host-mac", "\"" + text +
                                                                "\" is not possible; allowed: six pairs of "
                                                                "hex digits, as 48:b0:2d:00:00:01");
           },
           "Ethernet address the FPGA sends to; default: that of the device's interface")
        ->type_name("MAC")
        ->group(group);
    app.add_option("--announcements", announcements,
                   "ADDRESS[:PORT] where a board is listened for when no --fpga-ip is given")
        ->capture_default_str()
        ->group(group);
    app.add_flag("--any-ip-id", any_ip_id,
                 "The board is emulated on a device whose packets have IP ids (rdma_rxe)")
        ->group(group);
}

} // namespace rocio::tools

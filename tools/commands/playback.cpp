#include "cudaq/playback.hpp"

#include "commands/commands.hpp"
#include "cudaq/latency_report.hpp"
#include "cudaq/numeric_option.hpp"
#include "lib/human.hpp"
#include "lib/live_line.hpp"
#include "lib/options.hpp"
#include "original_names.hpp"

#include <rocio/open/open_device.hpp>

#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <exception>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

namespace rocio::tools {

namespace {

namespace asio = boost::asio;

/// Exit status of the original for --loop without --no-verify.
constexpr int contradiction = 2;
constexpr std::size_t first_messages_shown = 5;

/// What `rocio playback` and hsb_fpga_playback take.
struct playback_options {
    playback_config playback{};
    std::string hsb_ip = "192.168.0.2";
    std::string bridge_ip = "10.0.0.1";
    std::string bridge_mac{};
    std::uint16_t control_port = fpga::hsb::control_port;
    std::uint32_t hif_address = fpga::hsb::default_hif_address;
    bool no_verify = false;
    std::string csv{};
    bool csv_of_nothing = true; ///< Writes the file also when no message was timed.
    std::string svg{};
    bool json = false;

    /// The original's options, as `--name=VALUE`.
    void add_original_to(CLI::App& app);
    /// Those and our own.
    void add_to(CLI::App& app);
};

asio::ip::address_v4 ipv4(const char* option, const std::string& text) {
    error_code ec;
    auto address = asio::ip::make_address_v4(text, ec);
    if (!ec) return address;
    throw exception({errc::invalid_argument, std::string(option) + " '" + text + "' is no IPv4 address"});
}

std::string first_line_of(const std::string& path) {
    std::ifstream file(path);
    std::string text;
    std::getline(file, text);
    return text;
}

/// "address, hardware type, flags, MAC, mask, interface" in each line behind the first.
std::optional<mac_address> mac_of_neighbour(const std::string& ip) {
    std::ifstream table("/proc/net/arp");
    std::string line, address, kind, flags, mac;
    std::getline(table, line);
    while (std::getline(table, line)) {
        std::istringstream fields(line);
        fields >> address >> kind >> flags >> mac;
        if (address == ip && mac != "00:00:00:00:00:00") return parse_mac(mac);
    }
    return std::nullopt;
}

/// The bridge's port is one of this machine's RDMA devices, or a neighbour's.
std::optional<mac_address> find_mac(const std::string& ip) {
    for (const auto& device : list_devices()) {
        if (device.address.to_address_string() != ip || device.netdev.empty()) continue;
        const auto mac = parse_mac(first_line_of("/sys/class/net/" + device.netdev + "/address"));
        if (mac) return mac;
    }
    return mac_of_neighbour(ip);
}

playback_config config_of(const playback_options& o) {
    auto c = o.playback;
    c.control = {ipv4("--hsb-ip", o.hsb_ip), o.control_port};
    c.bridge_ip = ipv4("--bridge-ip", o.bridge_ip);
    c.verify = !o.no_verify;
    if (c.emulator || !o.bridge_mac.empty()) {
        c.bridge_mac = parse_mac(o.bridge_mac);
        if (!c.bridge_mac && !o.bridge_mac.empty())
            throw exception(
                {errc::invalid_argument, "--bridge-mac '" + o.bridge_mac + "' is no MAC address"});
        return c;
    }
    c.bridge_mac = find_mac(o.bridge_ip);
    if (!c.bridge_mac)
        throw exception({errc::invalid_argument, "no port of this machine has " + o.bridge_ip +
                                                     ", and no neighbour: give --bridge-mac (an emulator: "
                                                     "--emulator)"});
    return c;
}

std::string hex(std::uint64_t value) {
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
    return "0x" + std::string(digits.data(), end);
}

void print_plan(const playback_options& o, const playback_config& c) {
    std::cout << "=== HSB Generic RPC Playback ===\n"
              << "HSB: " << o.hsb_ip << "\n"
              << "Messages: " << c.messages << "\n"
              << "Payload size: " << c.payload_size << " bytes\n"
              << "  Bridge QP: " << hex(c.queue_pair) << "\n"
              << "  Bridge RKey: " << c.remote_key << "\n"
              << "  Bridge Buffer: " << hex(c.buffer) << "\n"
              << "  Page size: " << c.page_size << " bytes\n"
              << "  Num pages: " << c.pages << "\n"
              << "  Frame size: " << window_bytes(c.payload_size) << " bytes" << std::endl;
}

void print_first_messages(const playback_report& r) {
    for (std::size_t i = 0; i < std::min(first_messages_shown, r.round_trips.size()); ++i) {
        const auto& m = r.round_trips[i];
        std::cout << "  Msg " << m.shot << ": send={sec=" << m.sent.seconds << ", nsec=" << m.sent.nanoseconds
                  << "} recv={sec=" << m.received.seconds << ", nsec=" << m.received.nanoseconds
                  << "} delta=" << m.nanoseconds() << " ns\n";
    }
}

void print_verification(const playback_report& r) {
    const auto& c = r.counts;
    print_first_messages(r);
    std::cout << "\n=== Verification Summary ===\n"
              << "  ILA samples captured:   " << c.samples << "\n"
              << "  tvalid=0 (idle):        " << c.idle << "\n"
              << "  RPC responses:          " << c.responses << "\n"
              << "  Non-RPC frames:         " << c.non_rpc << "\n"
              << "  Unique messages verified: " << c.unique << " of " << r.messages << "\n"
              << "  Responses matched:    " << c.matched << "\n"
              << "  Header errors:        " << c.header_errors << "\n"
              << "  Payload errors:       " << c.payload_errors << "\n"
              << "  Missing responses:    " << c.missing << "\n"
              << "  Duplicate responses:  " << c.duplicates << "\n"
              << "  Unexpected responses: " << c.unexpected << "\n"
              << latency_text(r.round_trips);
}

void print_loop(const loop_counts& l) {
    std::cout << "  Loop windows:         " << l.windows << "\n"
              << "  Loop responses:       " << l.responses << "\n"
              << "  Loop send errors:     " << l.errors << "\n"
              << "  Loop timeouts:        " << l.timeouts << "\n"
              << "  Loop failures:        " << l.response_failures << "\n";
}

template <class Write>
void write_file(const std::string& path, const char* what, Write write) {
    std::ofstream file(path);
    write(file);
    file.close();
    if (!file) throw exception({errc::invalid_argument, std::string(what) + " cannot be written to " + path});
    std::cout << "  " << what << " written: " << path << "\n";
}

void write_files(const playback_options& o, const playback_report& r) {
    if (!o.csv.empty() && (o.csv_of_nothing || !r.round_trips.empty()))
        write_file(o.csv, "CSV", [&](std::ostream& out) { write_latency_csv(out, r.round_trips); });
    if (!o.svg.empty())
        write_file(o.svg, "SVG", [&](std::ostream& out) {
            write_latency_svg(out, latencies_of(r.round_trips),
                              "Round trip FPGA to bridge and back, PTP clock");
        });
}

boost::json::value latency_json(const playback_report& r) {
    if (r.round_trips.empty()) return nullptr;
    const auto s = summarise(latencies_of(r.round_trips));
    return boost::json::object{{"samples", r.round_trips.size()},
                               {"min_ns", s.minimum},
                               {"median_ns", s.median},
                               {"avg_ns", s.average},
                               {"p99_ns", s.p99},
                               {"p999_ns", s.p999},
                               {"max_ns", s.maximum}};
}

boost::json::value loop_json(const playback_report& r) {
    if (!r.loop) return nullptr;
    return boost::json::object{{"windows", r.loop->windows},
                               {"responses", r.loop->responses},
                               {"errors", r.loop->errors},
                               {"timeouts", r.loop->timeouts},
                               {"response_failures", r.loop->response_failures}};
}

boost::json::object to_json(const playback_options& o, const playback_report& r) {
    const auto& c = r.counts;
    return {{"hsb", o.hsb_ip},
            {"result", r.passed() ? "PASS" : "FAIL"},
            {"verified", r.verified},
            {"messages", r.messages},
            {"played", r.played},
            {"passes", r.passes},
            {"seconds", std::chrono::duration<double>(r.elapsed).count()},
            {"samples", c.samples},
            {"idle", c.idle},
            {"responses", c.responses},
            {"non_rpc", c.non_rpc},
            {"unique", c.unique},
            {"matched", c.matched},
            {"lost", c.missing},
            {"duplicated", c.duplicates},
            {"unexpected", c.unexpected},
            {"header_errors", c.header_errors},
            {"payload_errors", c.payload_errors},
            {"memory_mismatches", r.memory_mismatches},
            {"control_requests", r.channel.requests},
            {"control_retries", r.channel.retries},
            {"loop", loop_json(r)},
            {"latency", latency_json(r)}};
}

std::string live_text(const playback& p) {
    const auto now = p.progress();
    auto text = human_count(static_cast<double>(now.answered)) + " of " +
                human_count(static_cast<double>(now.messages)) + " answered";
    if (now.passes > 1) text += ", pass " + std::to_string(now.pass) + " of " + std::to_string(now.passes);
    return text;
}

playback_report play(playback_config c) {
    asio::io_context context(1);
    std::optional<live_line> live;
    c.tell = [&live](const std::string& line) {
        if (live && live->is_active()) std::cerr << "\r\033[K" << std::flush;
        std::cout << line << std::endl;
    };
    playback player(context.get_executor(), std::move(c));
    live.emplace(context.get_executor(), [&player] { return live_text(player); });
    asio::signal_set signals(context, SIGINT, SIGTERM);
    signals.async_wait([&player](const error_code& ec, int) {
        if (!ec) player.stop();
    });
    playback_report report;
    std::exception_ptr failure;
    asio::co_spawn(context, player.run(), [&](std::exception_ptr e, playback_report r) {
        failure = std::move(e);
        report = std::move(r);
        live->stop();
        signals.cancel();
        signals.clear(); // the next signal ends a program whose end hangs
    });
    context.run();
    if (failure) std::rethrow_exception(failure);
    return report;
}

int run_playback(const playback_options& o) {
    if (o.playback.loop && !o.no_verify) {
        std::cerr
            << "ERROR: --loop requires --no-verify because a continuous loop has no finite ILA response "
               "sequence\n";
        return contradiction;
    }
    const auto c = config_of(o);
    throw_if(validate(c));
    print_plan(o, c);
    const auto report = play(c);
    if (report.verified) print_verification(report);
    if (report.loop) print_loop(*report.loop);
    for (const auto& remark : report.remarks) std::cerr << "  " << remark << "\n";
    write_files(o, report);
    if (report.verified)
        std::cout << "  RESULT: " << (report.passed() ? "PASS" : "FAIL") << std::endl;
    else
        std::cout << "\n[4/4] Verification skipped (--no-verify)\n\n*** PLAYBACK COMPLETE ***" << std::endl;
    if (o.json) std::cout << boost::json::serialize(to_json(o, report)) << std::endl;
    return report.passed() ? 0 : 1;
}

void playback_options::add_original_to(CLI::App& app) {
    app.add_option("--hsb-ip,--control-ip", hsb_ip, "IPv4 address of the FPGA or its emulator")
        ->capture_default_str();
    add_number(app, "--control-port", control_port, "UDP port of the control channel");
    add_number(app, "--bridge-qp", playback.queue_pair, "Queue pair of the bridge, as it prints it", true);
    add_number(app, "--bridge-rkey", playback.remote_key, "Key of the bridge's ring, as it prints it", true);
    add_number(app, "--bridge-buffer", playback.buffer, "Address of the bridge's ring, as it prints it",
               true);
    add_number(app, "--page-size", playback.page_size, "Bytes of a slot of the bridge's ring");
    add_number(app, "--num-pages", playback.pages, "Slots of the bridge's ring");
    add_number(app, "--num-messages", playback.messages, "Requests to send");
    add_number(app, "--payload-size", playback.payload_size, "Bytes of a request behind its header");
    add_number(app, "--vp-address", playback.vp_address, "Registers of the virtual port", true);
    add_number(app, "--hif-address", hif_address, "Registers of the host interface", true);
    app.get_option("--hif-address")->default_str("0x0800 with --emulator, else 0x02000300");
    app.add_option("--bridge-ip", bridge_ip, "IPv4 address of the bridge")->capture_default_str();
    app.add_flag("--emulator", playback.emulator, "An emulator: no reset, no MAC address");
    app.add_flag("--no-verify", no_verify, "Does not look at the answers");
    app.add_flag("--loop", playback.loop, "Sends again and again until Ctrl-C; with --no-verify only");
    app.add_flag("--forward", playback.forward, "The bridge sends every request back as it came");
}

void playback_options::add_to(CLI::App& app) {
    add_original_to(app);
    app.add_option_function<std::string>(
           "--reply-timeout",
           [this](const std::string& text) {
               playback.reply_timeout = std::chrono::ceil<std::chrono::milliseconds>(
                   options::parse_duration("--reply-timeout", text));
           },
           "How long an answer may take")
        ->type_name("TIME")
        ->default_str("10s");
    app.add_option("--bridge-mac", bridge_mac,
                   "MAC address of the bridge's port; found for a port of this machine")
        ->type_name("MAC");
    app.add_option("--csv", csv, "Writes each message's times there")->type_name("FILE");
    app.add_option("--svg", svg, "Draws a histogram of the round trips there")->type_name("FILE");
    options::json(app, json);
}

void set_hif_address(const CLI::App& app, playback_options& o) {
    if (app.count("--hif-address") > 0) o.playback.hif_address = o.hif_address;
}

} // namespace

void add_playback(CLI::App& app, int& status) {
    auto o = std::make_shared<playback_options>();
    auto* command =
        app.add_subcommand("playback", "Has an HSB FPGA, or `rocio emulate --profile cudaq`, send "
                                       "requests to a bridge, and checks the answers; takes the "
                                       "place of hsb_fpga_playback");
    o->add_to(*command);
    command->callback([o, command, &status] {
        set_hif_address(*command, *o);
        status = run_playback(*o);
    });
}

void add_hsb_fpga_playback(CLI::App& app, int& status) {
    auto o = std::make_shared<playback_options>();
    o->csv = "ptp_latency.csv";
    o->csv_of_nothing = false;
    o->add_original_to(app);
    app.callback([o, &app, &status] {
        set_hif_address(app, *o);
        status = run_playback(*o);
    });
}

} // namespace rocio::tools

#include "commands/commands.hpp"
#include "commands/status_front.hpp"
#include "commands/stream_support.hpp"
#include "cudaq/bridge_options.hpp"
#include "cudaq/handler_library.hpp"
#include "cudaq/increment.hpp"
#include "cudaq/numeric_option.hpp"
#include "cudaq/playback_config.hpp"
#include "hsb/sensor_options.hpp"
#include "lib/human.hpp"
#include "lib/spdlog_sink.hpp"
#include "original_names.hpp"

#include <rocio/fpga/hsb_channel.hpp>
#include <rocio/fpga/hsb_control_client.hpp>
#include <rocio/io/completion_engine.hpp>

#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/json.hpp>

#include <charconv>
#include <iostream>
#include <memory>
#include <optional>

namespace rocio::tools {

namespace {

namespace asio = boost::asio;

std::string hex(std::uint64_t value) {
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
    return "0x" + std::string(digits.data(), end);
}

/// "60" for whole seconds, as the original prints them.
std::string seconds_text(std::chrono::nanoseconds time) {
    std::array<char, 32> digits{};
    const auto seconds = std::chrono::duration<double>(time).count();
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), seconds).ptr;
    return {digits.data(), end};
}

void print_plan(const bridge_options& o, const bridge_config& c) {
    std::cout << "=== HSB CPU Bridge (Phase 1) ===\n"
              << "Device:        " << o.device << "\n"
              << "Peer IP:       " << o.peer_ip << "\n"
              << "Remote QP:     " << hex(c.peer_queue_pair) << "\n"
              << "Pages:         " << c.pages << "\n"
              << "Page size:     " << c.page_size << " bytes\n"
              << "Frame size:    " << std::uint64_t{c.payload_size} + 24 << " bytes\n"
              << "Mode:          " << to_string(c.mode) << std::endl;
}

/// The lines by which scripts learn our numbers: two blanks in front, one behind the colon.
void print_ready(const local_parameters& ours, std::chrono::nanoseconds timeout) {
    std::cout << "\n=== Bridge Ready ===\n"
              << "  QP Number: " << hex(ours.queue_pair.value()) << "\n"
              << "  RKey: " << ours.region.key.value << "\n"
              << "  Buffer Addr: " << hex(ours.region.address) << "\n"
              << "\nWaiting (Ctrl+C to stop, timeout=" << seconds_text(timeout) << "s)..." << std::endl;
}

void print_end(const bridge_report& r) {
    std::cout << "\n=== Shutting down ===\n";
    if (r.mode != bridge_mode::forward) std::cout << "Packets dispatched: " << r.dispatched << "\n";
    std::cout << "Done." << std::endl;
}

boost::json::object to_json(const bridge_options& o, const bridge_report& r, std::chrono::nanoseconds ran) {
    return {{"device", o.device},
            {"mode", to_string(r.mode)},
            {"seconds", std::chrono::duration<double>(ran).count()},
            {"received", r.received},
            {"dispatched", r.dispatched},
            {"silent", r.silent},
            {"bad_magic", r.calls.bad_magic},
            {"unknown_function", r.calls.unknown_function},
            {"sent", r.sent},
            {"overwritten", r.ring.overwritten},
            {"publish_errors", r.calls.publish_errors}};
}

rpc::function_table functions(const bridge_options& o) {
    rpc::function_table table;
    for (const auto& text : o.handlers) add_handlers(table, parse_handler_source(text));
    if (!table.find(increment_name)) table.add_raw(increment_name, increment);
    return table;
}

bridge_config config_of(const bridge_options& o) {
    auto c = o.bridge;
    const auto peer = gid::parse(o.peer_ip);
    if (!peer || !peer->is_v4_mapped() || o.peer_ip.find(':') != std::string::npos)
        throw exception({errc::invalid_argument, "peer IP '" + o.peer_ip + "' is no IPv4 address"});
    c.peer_address = *peer;
    if (o.unified) c.mode = bridge_mode::unified;
    if (o.forward) c.mode = bridge_mode::forward;
    return c;
}

/// The Ethernet address that the FPGA is to send to.
std::optional<mac_address> host_mac(const bridge_options& o, const device& dev) {
    if (!o.host_mac.empty()) {
        if (const auto mac = parse_mac(o.host_mac)) return mac;
        throw exception({errc::invalid_argument,
                         "--host-mac is \"" + o.host_mac + "\"; allowed: one such as 48:b0:2d:00:00:01"});
    }
    port_attributes port;
    if (dev.query_port(o.bridge.port, port)) return std::nullopt;
    return mac_of_interface(port.netdev);
}

/// Lets the bridge bring its FPGA up by the control channel.
void add_bring_up(const bridge_options& o, bridge_config& c) {
    if (o.fpga_ip.empty()) return;
    if (c.mode == bridge_mode::unified)
        throw exception(
            {errc::invalid_argument, "--fpga-ip does not go with --unified, which runs no context"});
    if (!o.sensor.exists())
        throw exception({errc::invalid_argument, "--sensor is " + std::to_string(o.sensor.number) +
                                                     "; allowed: what makes a virtual port of at most 31"});
    fpga::hsb_channel_config channel;
    channel.fpga = c.peer_address;
    channel.path = fpga::hsb_data_path::of(o.sensor);
    channel.frame_size = 24 + c.payload_size;
    channel.page_size = c.page_size;
    channel.pages = c.pages;
    channel.mtu = o.ethernet_mtu;
    channel.mac = host_mac(o, *c.device);
    channel.queue_pair = qpn{c.peer_queue_pair};
    const asio::ip::udp::endpoint control(asio::ip::make_address(o.fpga_ip), o.control_port);
    c.bring_up = [channel, control](asio::io_context& context) {
        return any_handshake(fpga::hsb_channel(context, fpga::hsb_control_client(context, control), channel));
    };
}

/// Where the data plane runs: a thread of its own that spins, or the program's only context.
class data_plane {
  public:
    data_plane(asio::io_context& main, const bridge_config& c) : main_(main) {
        if (c.mode == bridge_mode::unified) return;
        if (c.poll.budget != polling_policy::endless) {
            throw_if(place_this_thread(c.thread));
            return;
        }
        busy_poll_thread_config how;
        how.name = "bridge";
        how.cpu = c.thread.cpu;
        how.realtime_priority = c.thread.realtime_priority;
        how.policy = c.poll;
        thread_.emplace(how);
    }
    asio::io_context& context() { return thread_ ? thread_->context() : main_; }

  private:
    asio::io_context& main_;
    std::optional<busy_poll_thread> thread_{};
};

/// The bridge on its context, stopped by the main context's signals and clock.
class running_bridge {
  public:
    running_bridge(asio::io_context& main, data_plane& plane, const bridge_config& c, const bridge_options& o)
        : main_(main),
          plane_(plane.context()),
          bridge_(plane_, c, functions(o)),
          timeout_(o.timeout),
          signals_(main, SIGINT, SIGTERM),
          deadline_(main),
          live_(main.get_executor(), [this] { return live_text(); }) {}

    bridge& served() noexcept { return bridge_; }

    /// Shows itself on the main context until run() ends.
    void show(const options::http_address& where, const bridge_config& c, std::shared_ptr<log_sink> log) {
        status_.emplace(main_, where, "bridge", std::move(log),
                        [this, dev = c.device](status_snapshot& s) { show_machinery(s, plane_, dev); });
        // Of the unified mode no context runs; its counters may be read from any thread.
        if (c.mode == bridge_mode::unified) {
            shown_ = status_->source().add([this](status_snapshot& s) { show_report(s); });
            return;
        }
        shown_ = status_->source().add(plane_.get_executor(), "bridge",
                                       [this](status_snapshot& s) { show_report(s); });
    }

    /// Until the bridge is over; gives its failure.
    error_info run() {
        watch();
        error_info failure;
        const auto work = asio::make_work_guard(main_);
        asio::co_spawn(plane_, bridge_.run(), [&](const std::exception_ptr& e, const error_info& result) {
            // Taken here: only on this context may the report be taken while it runs.
            report_ = bridge_.report();
            asio::post(main_, [&, e, result] {
                stop_watching();
                main_.stop();
                if (e) std::rethrow_exception(e);
                failure = result;
            });
        });
        main_.run();
        return failure;
    }
    const bridge_report& report() const noexcept { return report_; }

  private:
    void show_report(status_snapshot& s) const {
        const auto r = bridge_.report();
        s.rings.push_back(r.ring);
        s.services.push_back({"bridge", r.calls});
    }
    void watch() {
        signals_.async_wait([this](const error_code& ec, int) {
            if (!ec) bridge_.stop();
        });
        deadline_.expires_after(timeout_);
        deadline_.async_wait([this](const error_code& ec) {
            if (ec) return;
            live_.stop();
            std::cout << "\nTimeout reached (" << seconds_text(timeout_) << "s)" << std::endl;
            bridge_.stop();
        });
    }
    void stop_watching() {
        live_.stop();
        shown_.reset();
        if (status_) status_->stop();
        signals_.cancel();
        signals_.clear(); // the next signal ends a program whose end hangs
        deadline_.cancel();
    }
    std::string live_text() const {
        const auto now = bridge_.progress();
        return human_count(static_cast<double>(now.received)) + " received  " +
               human_count(static_cast<double>(now.sent)) + " sent";
    }

    asio::io_context& main_;
    asio::io_context& plane_;
    bridge bridge_;
    bridge_report report_{};
    std::chrono::nanoseconds timeout_;
    asio::signal_set signals_;
    asio::steady_timer deadline_;
    live_line live_;
    std::optional<status_front> status_{};
    status_registration shown_{};
};

} // namespace

int run_bridge(const bridge_options& o) {
    if (o.unified && o.forward) {
        std::cerr << "ERROR: --unified and --forward are mutually exclusive" << std::endl;
        return 1;
    }
    auto c = config_of(o);
    print_plan(o, c);
    auto opening = with_faults(o.faults);
    opening.capture = o.pcap;
    c.device = open_device(o.device, opening);
    add_bring_up(o, c);
    asio::io_context main(1);
    data_plane plane(main, c);
    completion_engine::of(plane.context()).set_policy(c.poll);
    const auto log = c.log = command_log(o.log);
    running_bridge running(main, plane, c, o);
    if (o.http) running.show(*o.http, c, log);
    const auto begin = std::chrono::steady_clock::now();
    running.served().start();
    print_ready(running.served().local(), o.timeout);
    const auto failure = running.run();
    print_end(running.report());
    if (o.json)
        std::cout << boost::json::serialize(
                         to_json(o, running.report(), std::chrono::steady_clock::now() - begin))
                  << std::endl;
    throw_if(failure);
    return 0;
}

void bridge_options::add_original_to(CLI::App& app) {
    app.add_option("--device", device, "IB device")->capture_default_str()->take_last();
    app.add_option("--peer-ip", peer_ip, "IPv4 address of the FPGA or its emulator")
        ->capture_default_str()
        ->take_last();
    add_number(app, "--remote-qp", bridge.peer_queue_pair, "Queue pair of the peer", true);
    add_number(app, "--num-pages", bridge.pages, "Slots of a ring, a power of two");
    add_number(app, "--page-size", bridge.page_size, "Bytes of a slot");
    add_number(app, "--payload-size", bridge.payload_size, "Bytes of a message behind its header");
    app.add_flag("--unified", unified, "One thread receives, calls and sends");
    app.add_flag("--forward", forward, "Sends back every message as it came; calls nothing");
}

void bridge_options::add_to(CLI::App& app) {
    add_original_to(app);
    app.remove_option(app.get_option("--device"));
    options::device(app, device)->take_last();
    app.add_option_function<std::string>(
           "--timeout,--seconds",
           [this](const std::string& text) { timeout = options::parse_duration("--timeout", text); },
           "Ends after this time")
        ->default_str("60");
    app.add_option(
           "--handlers", handlers,
           "HOST_CALL functions of a shared library, besides rpc_increment: SYMBOL is a function that "
           "fills COUNT (1) entries, as setup_rpc_increment_function_table_host() does, or the table "
           "itself")
        ->type_name("LIB.so:SYMBOL[:COUNT]");
    app.add_option_function<std::string>(
           "--fpga-ip", [this](const std::string& text) { peer_ip = fpga_ip = text; },
           "Brings that FPGA up by its control channel; in place of --peer-ip")
        ->excludes(app.get_option("--peer-ip"))
        ->type_name("ADDRESS");
    add_number(app, "--hsb-port", control_port, "UDP port of its control channel");
    add_number(app, "--data-plane", sensor.data_plane, "Its Ethernet port that sends");
    add_number(app, "--sensor", sensor.number, "Its sensor that sends");
    add_number(app, "--sifs-per-sensor", sensor.sifs_per_sensor, "Sensor interfaces of each sensor");
    add_number(app, "--ethernet-mtu", ethernet_mtu, "MTU on the way, in bytes");
    app.add_option("--host-mac", host_mac,
                   "Ethernet address it sends to; default: that of the device's interface")
        ->type_name("MAC");
    app.add_option("--udp-port", bridge.peer_udp_port, "UDP port of a soft peer")->capture_default_str();
    options::gid_index(app, bridge.gid_index);
    options::ib_port(app, bridge.port);
    options::poll(app, bridge.poll);
    options::thread(app, bridge.thread);
    options::memory(app, bridge.memory);
    options::http(app, http);
    options::log(app, log);
    options::json(app, json);
    add_fault_options(app, faults);
    add_capture_option(app, pcap);
}

void add_bridge(CLI::App& app, int& status) {
    auto o = std::make_shared<bridge_options>();
    auto* command = app.add_subcommand("bridge", "Answers the requests of an HSB FPGA in CUDA-Q's format; "
                                                 "takes the place of hsb_bridge_cpu");
    o->add_to(*command);
    command->callback([o, &status] { status = run_bridge(*o); });
}

void add_hsb_bridge_cpu(CLI::App& app, int& status) {
    auto o = std::make_shared<bridge_options>();
    o->add_original_to(app);
    app.add_option_function<std::uint32_t>(
           "--timeout", [o](std::uint32_t seconds) { o->timeout = std::chrono::seconds{seconds}; },
           "Seconds after which it ends")
        ->default_str("60");
    app.callback([o, &status] { status = run_bridge(*o); });
}

} // namespace rocio::tools

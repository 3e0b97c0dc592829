#include "commands/emulate_cudaq.hpp"

#include "commands/stream_support.hpp"
#include "cudaq/fpga_emulator.hpp"
#include "cudaq/numeric_option.hpp"
#include "lib/spdlog_sink.hpp"
#include "original_names.hpp"

#include <rocio/io/completion_engine.hpp>

#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/address.hpp>

#include <iostream>
#include <memory>

namespace rocio::tools {

namespace {

namespace asio = boost::asio;

constexpr std::chrono::seconds originals_configuration_timeout{300};

asio::ip::address parse_address(const std::string& option, const std::string& text) {
    error_code ec;
    auto address = asio::ip::make_address(text, ec);
    if (!ec) return address;
    throw exception(
        {errc::invalid_argument, option + " is \"" + text + "\"; allowed: an address such as 10.0.0.2"});
}

/// The board's own address: several emulators of one machine each have the control port there, and on a
/// machine with several addresses the answers come from the one that was asked (from a socket bound to any,
/// the kernel chooses).
asio::ip::address default_listen(const fpga_emulator_config& c) {
    const auto entry = emulator_gid(c);
    return entry && entry->value.is_v4_mapped() ? parse_address("--device", entry->value.to_address_string())
                                                : asio::ip::address_v4::any();
}

gid parse_bridge(const std::string& text) {
    if (const auto parsed = gid::parse(text)) return *parsed;
    throw exception(
        {errc::invalid_argument, "--bridge-ip is \"" + text + "\"; allowed: an IP address such as 10.0.0.1"});
}

fpga_emulator_config config_of(const cudaq_emulator_options& o) {
    fpga_emulator_config c;
    c.device = open_device(o.device, o.opening);
    c.ib_port = o.ib_port;
    c.gid_index = o.gid_index;
    if (!o.bridge_ip.empty()) c.bridge = parse_bridge(o.bridge_ip);
    c.control = {o.listen.empty() ? default_listen(c) : parse_address("--listen", o.listen), o.port};
    c.board.vp_address = o.vp_address;
    c.board.hif_address = o.hif_address;
    c.page_size = o.page_size;
    c.reply_timeout = std::chrono::ceil<std::chrono::milliseconds>(o.reply_timeout);
    c.passes = o.passes;
    c.one_session = o.one_session;
    c.memory = o.memory;
    if (o.one_session) c.configuration_timeout = originals_configuration_timeout;
    c.line = [](const std::string& line) { std::cout << line << std::endl; };
    c.error = [](const std::string& line) { std::cerr << line << std::endl; };
    return c;
}

report report_of(const emulator_report& r, const std::string& device_name) {
    report out;
    out.device = device_name;
    out.frames = r.total.windows;
    out.bytes = r.total.bytes;
    out.elapsed = r.elapsed;
    out.lost = r.total.timeouts;
    out.corrupt = r.total.response_failures;
    out.more["passes"] = r.passes;
    out.more["responses"] = r.total.responses;
    out.more["response_failures"] = r.total.response_failures;
    out.more["send_errors"] = r.total.send_errors;
    out.more["timeouts"] = r.total.timeouts;
    out.more["late"] = r.total.late;
    out.more["stray"] = r.total.stray;
    out.more["control_requests"] = r.control.datagrams;
    out.more["control_refused"] = r.control.refused + r.control.ignored;
    out.more["control_repeated"] = r.control.repeated;
    return out;
}

} // namespace

void cudaq_emulator_options::add_originals_to(CLI::App& app) {
    add_number(app, "--port", port, "UDP port of the control channel");
    app.add_option("--bridge-ip", bridge_ip, "The bridge's address; default: the register HOST_IP")
        ->option_text("ADDRESS");
    add_number(app, "--vp-address", vp_address, "Registers of the virtual port", true);
    add_number(app, "--hif-address", hif_address, "Registers of the host interface", true);
    add_number(app, "--page-size", page_size, "Bytes of the longest answer");
}

void cudaq_emulator_options::add_own_to(CLI::App& app) {
    app.add_option("--listen", listen,
                   "Address of the control channel; default: the board's own; 0.0.0.0: any")
        ->option_text("ADDRESS");
    app.add_option_function<std::string>(
           "--reply-timeout",
           [this](const std::string& text) {
               reply_timeout = options::parse_duration("--reply-timeout", text);
           },
           "How long to wait for each answer: 10s, 500ms")
        ->type_name("TIME")
        ->default_str("10s");
    app.add_option("--passes", passes, "End after so many passes; default: when it is told to")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}));
}

int emulate_cudaq(const cudaq_emulator_options& o) {
    if (o.page_size == 0 || o.page_size > (1U << 24))
        throw exception({errc::invalid_argument,
                         "--page-size is " + std::to_string(o.page_size) + "; allowed: 1 to 16777216"});
    throw_if(place_this_thread(o.thread));
    asio::io_context context(1);
    auto& engine = completion_engine::of(context);
    engine.set_policy(o.poll);
    engine.set_log_sink(command_log(o.log));
    auto config = config_of(o);
    const auto device_name = config.device->name();
    fpga_emulator emulator(context, std::move(config));
    end_of_run end(context, o.seconds, [&] { emulator.stop(); });
    error_info failure;
    asio::co_spawn(context, emulator.run(), [&](const std::exception_ptr& e, const error_info& result) {
        end.cancel();
        if (e) std::rethrow_exception(e);
        failure = result;
    });
    context.run();
    throw_if(failure);
    const auto result = emulator.report();
    if (o.json) std::cout << json_line(report_of(result, device_name)) << std::endl;
    const bool all_passes = !o.passes || result.passes >= *o.passes;
    return result.total.all_right() && all_passes ? 0 : 1;
}

void add_hsb_fpga_emulator(CLI::App& app, int& status) {
    auto o = std::make_shared<cudaq_emulator_options>();
    o->device = "rocep1s0f0";
    o->one_session = true;
    app.add_option("--device", o->device, "RDMA device")->capture_default_str();
    add_number(app, "--ib-port", o->ib_port, "Port of the device");
    o->add_originals_to(app);
    app.callback([o, &status] { status = emulate_cudaq(*o); });
}

} // namespace rocio::tools

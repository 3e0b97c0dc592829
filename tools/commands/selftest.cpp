#include "cudaq/selftest.hpp"

#include "commands/commands.hpp"
#include "commands/stream_support.hpp"
#include "cudaq/latency_report.hpp"
#include "cudaq/numeric_option.hpp"
#include "lib/device_pair.hpp"
#include "lib/human.hpp"
#include "lib/spdlog_sink.hpp"

#include <rocio/io/completion_engine.hpp>

#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/json.hpp>

#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>

namespace rocio::tools {

namespace {

namespace asio = boost::asio;

struct selftest_options {
    std::string device{};
    std::string bridge_device{};
    std::string fpga_ip{};
    selftest_config test{};
    bool unified = false;
    bool forward = false;
    fault_plan faults{};
    log_levels log{};
    bool json = false;

    void add_to(CLI::App& app);
};

/// A system device may serve both ends; a soft one is one address.
device_pair open_devices(const selftest_options& o) {
    const bool shared = !o.device.empty() && o.bridge_device.empty() && !o.device.starts_with("soft:");
    return open_device_pair(o.device, shared ? o.device : o.bridge_device,
                            {"soft:127.0.0.6", "soft:127.0.0.7"}, with_faults(o.faults));
}

selftest_config config_of(const selftest_options& o, const device_pair& devices) {
    auto c = o.test;
    c.fpga = devices.first;
    c.bridge = devices.second;
    if (o.unified) c.mode = bridge_mode::unified;
    if (o.forward) c.mode = bridge_mode::forward;
    c.losses_expected = o.faults.drop > 0;
    c.error = say;
    if (o.fpga_ip.empty()) return c;
    c.fpga_address = gid::parse(o.fpga_ip);
    if (!c.fpga_address || !c.fpga_address->is_v4_mapped())
        throw exception({errc::invalid_argument, "--fpga-ip '" + o.fpga_ip + "' is no IPv4 address"});
    return c;
}

std::string microseconds(double nanoseconds) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f µs", nanoseconds / 1000);
    return text.data();
}

void print_verdict(const selftest_config& c, const selftest_report& r) {
    const auto why = r.failure();
    std::cout << "selftest cudaq " << (why.empty() ? "PASSED" : "FAILED: " + why) << "\n"
              << "  messages   " << r.playback.messages << ": " << r.matched() << " answered right, "
              << r.lost() << " lost, " << r.mismatched() << " wrong, in " << r.playback.passes
              << (r.playback.passes == 1 ? " pass\n" : " passes\n");
    if (!r.playback.round_trips.empty()) {
        const auto s = summarise(latencies_of(r.playback.round_trips));
        std::cout << "  round trip min " << microseconds(s.minimum) << ", median " << microseconds(s.median)
                  << ", 99 % " << microseconds(s.p99) << ", 99.9 % " << microseconds(s.p999) << ", max "
                  << microseconds(s.maximum) << "\n";
    }
    std::cout << "  bridge     " << to_string(c.mode) << " on " << c.bridge->name() << " ("
              << r.bridge_address.to_address_string() << "), FPGA on " << c.fpga->name() << " ("
              << r.fpga_address.to_address_string() << ")" << std::endl;
}

boost::json::value latency_json(const selftest_report& r) {
    if (r.playback.round_trips.empty()) return nullptr;
    const auto s = summarise(latencies_of(r.playback.round_trips));
    return boost::json::object{{"min_ns", s.minimum},
                               {"median_ns", s.median},
                               {"p99_ns", s.p99},
                               {"p99_9_ns", s.p999},
                               {"max_ns", s.maximum}};
}

template <class T>
boost::json::value known(const std::optional<T>& value) {
    return value ? boost::json::value(*value) : boost::json::value(nullptr);
}

boost::json::object to_json(const selftest_config& c, const selftest_report& r) {
    const auto why = r.failure();
    return {{"passed", why.empty()},
            {"failure", why.empty() ? boost::json::value(nullptr) : boost::json::value(why)},
            {"messages", r.playback.messages},
            {"matched", r.matched()},
            {"lost", r.lost()},
            {"mismatched", r.mismatched()},
            {"dropped", known(r.dropped)},
            {"still_answers", known(r.still_answers)},
            {"late", r.fpga.total.late},
            {"passes", r.playback.passes},
            {"dispatched", r.bridge.dispatched},
            {"forwarded", r.forward ? r.bridge.sent : 0},
            {"latency", latency_json(r)},
            {"mode", to_string(c.mode)},
            {"device", c.fpga->name()},
            {"bridge_device", c.bridge->name()},
            {"fpga_ip", r.fpga_address.to_address_string()},
            {"bridge_ip", r.bridge_address.to_address_string()},
            {"payload_size", c.payload_size},
            {"page_size", c.page_size},
            {"num_pages", c.pages},
            {"seconds", std::chrono::duration<double>(r.playback.elapsed).count()}};
}

int test_cudaq(const selftest_options& o) {
    if (o.unified && o.forward)
        throw exception({errc::invalid_argument, "--unified and --forward are mutually exclusive"});
    auto c = config_of(o, open_devices(o));
    c.log = command_log(o.log);
    asio::io_context context(1);
    auto& engine = completion_engine::of(context);
    engine.set_policy(o.test.poll.budget == polling_policy::endless ? polling_policy::hybrid() : o.test.poll);
    engine.set_log_sink(c.log);
    selftest test(context, c);
    live_line live(context.get_executor(), [&] {
        const auto now = test.progress();
        return human_count(static_cast<double>(now.answered)) + " of " +
               human_count(static_cast<double>(now.messages)) + " answered";
    });
    end_of_run end(context, std::nullopt, [&] { test.stop(); });
    selftest_report report;
    asio::co_spawn(context, test.run(), [&](const std::exception_ptr& e, selftest_report r) {
        live.stop();
        end.cancel();
        if (e) std::rethrow_exception(e);
        report = std::move(r);
    });
    context.run();
    print_verdict(c, report);
    if (o.json) std::cout << boost::json::serialize(to_json(c, report)) << std::endl;
    return report.passed() ? 0 : 1;
}

void selftest_options::add_to(CLI::App& app) {
    options::device(app, device)
        ->description(
            "Device of the emulated FPGA; a system device serves the bridge, too; default: soft ones");
    app.add_option("--bridge-device", bridge_device, "Device of the bridge")->type_name("NAME");
    app.add_option("--fpga-ip", fpga_ip,
                   "Address of the emulated FPGA; default: the last IPv4 one of its device")
        ->type_name("ADDRESS");
    options::ib_port(app, test.ib_port);
    add_number(app, "--num-messages,--count", test.messages, "Requests; more than 512 go in passes");
    add_number(app, "--payload-size,--payload", test.payload_size, "Bytes of a request behind its header");
    add_number(app, "--page-size", test.page_size, "Bytes of a slot of the bridge's ring");
    add_number(app, "--num-pages", test.pages, "Slots of the bridge's ring, a power of two");
    app.add_flag("--unified", unified, "The bridge receives, calls and sends on one thread");
    app.add_flag("--forward", forward, "The bridge sends every request back as it came");
    app.add_option_function<std::string>(
           "--reply-timeout",
           [this](const std::string& text) {
               test.reply_timeout = std::chrono::ceil<std::chrono::milliseconds>(
                   options::parse_duration("--reply-timeout", text));
           },
           "After this time an answer is lost")
        ->type_name("TIME")
        ->default_str("1s");
    app.add_option("--drop", faults.drop,
                   "Probability that a packet is lost; what is lost does not fail the test then, if it is "
                   "counted exactly and the bridge still answers at the end")
        ->check(CLI::Range(0.0, 0.9));
    app.add_option("--seed", faults.seed, "Seed of the bad luck")->capture_default_str();
    options::poll(app, test.poll);
    options::thread(app, test.thread);
    options::memory(app, test.memory);
    options::log(app, log);
    options::json(app, json);
}

} // namespace

void add_selftest(CLI::App& app, int& status) {
    auto o = std::make_shared<selftest_options>();
    auto* command = app.add_subcommand("selftest", "Whole systems in one process, checked end to end");
    command->require_subcommand(1);
    auto* cudaq = command->add_subcommand(
        "cudaq", "CUDA-Q's FPGA loop: emulated HSB FPGA, playback and bridge; every answer is checked");
    o->add_to(*cudaq);
    cudaq->callback([o, &status] { status = test_cudaq(*o); });
}

} // namespace rocio::tools

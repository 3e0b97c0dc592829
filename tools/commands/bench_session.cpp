#include "commands/bench_session.hpp"

#include "bench/bench_progress.hpp"
#include "bench/bench_table.hpp"
#include "commands/bench_json.hpp"
#include "lib/options.hpp"

#include <rocio/types/error.hpp>

#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include <cerrno>
#include <fstream>
#include <iostream>
#include <thread>

namespace rocio::tools {

namespace {

[[noreturn]] void refuse(const std::string& why) {
    throw exception({errc::invalid_argument, why});
}

void check_cpu(unsigned cpu) {
    const auto online = std::thread::hardware_concurrency();
    if (cpu >= online)
        refuse("--cpu is " + std::to_string(cpu) + ", this machine has CPUs 0 to " +
               std::to_string(online - 1));
}

std::string what_was_timed(const bench_series& series) {
    if (series.rate > 0) return "time from due to answered";
    return series.mode == "read" || series.mode == "rpc" ? "round trip" : "half a round trip";
}

} // namespace

void write_report(const std::string& file, const std::string& text) {
    std::ofstream out(file);
    out << text << "\n";
    if (out.flush()) return;
    throw exception({error_code(errno, boost::system::system_category()), "cannot write " + file});
}

void bench_options::add_to(CLI::App& app) {
    app.add_option("--rounds", effort.rounds,
                   "Rounds, each of rocio and of every baseline; medians are printed")
        ->check(CLI::Range(1, 101))
        ->capture_default_str();
    app.add_option("--report", report, "Write the report, JSON, into this file")->option_text("FILE");
    app.add_option("--histogram", histogram, "Draw the latencies into this file")
        ->option_text("FILE.svg|FILE.html");
    options::json(app, json);
}

void bench_options::add_ends_to(CLI::App& app) {
    app.add_option("--device", devices,
                   "Device of this end, and once more of the other when both are in this process; default: "
                   "two of the user-space one")
        ->expected(1, 2)
        ->envname("ROCIO_DEVICE")
        ->type_name("NAME");
    app.add_option("--cpu", cpus, "CPU of this end, and of the other; default 0 and 1")
        ->expected(1, 2)
        ->type_name("CPU");
}

void bench_options::add_effort_to(CLI::App& app) {
    options::count(app, effort.count)
        ->description("measured messages of each measurement; a tenth of that comes before as warm-up");
    options::seconds(app, effort.time)->description("or about so long, each measurement");
}

bench_setup bench_options::setup() const {
    bench_setup s;
    if (devices.size() == 2) s.devices = {devices[0], devices[1]};
    if (devices.size() == 1) s.devices = {devices[0], devices[0]};
    if (devices.size() == 1 && s.on_soft_devices())
        refuse("both ends on one user-space device are not possible: give another --device, or run two "
               "processes with --listen ADDRESS:PORT and --peer ADDRESS:PORT");
    if (s.devices[0].starts_with("soft:") != s.devices[1].starts_with("soft:"))
        refuse("one user-space and one system device have no baseline in common: run two processes with "
               "--listen ADDRESS:PORT and --peer ADDRESS:PORT");
    s.cpus = {0, std::thread::hardware_concurrency() > 1 ? 1U : 0U};
    if (!cpus.empty()) s.cpus.first = cpus[0];
    if (cpus.size() > 1) s.cpus.second = cpus[1];
    check_cpu(s.cpus.first);
    check_cpu(s.cpus.second);
    return s;
}

bench_session::bench_session(std::string mode, const bench_options& options)
    : mode_(std::move(mode)), options_(options), setup_(options.setup()) {
    if (!options.histogram.empty() && !is_histogram_file(options.histogram))
        refuse("--histogram is \"" + options.histogram + "\", allowed are names ending in .svg or .html");
    if (options.effort.count && options.effort.time) refuse("--count or --seconds, not both");
}

void bench_session::run(const bench_series& series, const bench_effort& effort) {
    bench_progress progress;
    what_was_timed_ = what_was_timed(series);
    run_series(series, effort, progress, [this, &progress](const bench_row& row) {
        progress.begin({}, 0);
        show(row);
    });
}

void bench_session::show(const bench_row& row) {
    if (!options_.json) {
        if (shown_ != row.what)
            std::cout << row.mode << ", " << name_of(row.what)
                      << (row.what == measured::latency ? " in us (" + what_was_timed_ + ")" : " in MiB/s")
                      << ", " << setup_.devices[0] << " and " << setup_.devices[1] << ", medians of "
                      << options_.effort.rounds << " rounds\n"
                      << table_header(row.what, row);
        std::cout << table_line(row) << std::flush;
    }
    shown_ = row.what;
    auto& kept = rows_.emplace_back(row);
    take_latencies(kept);
}

/// Only a histogram needs them.
void bench_session::take_latencies(bench_row& row) {
    const auto add = [&](std::string who, std::vector<double>& latencies) {
        if (options_.histogram.empty() || row.what != measured::latency) return;
        parts_.push_back({row.mode + ", " + std::to_string(row.size) + " B, " + std::move(who),
                          what_was_timed_, std::move(latencies)});
    };
    for (auto& b : row.baselines) {
        add(b.name, b.latencies);
        b.latencies = {};
    }
    add("rocio on " + setup_.devices[0] + " and " + setup_.devices[1], row.latencies);
    row.latencies = {};
}

void bench_session::add(const boost::json::object& more) {
    for (const auto& entry : more) more_.insert(entry);
}

int bench_session::finish() {
    boost::json::array results;
    std::uint64_t lost = 0;
    for (const auto& row : rows_) {
        results.push_back(to_json(row));
        if (row.mode != "udp") lost += row.ours.lost;
    }
    boost::json::object report{{"bench", mode_},
                               {"devices", {setup_.devices[0], setup_.devices[1]}},
                               {"cpus", {setup_.cpus.first, setup_.cpus.second}},
                               {"rounds", options_.effort.rounds},
                               {"results", std::move(results)}};
    for (const auto& entry : more_) report.insert(entry);
    const auto text = boost::json::serialize(report);
    if (!options_.report.empty()) write_report(options_.report, text);
    if (!options_.histogram.empty()) write_histogram_file(options_.histogram, "rocio bench " + mode_, parts_);
    if (options_.json) std::cout << text << std::endl;
    return lost == 0 ? 0 : 1;
}

} // namespace rocio::tools

#include "commands/bench_scale.hpp"

#include "bench/bench_progress.hpp"
#include "bench/scale_bench.hpp"
#include "commands/bench_json.hpp"
#include "commands/bench_session.hpp"
#include "lib/options.hpp"

#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include <iomanip>
#include <iostream>
#include <memory>
#include <thread>

namespace rocio::tools {

namespace {

struct scale_options {
    scale_config config{};
    std::vector<unsigned> cpus{};
    std::uint32_t largest = 1024;
    unsigned rounds = 3;
    bool json = false;
    std::string report{};
};

struct scale_row {
    scale_point point{};
    std::vector<scale_result> rounds{};
};
using scale_group = std::vector<scale_row>;

/// Contexts that share a CPU must let each other run.
polling_policy policy_for(const scale_point& point) {
    return 2 * point.contexts <= std::thread::hardware_concurrency() ? polling_policy::spin()
                                                                     : polling_policy::park();
}

std::vector<scale_group> groups_up_to(std::uint32_t largest) {
    std::vector<scale_group> groups;
    for (const auto& points : scale_points()) {
        auto& group = groups.emplace_back();
        for (const auto& point : points)
            if (point.queue_pairs <= largest) group.push_back({point});
    }
    std::erase_if(groups, [](const scale_group& g) { return g.empty(); });
    return groups;
}

void measure_all(std::vector<scale_group>& groups, const scale_options& o) {
    bench_progress progress;
    for (unsigned round = 0; round < o.rounds; ++round) {
        for (auto& group : groups) {
            for (auto& row : group) {
                const auto& p = row.point;
                progress.begin("bench scale, round " + std::to_string(round + 1) + " of " +
                                   std::to_string(o.rounds) + ": " + std::to_string(p.queue_pairs) +
                                   " queue pairs, " + std::to_string(p.peers) + " peers, " +
                                   std::to_string(p.contexts) + " contexts",
                               0);
                auto config = o.config;
                config.poll = policy_for(p);
                row.rounds.push_back(run_scale(p, config));
            }
        }
    }
}

void print_line(const scale_point& p, const scale_result& r, double ratio) {
    std::cout << std::fixed << std::setprecision(1) << std::setw(12) << p.queue_pairs << std::setw(8)
              << p.peers << std::setw(10) << p.contexts << std::setw(10) << policy_for(p).name()
              << std::setw(14) << r.nanoseconds_per_message << std::setprecision(3) << std::setw(16)
              << r.cpu_us_per_message << std::setprecision(0) << std::setw(16) << r.bytes_per_queue_pair
              << std::setprecision(3) << std::setw(12) << r.allocations_per_message << std::setprecision(2)
              << std::setw(8) << ratio << "\n";
}

void print_header(const scale_options& o) {
    std::cout << "SENDs of " << o.config.size << " bytes between user-space devices, medians of " << o.rounds
              << " rounds; the ratio is that of ns/message to the first line of a group\n"
              << std::setw(12) << "queue pairs" << std::setw(8) << "peers" << std::setw(10) << "contexts"
              << std::setw(10) << "policy" << std::setw(14) << "ns/message" << std::setw(16)
              << "CPU us/message" << std::setw(16) << "bytes/pair" << std::setw(12) << "alloc/msg"
              << std::setw(8) << "ratio"
              << "\n";
}

int measure(const scale_options& given) {
    auto o = given;
    o.config.cpus = bench_options{.cpus = o.cpus}.setup().cpus;
    auto groups = groups_up_to(o.largest);
    measure_all(groups, o);
    if (!o.json) print_header(o);
    boost::json::array results;
    for (const auto& group : groups) {
        const auto first = middle_of(group.front().rounds).nanoseconds_per_message;
        for (const auto& row : group) {
            const auto r = middle_of(row.rounds);
            const auto ratio = r.nanoseconds_per_message / first;
            if (!o.json) print_line(row.point, r, ratio);
            auto entry = to_json(row.point, r, ratio);
            entry["policy"] = policy_for(row.point).name();
            results.push_back(std::move(entry));
        }
        if (!o.json) std::cout << "\n";
    }
    const auto text = boost::json::serialize(boost::json::object{{"bench", "scale"},
                                                                 {"size", o.config.size},
                                                                 {"count", o.config.count},
                                                                 {"rounds", o.rounds},
                                                                 {"results", std::move(results)}});
    if (!o.report.empty()) write_report(o.report, text);
    if (o.json) std::cout << text << std::endl;
    return 0;
}

} // namespace

void add_bench_scale(CLI::App& bench, int& status) {
    auto o = std::make_shared<scale_options>();
    auto& app = *bench.add_subcommand(
        "scale",
        "Cost of a message and memory of a queue pair with 1 to 1024 queue pairs, 1 to 64 peers, 1 to "
        "4 contexts, on user-space devices");
    app.add_option("--size", o->config.size, "Bytes of a message")
        ->check(CLI::Range(1, 4096))
        ->capture_default_str();
    app.add_option("--count", o->config.count, "Measured messages of each context")
        ->check(CLI::Range(100, 100'000'000))
        ->capture_default_str();
    app.add_option("--largest", o->largest, "Leave out what needs more queue pairs")
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
    app.add_option("--rounds", o->rounds, "Rounds; medians are printed")
        ->check(CLI::Range(1, 101))
        ->capture_default_str();
    app.add_option("--cpu", o->cpus, "CPUs of the sending and the receiving contexts; default 0 and 1")
        ->expected(1, 2)
        ->type_name("CPU");
    app.add_option("--report", o->report, "Write the report, JSON, into this file")->option_text("FILE");
    options::json(app, o->json);
    app.callback([o, &status] { status = measure(*o); });
}

} // namespace rocio::tools

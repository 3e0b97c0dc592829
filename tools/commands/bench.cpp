#include "bench/raw_udp.hpp"
#include "bench/rpc_bench.hpp"
#include "bench/soft_bench.hpp"
#include "commands/bench_pair.hpp"
#include "commands/commands.hpp"

#include <rocio/types/error.hpp>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include <functional>
#include <iomanip>
#include <iostream>
#include <memory>
#include <thread>
#include <vector>

#include <unistd.h>

namespace rocio::tools {

namespace {

struct bench_options {
    std::string what = "soft";
    std::uint32_t size = 64;
    std::uint32_t payload = 4096;
    std::uint32_t iterations = 20000;
    unsigned rounds = 5;
    unsigned milliseconds = 1000;
    std::vector<unsigned> cpus{0, 1};
    std::vector<std::string> devices{"soft:127.61.0.1", "soft:127.61.0.2"};
    bool json = false;
};

/// One figure of every round, raw and ours, measured in turn so that a change of the machine's speed hits
/// both.
struct series {
    std::vector<double> raw{}, ours{}, ratio{};
    void add(double r, double o) {
        raw.push_back(r);
        ours.push_back(o);
        ratio.push_back(o / r);
    }
};

class progress {
  public:
    void operator()(unsigned round, unsigned rounds, const char* what) const {
        if (!terminal_) return;
        std::cerr << "\r\033[Kbench: round " << round + 1 << " of " << rounds << ", " << what << std::flush;
    }
    ~progress() {
        if (terminal_) std::cerr << "\r\033[K" << std::flush;
    }

  private:
    bool terminal_ = ::isatty(STDERR_FILENO) != 0;
};

struct outcome {
    series round_trip{}, round_trip_p99{}, stream{};
    double round_trip_allocations = 0, stream_allocations = 0;
};

// The RoCEv2 headers and the ICRC that the soft device adds to a SEND with immediate.
constexpr std::uint32_t overhead = 20;

outcome measure(const bench_options& o) {
    outcome result;
    const progress show;
    const bench_cpus cpus{o.cpus.at(0), o.cpus.at(1)};
    const std::chrono::milliseconds duration(o.milliseconds);
    const bool soft = o.what == "soft";
    for (unsigned round = 0; round < o.rounds; ++round) {
        show(round, o.rounds, "round trip, raw UDP");
        const auto raw = raw_udp_round_trip(o.size, o.iterations, cpus);
        round_trip_result ours = raw;
        if (soft) {
            show(round, o.rounds, "round trip, soft device");
            ours = soft_round_trip(o.devices[0], o.devices[1], o.size, o.iterations, cpus);
            result.round_trip_allocations =
                std::max(result.round_trip_allocations, ours.allocations_per_message);
        }
        result.round_trip.add(raw.p50, ours.p50);
        result.round_trip_p99.add(raw.p99, ours.p99);
        show(round, o.rounds, "stream, raw UDP");
        const auto raw_flow = raw_udp_stream(o.payload + overhead, duration, cpus);
        const double raw_goodput = raw_flow.bytes_per_second * o.payload / (o.payload + overhead);
        double goodput = raw_goodput;
        if (soft) {
            show(round, o.rounds, "stream, soft device");
            const auto flow = soft_stream(o.devices[0], o.devices[1], o.payload, duration, cpus);
            goodput = flow.bytes_per_second;
            result.stream_allocations = std::max(result.stream_allocations, flow.allocations_per_message);
        }
        result.stream.add(raw_goodput, goodput);
    }
    return result;
}

void print_row(const char* name, const series& s, double scale, const char* unit) {
    std::cout << std::left << std::setw(34) << name << std::right << std::fixed << std::setprecision(2)
              << std::setw(10) << median(s.raw) * scale << std::setw(10) << median(s.ours) * scale
              << std::setw(8) << median(s.ratio) << "   " << unit << "\n";
}

void print_table(const bench_options& o, const outcome& r) {
    std::cout << std::left << std::setw(34) << ("median of " + std::to_string(o.rounds) + " rounds")
              << std::right << std::setw(10) << "raw UDP" << std::setw(10) << o.what << std::setw(8)
              << "ratio"
              << "\n";
    const auto size = std::to_string(o.size);
    print_row(("round trip " + size + " B, p50").c_str(), r.round_trip, 1, "us");
    print_row(("round trip " + size + " B, p99").c_str(), r.round_trip_p99, 1, "us");
    print_row(("stream " + std::to_string(o.payload) + " B").c_str(), r.stream, 1e-9, "GB/s");
    if (o.what != "soft") return;
    std::cout << "allocations per message: round trip " << r.round_trip_allocations << ", stream "
              << r.stream_allocations << "\n";
}

struct rpc_outcome {
    series p50{}, p99{}, p999{};
    double allocations = 0;
    std::uint64_t lost = 0;
    std::int64_t memory_growth = 0;
};

rpc_outcome measure_rpc(const bench_options& o) {
    rpc_outcome result;
    const progress show;
    const bench_cpus cpus{o.cpus.at(0), o.cpus.at(1)};
    for (unsigned round = 0; round < o.rounds; ++round) {
        show(round, o.rounds, "round trip, raw UDP");
        const auto raw = raw_udp_round_trip(rpc_message, o.iterations, cpus);
        show(round, o.rounds, "calls");
        const auto ours = rpc_round_trip(o.devices[0], o.devices[1], o.iterations, cpus);
        result.p50.add(raw.p50, ours.round_trip.p50);
        result.p99.add(raw.p99, ours.round_trip.p99);
        result.p999.add(raw.p999, ours.round_trip.p999);
        result.allocations = std::max(result.allocations, ours.round_trip.allocations_per_message);
        result.memory_growth = std::max(result.memory_growth, ours.memory_growth);
        result.lost += ours.lost;
    }
    return result;
}

void print_rpc_table(const bench_options& o, const rpc_outcome& r) {
    std::cout << std::left << std::setw(34) << ("median of " + std::to_string(o.rounds) + " rounds")
              << std::right << std::setw(10) << "raw UDP" << std::setw(10) << "rpc" << std::setw(8) << "ratio"
              << "\n";
    const std::string what = "call " + std::to_string(rpc_message) + " B, ";
    print_row((what + "p50").c_str(), r.p50, 1, "us");
    print_row((what + "p99").c_str(), r.p99, 1, "us");
    print_row((what + "p99.9").c_str(), r.p999, 1, "us");
    std::cout << "allocations per call " << r.allocations << ", calls lost " << r.lost << ", memory grew by "
              << r.memory_growth / 1024 << " KiB\n";
}

boost::json::object json_of(const series& s) {
    return {{"raw", median(s.raw)}, {"ours", median(s.ours)}, {"ratio", median(s.ratio)}};
}

void print_rpc_json(const bench_options& o, const rpc_outcome& r) {
    std::cout << boost::json::serialize(boost::json::object{{"bench", o.what},
                                                            {"rounds", o.rounds},
                                                            {"count", o.iterations},
                                                            {"size", rpc_message},
                                                            {"call_p50_us", json_of(r.p50)},
                                                            {"call_p99_us", json_of(r.p99)},
                                                            {"call_p999_us", json_of(r.p999)},
                                                            {"allocations_per_message", r.allocations},
                                                            {"lost", r.lost},
                                                            {"memory_growth_bytes", r.memory_growth}})
              << "\n";
}

void print_json(const bench_options& o, const outcome& r) {
    std::cout << boost::json::serialize(boost::json::object{
                     {"bench", o.what},
                     {"rounds", o.rounds},
                     {"size", o.size},
                     {"payload", o.payload},
                     {"round_trip_p50_us", json_of(r.round_trip)},
                     {"round_trip_p99_us", json_of(r.round_trip_p99)},
                     {"stream_bytes_per_second", json_of(r.stream)},
                     {"allocations_per_message",
                      {{"round_trip", r.round_trip_allocations}, {"stream", r.stream_allocations}}}})
              << "\n";
}

void check(const bench_options& o) {
    const auto online = std::thread::hardware_concurrency();
    for (const unsigned cpu : o.cpus) {
        if (cpu < online) continue;
        throw exception({errc::invalid_argument, "--cpu is " + std::to_string(cpu) +
                                                     ", this machine has CPUs 0 to " +
                                                     std::to_string(online - 1)});
    }
}

} // namespace

void add_bench(CLI::App& app, int& status) {
    auto o = std::make_shared<bench_options>();
    auto* command = app.add_subcommand(
        "bench", "Measures the soft device beside raw UDP in one run, or any device between two processes");
    command->footer("soft, rpc and udp are one process with both ends; send, write and stream are one of two "
                    "processes, and have options of their own: rocio bench send --help");
    add_bench_pairs(*command, status);
    command
        ->add_option("what", o->what,
                     "soft: the soft device beside raw UDP; rpc: calls of 64 bytes over rings beside raw "
                     "UDP; udp: raw UDP alone")
        ->check(CLI::IsMember({"soft", "rpc", "udp"}))
        ->capture_default_str();
    command->add_option("--size", o->size, "Bytes of a round trip's message, 8 to 4096")
        ->check(CLI::Range(8, 4096))
        ->capture_default_str();
    command->add_option("--payload", o->payload, "Bytes of a stream's frame, 64 to 4096")
        ->check(CLI::Range(64, 4096))
        ->capture_default_str();
    command->add_option("--count", o->iterations, "Round trips per round")
        ->check(CLI::Range(100, 10000000))
        ->capture_default_str();
    command->add_option("--rounds", o->rounds, "Rounds; medians are printed")
        ->check(CLI::Range(1, 101))
        ->capture_default_str();
    command->add_option("--milliseconds", o->milliseconds, "Length of one stream")
        ->check(CLI::Range(50, 60000))
        ->capture_default_str();
    command->add_option("--cpu", o->cpus, "CPUs of the two ends")->expected(2)->capture_default_str();
    command->add_option("--device", o->devices, "Devices of the two ends")
        ->expected(2)
        ->capture_default_str();
    command->add_flag("--json", o->json, "One JSON object on the last line");
    command->callback([o, command, &status] {
        if (!command->get_subcommands().empty()) return;
        check(*o);
        if (o->what == "rpc") {
            const auto calls = measure_rpc(*o);
            if (calls.lost != 0) status = 1;
            return o->json ? print_rpc_json(*o, calls) : print_rpc_table(*o, calls);
        }
        const auto result = measure(*o);
        if (o->json) return print_json(*o, result);
        print_table(*o, result);
    });
}

} // namespace rocio::tools

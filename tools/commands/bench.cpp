#include "commands/bench_pair.hpp"
#include "commands/bench_scale.hpp"
#include "commands/bench_session.hpp"
#include "commands/commands.hpp"

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include <functional>
#include <memory>

namespace rocio::tools {

namespace {

struct composite_options : bench_options {
    std::uint32_t size = 64;
    std::uint32_t payload = 4096;
    unsigned milliseconds = 1000;

    /// As effort, with a time for what is a stream.
    bench_effort stream_effort() const {
        auto e = effort;
        e.count.reset();
        e.time = std::chrono::milliseconds(milliseconds);
        return e;
    }
};

/// A figure of a latency with the raw one and the ratio of the two; `scale` makes whole round trips of
/// halves.
template <class Figure>
boost::json::object beside_raw(const bench_row& row, double scale, Figure figure) {
    const auto& raw = row.baselines.front();
    const auto ours = figure(row.ours.latency), theirs = figure(raw.figures.latency);
    return {{"raw", theirs * scale}, {"ours", ours * scale}, {"ratio", theirs > 0 ? ours / theirs : 0}};
}

double p50(const latency_summary& s) {
    return s.median;
}
double p99(const latency_summary& s) {
    return s.p99;
}
double p999(const latency_summary& s) {
    return s.p999;
}

boost::json::object bytes_beside_raw(const bench_row& row, const baseline_row& raw) {
    return {{"raw", raw.figures.rate * row.size}, {"ours", row.ours.rate * row.size}, {"ratio", raw.ratio}};
}

int measure_soft(const composite_options& o) {
    bench_session session("soft", o);
    const auto setup = o.setup();
    auto round_trip = pair_series("soft", message_operation::send, measured::latency, setup);
    round_trip.sizes = {o.size};
    session.run(round_trip);
    auto stream = stream_series(setup);
    stream.mode = "soft";
    stream.sizes = {o.payload};
    session.run(stream, o.stream_effort());
    const auto &there = session.rows()[0], &flow = session.rows()[1];
    session.add({{"size", o.size},
                 {"payload", o.payload},
                 {"round_trip_p50_us", beside_raw(there, 2, p50)},
                 {"round_trip_p99_us", beside_raw(there, 2, p99)},
                 {"stream_bytes_per_second", bytes_beside_raw(flow, flow.baselines[0])},
                 {"allocations_per_message",
                  {{"round_trip", there.ours.allocations_per_message},
                   {"stream", flow.ours.allocations_per_message}}}});
    if (flow.baselines.size() > 1)
        session.add({{"segmented_bytes_per_second", bytes_beside_raw(flow, flow.baselines[1])}});
    return session.finish();
}

int measure_udp(const composite_options& o) {
    bench_session session("udp", o);
    const auto setup = o.setup();
    auto round_trip = udp_series(measured::latency, setup);
    round_trip.sizes = {o.size};
    session.run(round_trip);
    auto stream = udp_series(measured::bandwidth, setup);
    stream.sizes = {o.payload};
    session.run(stream, o.stream_effort());
    session.add({{"size", o.size}, {"payload", o.payload}});
    return session.finish();
}

int measure_rpc(const composite_options& o) {
    bench_session session("rpc", o);
    session.run(rpc_series(o.setup()));
    const auto& calls = session.rows().front();
    session.add({{"count", calls.ours.messages},
                 {"size", calls.size},
                 {"call_p50_us", beside_raw(calls, 1, p50)},
                 {"call_p99_us", beside_raw(calls, 1, p99)},
                 {"call_p999_us", beside_raw(calls, 1, p999)},
                 {"allocations_per_message", calls.ours.allocations_per_message},
                 {"lost", calls.ours.lost},
                 {"memory_growth_bytes", calls.ours.memory_growth}});
    return session.finish();
}

using measure_function = int (*)(const composite_options&);

std::shared_ptr<composite_options> add_mode(CLI::App& bench, const char* name, const char* about,
                                            measure_function measure, int& status) {
    auto o = std::make_shared<composite_options>();
    o->effort.rounds = 5;
    auto& app = *bench.add_subcommand(name, about);
    o->add_ends_to(app);
    o->add_effort_to(app);
    o->add_to(app);
    app.callback([o, measure, &status] { status = measure(*o); });
    return o;
}

void add_stream_options(CLI::App& app, composite_options& o) {
    app.add_option("--size", o.size, "Bytes of a round trip's message")
        ->check(CLI::Range(8, 4096))
        ->capture_default_str();
    app.add_option("--payload", o.payload, "Bytes of a stream's frame")
        ->check(CLI::Range(64, 4096))
        ->capture_default_str();
    app.add_option("--milliseconds", o.milliseconds, "Length of one stream")
        ->check(CLI::Range(50, 60000))
        ->capture_default_str();
}

} // namespace

void add_bench(CLI::App& app, int& status) {
    auto& bench = *app.add_subcommand(
        "bench", "Measures rocio beside what the same machine does without it, in turn in one run");
    bench.require_subcommand(1);
    bench.footer("Try: rocio bench soft\nEach has its own --help. The last columns are the ratios to the "
                 "baselines.");
    const auto soft =
        add_mode(bench, "soft", "Round trip and stream of user-space devices", measure_soft, status);
    const auto rpc = add_mode(bench, "rpc", "Calls of 64 bytes over rings", measure_rpc, status);
    const auto udp = add_mode(bench, "udp", "Plain and segmented UDP alone", measure_udp, status);
    add_stream_options(*bench.get_subcommand("soft"), *soft);
    add_stream_options(*bench.get_subcommand("udp"), *udp);
    add_bench_pairs(bench, status);
    add_bench_scale(bench, status);
}

} // namespace rocio::tools

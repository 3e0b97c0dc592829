#include "commands/bench_pair.hpp"

#include "bench/latency_summary.hpp"
#include "bench/pair_bench.hpp"
#include "commands/stream_support.hpp"
#include "lib/human.hpp"
#include "lib/spdlog_sink.hpp"

#include <rocio/connect/parse_endpoint.hpp>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include <iomanip>
#include <iostream>
#include <memory>

namespace rocio::tools {

namespace {

struct pair_options {
    pair_bench_config config{};
    std::string listen{}, peer{};
    std::optional<unsigned> cpu{};
    log_levels log{};
    bool plain = false;
    bool json = false;
};

/// perftest's own limits for its inline sends; the device may have a lower one.
std::uint32_t default_inline(pair_test test) {
    switch (test) {
    case pair_test::send:
        return 236;
    case pair_test::write:
        return 220;
    case pair_test::stream:
        break;
    }
    return 0;
}

[[noreturn]] void refuse(const std::string& why) {
    throw exception({errc::invalid_argument, why});
}

void check(const pair_options& o) {
    const auto name = "bench " + std::string(name_of(o.config.test));
    if (o.config.device.empty()) refuse(name + " needs --device NAME, such as mlx5_0 or soft:127.0.0.2");
    if (o.listen.empty() == o.peer.empty())
        refuse(name +
               " takes two processes: one with --listen ADDRESS:PORT, then one with --peer of the same");
    if (o.config.test == pair_test::write && o.config.poll.budget != polling_policy::endless)
        refuse("bench write cannot --poll " + std::string(o.config.poll.name()) +
               ": an RDMA WRITE wakes nobody, both sides watch their memory; only spin is possible");
    if (o.plain && o.config.poll.name() == "hybrid") refuse("--plain polls or sleeps: --poll spin or park");
}

pair_bench_config configured(const pair_options& o) {
    auto c = o.config;
    if (!o.listen.empty()) c.listen = listen_endpoint(o.listen);
    if (!o.peer.empty()) c.peer = parse_endpoint(o.peer);
    c.log = command_log(o.log);
    c.say = [](const std::string& text) { say(text); };
    // What a ping-pong has on its way at most; a stream takes perftest's depths unless told otherwise.
    if (c.test != pair_test::stream) {
        c.send_depth = ping_pong_receives;
        c.receive_depth = ping_pong_receives;
    }
    return c;
}

boost::json::object json_of(const engine_snapshot& s, double messages) {
    const auto per_message = [messages](std::uint64_t n) { return static_cast<double>(n) / messages; };
    return {{"turns", per_message(s.turns)},
            {"sweeps", per_message(s.sweeps)},
            {"empty_sweeps", per_message(s.empty_sweeps)},
            {"completions", per_message(s.completions)},
            {"arms", per_message(s.arms)},
            {"waits", per_message(s.waits)},
            {"wakes", per_message(s.wakes)}};
}

boost::json::object json_of(const pair_options& o, const pair_bench_result& r) {
    const auto& c = o.config;
    boost::json::object out{{"bench", name_of(c.test)},
                            {"implementation", o.plain ? "plain" : "rocio"},
                            {"role", o.peer.empty() ? "listen" : "peer"},
                            {"device", c.device},
                            {"poll", c.poll.name()},
                            {"size", c.size},
                            {"count", c.count}};
    const auto count = static_cast<double>(c.count);
    if (c.test == pair_test::stream) {
        out["seconds"] = r.seconds;
        out["messages_per_second"] = count / r.seconds;
        out["bytes_per_second"] = count * c.size / r.seconds;
    } else {
        const auto s = summarise(r.half_round_trips);
        out["half_round_trip_us"] = {{"min", s.minimum},     {"median", s.median}, {"average", s.average},
                                     {"stdev", s.deviation}, {"p99", s.p99},       {"p999", s.p999},
                                     {"max", s.maximum}};
    }
    if (r.engine) out["engine_per_message"] = json_of(*r.engine, static_cast<double>(c.messages()));
    return out;
}

void print_latency(const latency_summary& s) {
    std::cout << std::fixed << std::setprecision(2) << "half a round trip, us\n";
    for (const char* title : {"min", "median", "average", "stdev", "99 %", "99.9 %", "max"})
        std::cout << std::setw(10) << title;
    std::cout << "\n";
    for (const double v : {s.minimum, s.median, s.average, s.deviation, s.p99, s.p999, s.maximum})
        std::cout << std::setw(10) << v;
    std::cout << std::endl;
}

void print(const pair_options& o, const pair_bench_result& r) {
    const auto& c = o.config;
    if (o.json) {
        std::cout << boost::json::serialize(json_of(o, r)) << std::endl;
        return;
    }
    std::cout << name_of(c.test) << " by " << (o.plain ? "plain libibverbs" : "rocio") << " on " << c.device
              << ", " << c.poll.name() << ", " << c.size << " bytes, " << c.count << " messages\n";
    if (c.test != pair_test::stream) return print_latency(summarise(r.half_round_trips));
    const auto rate = static_cast<double>(c.count) / r.seconds;
    std::cout << human_bytes(rate * c.size) << "/s, " << human_count(rate) << " messages/s" << std::endl;
}

int measure(const pair_options& o) {
    check(o);
    const auto config = configured(o);
    pin_this_thread(o.cpu);
    print(o, o.plain ? run_plain_verbs(config) : run_queue_pair(config));
    return 0;
}

/// Two numbers, without the units that CLI11 would take.
template <class Number>
void add_number(CLI::App& app, const char* name, Number& value, std::uint64_t low, std::uint64_t high,
                const char* help) {
    app.add_option(name, value, help)->check(CLI::Range(low, high))->type_name("N")->capture_default_str();
}

void add_pair(CLI::App& bench, pair_test test, const char* about, int& status) {
    auto o = std::make_shared<pair_options>();
    auto& c = o->config;
    c.test = test;
    c.max_inline = default_inline(test);
    if (test == pair_test::stream) c.size = 4096;
    auto& app = *bench.add_subcommand(std::string(name_of(test)), about);
    app.footer("One process listens, the other dials; both take the same --size and --count.");
    options::device(app, c.device);
    app.add_option("--listen", o->listen, "This side waits for the other one here; port 0: a free one")
        ->type_name("ADDRESS:PORT");
    app.add_option("--peer", o->peer, "This side dials the other one there")->type_name("ADDRESS:PORT");
    add_number(app, "--size", c.size, 1, 1 << 20, "Bytes of a message");
    add_number(app, "--count", c.count, 1, 100'000'000,
               "Measured messages; a tenth of that comes before as warm-up");
    add_number(app, "--inline", c.max_inline, 0, 1024,
               "Longest message that is posted inline, where the device can");
    if (test == pair_test::stream) {
        add_number(app, "--depth", c.receive_depth, 1, 65536, "Receives that are kept posted");
        add_number(app, "--tx-depth", c.send_depth, 1, 65536, "Sends that are kept on their way");
    }
    options::poll(app, c.poll);
    app.add_flag("--plain", o->plain, "A loop of plain libibverbs calls instead of rocio, to compare with");
    options::gid_index(app, c.gid_index);
    app.add_option_function<std::string>(
           "--mtu",
           [o](const std::string& text) {
               o->config.path_mtu = parse_mtu(text);
               if (!o->config.path_mtu)
                   throw CLI::ValidationError("--mtu",
                                              "\"" + text +
                                                  "\" is not possible; allowed: 256, 512, 1024, 2048, "
                                                  "4096 bytes, or their codes 1 to 5");
           },
           "path MTU; default: the port's")
        ->type_name("BYTES|CODE");
    options::connect_timeout(app, c.connect_timeout);
    options::cpu(app, o->cpu);
    options::log(app, o->log);
    options::json(app, o->json);
    app.callback([o, &status] { status = measure(*o); });
}

} // namespace

void add_bench_pairs(CLI::App& bench, int& status) {
    add_pair(bench, pair_test::send, "Two processes: SEND there and back, as ib_send_lat", status);
    add_pair(bench, pair_test::write,
             "Two processes: RDMA WRITE there and back, both watch their memory, as ib_write_lat", status);
    add_pair(bench, pair_test::stream, "Two processes: SEND one way as fast as it goes, as ib_send_bw",
             status);
}

} // namespace rocio::tools

#include "commands/bench_pair.hpp"

#include "bench/bench_figures.hpp"
#include "bench/bench_progress.hpp"
#include "commands/bench_json.hpp"
#include "commands/bench_session.hpp"
#include "commands/stream_support.hpp"
#include "lib/human.hpp"
#include "lib/spdlog_sink.hpp"

#include <rocio/connect/parse_endpoint.hpp>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include <fstream>
#include <iomanip>
#include <iostream>
#include <memory>
#include <sstream>

namespace rocio::tools {

namespace {

struct pair_mode {
    const char* name;
    message_operation operation;
    const char* about;
    bool streams = false;
    bool sleeps = false;
};

constexpr pair_mode modes[] = {
    {"send", message_operation::send, "SEND there and back, as ib_send_lat and ib_send_bw"},
    {"send-imm", message_operation::send_imm, "SEND with immediate, the numbers checked"},
    {"write", message_operation::write,
     "RDMA WRITE there and back, both watch their memory, as ib_write_lat and ib_write_bw"},
    {"write-imm", message_operation::write_imm, "RDMA WRITE with immediate, the numbers checked"},
    {"read", message_operation::read, "RDMA READ, as ib_read_lat and ib_read_bw"},
    {"event", message_operation::send, "SEND there and back, asleep until an event, as ib_send_lat -e", false,
     true},
    {"stream", message_operation::send,
     "SEND one way as fast as it goes: with both ends here SEND with immediate into a receive_server, each "
     "frame compared; of two processes as ib_send_bw",
     true},
};

struct pair_options : bench_options {
    pair_mode mode{};
    pair_bench_config config{};
    std::string listen{}, peer{};
    std::optional<std::uint32_t> size{}, depth{}, tx_depth{}, max_inline{};
    std::string measure{};
    log_levels log{};
    bool all_sizes = false;
    bool plain = false;

    bool of_two_processes() const { return !listen.empty() || !peer.empty(); }
    bool measures(measured what) const {
        if (mode.streams) return what == measured::bandwidth;
        if (!measure.empty()) return measure == "both" || measure == name_of(what);
        return what == measured::latency || (!of_two_processes() && !mode.sleeps && !config.is_paced());
    }
    std::uint32_t size_for(measured what) const {
        return size.value_or(what == measured::latency ? 64 : 4096);
    }
};

[[noreturn]] void refuse(const std::string& why) {
    throw exception({errc::invalid_argument, why});
}

void check_two_processes(const pair_options& o) {
    const auto name = "bench " + std::string(o.mode.name);
    if (o.listen.empty() == o.peer.empty())
        refuse(name + " takes one of --listen ADDRESS:PORT and --peer ADDRESS:PORT in each of two processes");
    if (o.devices.size() != 1) refuse(name + " of two processes needs one --device NAME in each");
    if (o.cpus.size() > 1) refuse(name + " of two processes takes one --cpu in each");
    if (o.all_sizes || o.effort.time)
        refuse("-a and --seconds need both ends in this process: without --listen and --peer");
    if (o.measures(measured::latency) && o.measures(measured::bandwidth))
        refuse("--measure both needs both ends in this process: without --listen and --peer");
}

void check(const pair_options& o) {
    const auto& c = o.config;
    const bool writes = o.mode.operation == message_operation::write;
    if (writes && c.poll.budget != polling_policy::endless)
        refuse("bench write cannot --poll " + std::string(c.poll.name()) +
               ": an RDMA WRITE wakes nobody, both sides watch their memory; only spin is possible");
    if (writes && c.is_paced())
        refuse("bench write cannot keep a --rate: an RDMA WRITE tells nobody that it is there");
    if (c.is_paced() && o.measures(measured::bandwidth))
        refuse("--rate is of a latency, --measure bandwidth goes as fast as it can");
    if (o.tx_depth && c.batch > *o.tx_depth)
        refuse("--batch is " + std::to_string(c.batch) + ", allowed are 1 to --tx-depth, " +
               std::to_string(*o.tx_depth));
    if (o.plain && c.poll.name() == "hybrid") refuse("--plain polls or sleeps: --poll spin or park");
    if (o.of_two_processes()) return check_two_processes(o);
    if (o.plain)
        refuse(
            "--plain is of one of two processes: with both ends here a loop of plain verbs is the baseline");
    if (o.all_sizes && o.size) refuse("-a or --size, not both");
    if (o.all_sizes && o.histogram.ends_with(".svg"))
        refuse("--histogram FILE.svg is of one size; with -a use FILE.html");
}

measured two_processes_measure(const pair_options& o) {
    return o.measures(measured::latency) ? measured::latency : measured::bandwidth;
}

pair_bench_config configured(const pair_options& o) {
    auto c = o.config;
    c.what = two_processes_measure(o);
    c.device = o.devices.front();
    c.size = o.size_for(c.what);
    c.count = o.effort.count.value_or(c.count);
    c.max_inline = o.max_inline.value_or(default_inline(c.operation, c.what));
    if (!o.listen.empty()) c.listen = listen_endpoint(o.listen);
    if (!o.peer.empty()) c.peer = parse_endpoint(o.peer);
    c.listening = [device = c.device](const boost::asio::ip::tcp::endpoint& where) {
        std::ostringstream text;
        text << "waiting for the other side at " << where << " on " << device;
        say(text.str());
    };
    // What a ping-pong has on its way at most; else perftest's depths unless told otherwise.
    const bool one_by_one = c.what == measured::latency && !c.is_paced();
    c.send_depth = o.tx_depth.value_or(one_by_one ? ping_pong_receives : 128);
    c.receive_depth = o.depth.value_or(c.what == measured::latency ? c.send_depth : 512);
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

boost::json::object json_of(const pair_options& o, const pair_bench_config& c, const measurement& m) {
    const auto f = figures_of(m);
    boost::json::object out{{"bench", o.mode.name},
                            {"implementation", o.plain ? "plain" : "rocio"},
                            {"role", o.peer.empty() ? "listen" : "peer"},
                            {"device", c.device},
                            {"poll", c.poll.name()},
                            {"measure", name_of(c.what)},
                            {"size", c.size},
                            {"count", c.count}};
    if (c.what == measured::bandwidth) {
        out["seconds"] = m.seconds;
        out["messages_per_second"] = f.rate;
    } else {
        const auto& s = f.latency;
        out["half_round_trip_us"] = {{"min", s.minimum},     {"median", s.median}, {"average", s.average},
                                     {"stdev", s.deviation}, {"p99", s.p99},       {"p999", s.p999},
                                     {"max", s.maximum}};
    }
    for (const auto& entry : to_json(c.what, c.size, f)) out.insert(entry);
    if (m.engine) out["engine_per_message"] = json_of(*m.engine, static_cast<double>(c.messages()));
    return out;
}

void print_latency(const latency_summary& s, const pair_bench_config& c) {
    std::cout << std::fixed << std::setprecision(2)
              << (c.is_paced()                             ? "from due to answered"
                  : c.operation == message_operation::read ? "a round trip"
                                                           : "half a round trip")
              << ", us\n";
    for (const char* title : {"min", "median", "average", "stdev", "99 %", "99.9 %", "max"})
        std::cout << std::setw(10) << title;
    std::cout << "\n";
    for (const double v : {s.minimum, s.median, s.average, s.deviation, s.p99, s.p999, s.maximum})
        std::cout << std::setw(10) << v;
    std::cout << std::endl;
}

void print(const pair_options& o, const pair_bench_config& c, const measurement& m) {
    const auto report = boost::json::serialize(json_of(o, c, m));
    if (!o.report.empty()) write_report(o.report, report);
    if (!o.histogram.empty())
        write_histogram_file(o.histogram, "rocio bench " + std::string(o.mode.name),
                             std::vector{histogram_part{c.device, "latency", m.latencies}});
    if (o.json) {
        std::cout << report << std::endl;
        return;
    }
    std::cout << o.mode.name << " by " << (o.plain ? "plain libibverbs" : "rocio") << " on " << c.device
              << ", " << c.poll.name() << ", " << c.size << " bytes, " << c.count << " messages\n";
    if (c.what == measured::latency) return print_latency(summarise(m.latencies), c);
    std::cout << human_bytes(m.rate() * c.size) << "/s, " << human_count(m.rate()) << " messages/s"
              << std::endl;
}

/// This side of two.
int measure_one_end(const pair_options& o) {
    auto config = configured(o);
    pin_this_thread(o.cpus.empty() ? std::nullopt : std::optional(o.cpus.front()));
    measurement m;
    {
        bench_progress progress;
        progress.begin("bench " + std::string(o.mode.name), config.messages());
        config.progress = &progress.counter();
        m = o.plain ? run_plain_verbs(config) : run_queue_pair(config);
    }
    print(o, config, m);
    return 0;
}

int measure_both_ends(const pair_options& o) {
    bench_session session(o.mode.name, o);
    auto setup = o.setup();
    setup.common = o.config;
    setup.depth = o.depth;
    setup.tx_depth = o.tx_depth;
    setup.max_inline = o.max_inline;
    for (const auto what : {measured::latency, measured::bandwidth}) {
        if (!o.measures(what)) continue;
        auto series =
            o.mode.streams ? stream_series(setup) : pair_series(o.mode.name, o.mode.operation, what, setup);
        series.sizes = {o.size_for(what)};
        if (o.all_sizes) series.sizes = sweep_sizes(largest_message(setup));
        session.run(series);
    }
    session.add({{"poll", o.config.poll.name()},
                 {"qps", o.config.queue_pairs},
                 {"batch", o.mode.streams ? o.config.take : o.config.batch},
                 {"rate", o.config.rate}});
    return session.finish();
}

int measure(pair_options& o) {
    check(o);
    o.config.log = command_log(o.log);
    return o.of_two_processes() ? measure_one_end(o) : measure_both_ends(o);
}

/// Numbers without the units that CLI11 would take.
template <class Number>
CLI::Option* add_number(CLI::App& app, const char* name, Number& value, std::uint64_t low, std::uint64_t high,
                        const char* help) {
    return app.add_option(name, value, help)->check(CLI::Range(low, high))->type_name("N");
}

void add_message_options(CLI::App& app, pair_options& o) {
    auto& c = o.config;
    add_number(app, "--size", o.size, 1, 1 << 23, "Bytes of a message; default 64, of a bandwidth 4096");
    app.add_flag("-a,--all", o.all_sizes, "All sizes from 2 to 2^23 bytes, or to the device's largest");
    o.add_effort_to(app);
    add_number(app, "--inline", o.max_inline, 0, 1024,
               "Longest message that is posted inline, where the device can");
    add_number(app, "--depth", o.depth, 1, 65536, "Receives that are kept posted");
    add_number(app, "--tx-depth", o.tx_depth, 1, 65536, "Messages that are kept on their way");
    if (o.mode.streams) {
        add_number(app, "--batch", c.take, 1, 1024, "Frames that the receiver takes together")
            ->capture_default_str();
        return;
    }
    add_number(app, "--batch", c.batch, 1, 1024, "Messages of a bandwidth that are posted together")
        ->capture_default_str();
    add_number(app, "--qps", c.queue_pairs, 1, 1024, "Queue pairs of a bandwidth")->capture_default_str();
    app.add_option("--measure", o.measure, "latency, bandwidth or both")
        ->check(CLI::IsMember({"latency", "bandwidth", "both"}));
    app.add_option("--rate", c.rate,
                   "Messages per second, whatever the answers do; a latency counts from when its message was "
                   "due, however late it left")
        ->check(CLI::Range(10.0, 1e8))
        ->type_name("N");
}

void add_connection_options(CLI::App& app, const std::shared_ptr<pair_options>& o) {
    o->add_ends_to(app);
    app.add_option("--listen", o->listen,
                   "One of two processes: this side waits for the other one here; port 0: a free one")
        ->type_name("ADDRESS:PORT");
    app.add_option("--peer", o->peer, "One of two processes: this side dials the other one there")
        ->type_name("ADDRESS:PORT");
    app.add_flag("--plain", o->plain,
                 "One of two processes: a loop of plain libibverbs calls instead of rocio, to compare with");
    if (!o->mode.sleeps) options::poll(app, o->config.poll);
    options::gid_index(app, o->config.gid_index);
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
    options::connect_timeout(app, o->config.connect_timeout);
}

void add_pair(CLI::App& bench, const pair_mode& mode, int& status) {
    auto o = std::make_shared<pair_options>();
    o->mode = mode;
    o->config.operation = mode.operation;
    if (mode.sleeps) o->config.poll = polling_policy::park();
    auto& app = *bench.add_subcommand(mode.name, mode.about);
    app.footer(
        "Without --listen and --peer both ends are in this process, beside their baseline: plain UDP for "
        "user-space devices, a loop of plain verbs for system ones. Of two processes one listens, the "
        "other dials; both take the same --size, --count and --measure.");
    add_message_options(app, *o);
    add_connection_options(app, o);
    o->add_to(app);
    options::log(app, o->log);
    app.callback([o, &status] { status = measure(*o); });
}

} // namespace

void add_bench_pairs(CLI::App& bench, int& status) {
    for (const auto& mode : modes) add_pair(bench, mode, status);
}

} // namespace rocio::tools

#include "commands/stream_support.hpp"

#include "lib/human.hpp"

#include <rocio/connect/parse_endpoint.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>

#include <unistd.h>

namespace rocio::tools {

void add_fault_options(CLI::App& app, fault_plan& plan) {
    const auto probability = [&app](const char* name, double& value, const char* what) {
        app.add_option(name, value, what)->check(CLI::Range(0.0, 1.0))->group("Bad network");
    };
    probability("--drop", plan.drop, "Probability that a packet is lost");
    probability("--duplicate", plan.duplicate, "Probability that a packet comes twice");
    probability("--reorder", plan.reorder, "Probability that a packet is overtaken");
    probability("--corrupt", plan.corrupt, "Probability that 1 to 32 bits of a packet are flipped");
    app.add_option("--seed", plan.seed, "Seed of the bad luck")->capture_default_str()->group("Bad network");
}

open_options with_faults(const fault_plan& plan) {
    open_options o;
    if (plan.any()) o.faults = plan;
    return o;
}

void add_capture_option(CLI::App& app, std::string& file) {
    app.add_option("--pcap", file,
                   "Write every packet of a soft device into this file; read it with rocio dump")
        ->option_text("FILE");
}

void receive_options::add_to(CLI::App& app) {
    options::name(app, name);
    options::gid_index(app, gid_index);
    options::path_mtu(app, path_mtu);
    options::depth(app, depth);
    options::payload(app, payload);
    options::ib_port(app, ib_port);
    options::min_rnr_timer(app, min_rnr_timer);
    options::rnr_retry(app, rnr_retry);
    options::retry_count(app, retry_count);
    options::http(app, http);
    options::seconds(app, seconds);
    options::count(app, count);
    options::verify(app, verify.kind);
    options::prbs_width(app, verify.prbs_word_bytes);
    options::counter_wrap(app, verify.counter_period);
    app.add_option_function<std::string>(
           "--idle",
           [this](const std::string& text) {
               idle = std::chrono::ceil<std::chrono::milliseconds>(options::parse_duration("--idle", text));
           },
           "End a stream on which no frame came for so long; default: never")
        ->type_name("TIME");
    options::poll(app, poll);
    options::thread(app, thread);
    options::memory(app, memory);
    options::log(app, log);
    options::json(app, json);
}

frame_receiver_config receive_options::receiver(std::shared_ptr<device> dev) const {
    frame_receiver_config c;
    c.server.name = name;
    c.server.device = std::move(dev);
    c.server.port = ib_port;
    c.server.gid_index = gid_index;
    c.server.max_payload = payload;
    c.server.rx_queue_depth = depth;
    c.transport.path_mtu = path_mtu;
    c.transport.min_rnr_timer = min_rnr_timer;
    c.transport.rnr_retry = rnr_retry;
    c.transport.retry_count = retry_count;
    c.server.idle_limit = idle;
    c.server.memory = memory;
    c.count = count;
    c.verify = verify;
    return c;
}

void show_streams(status_snapshot& status, const receivers& streams) {
    for (const auto& stream : streams) {
        status.streams.push_back(stream->snapshot());
        if (auto made = stream->handshake()) status.handshakes.push_back(*std::move(made));
    }
}

end_of_run::end_of_run(boost::asio::io_context& context, const std::optional<std::chrono::nanoseconds>& limit,
                       std::function<void()> stop)
    : signals_(context, SIGINT, SIGTERM), timer_(context), stop_(std::move(stop)) {
    signals_.async_wait([this](const error_code& ec, int) {
        if (!ec) fire();
    });
    if (!limit) return;
    timer_.expires_after(*limit);
    timer_.async_wait([this](const error_code& ec) {
        if (!ec) fire();
    });
}

void end_of_run::fire() {
    cancel();
    if (auto stop = std::exchange(stop_, nullptr)) stop();
}

void end_of_run::cancel() {
    signals_.cancel();
    signals_.clear(); // the next signal ends a program whose end hangs
    timer_.cancel();
}

namespace {

/// What the streams have received together.
struct together {
    frame_receiver_counts counts{};
    double seconds = 0; ///< Of the one that took longest.
    std::optional<std::uint64_t> rnr_naks{};
    std::string state{};
};

std::optional<std::uint64_t> plus(const std::optional<std::uint64_t>& a,
                                  const std::optional<std::uint64_t>& b) {
    if (!a && !b) return std::nullopt;
    return a.value_or(0) + b.value_or(0);
}

together sum_of(const receivers& streams) {
    together all;
    for (const auto& stream : streams) {
        const auto& c = stream->counts();
        const auto s = stream->snapshot();
        all.counts.frames += c.frames;
        all.counts.bytes += c.bytes;
        all.counts.sessions += c.sessions;
        all.counts.failed_sessions += c.failed_sessions;
        all.counts.lost = plus(all.counts.lost, c.lost);
        all.counts.duplicated = plus(all.counts.duplicated, c.duplicated);
        all.counts.corrupt += c.corrupt;
        all.seconds = std::max(all.seconds, stream->seconds());
        if (s.has_counters) all.rnr_naks = plus(all.rnr_naks, s.counters.rnr_naks_sent);
        all.state += (all.state.empty() ? "" : ", ") + s.state;
    }
    return all;
}

boost::json::value or_null(const std::optional<std::uint64_t>& value) {
    return value ? boost::json::value(*value) : boost::json::value(nullptr);
}

boost::json::object one_stream(const frame_receiver& stream) {
    const auto& c = stream.counts();
    return {{"name", stream.name()},       {"frames", c.frames},      {"bytes", c.bytes},
            {"seconds", stream.seconds()}, {"lost", or_null(c.lost)}, {"duplicated", or_null(c.duplicated)},
            {"corrupt", c.corrupt},        {"sessions", c.sessions},  {"failed_sessions", c.failed_sessions}};
}

} // namespace

std::string progress_text(const receivers& streams, std::chrono::steady_clock::time_point since) {
    const auto all = sum_of(streams);
    const auto elapsed = std::chrono::steady_clock::now() - since;
    const auto rate = all.seconds > 0 ? static_cast<double>(all.counts.bytes) / all.seconds : 0;
    return human_duration(std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed)) + "  " + all.state +
           "  " + human_count(static_cast<double>(all.counts.frames)) + " frames  " +
           human_bytes(static_cast<double>(all.counts.bytes)) + "  " + human_bytes(rate) + "/s  corrupt " +
           std::to_string(all.counts.corrupt) + "  RNR " + std::to_string(all.rnr_naks.value_or(0));
}

report report_of(const receivers& streams, const std::string& device_name) {
    const auto all = sum_of(streams);
    report r;
    r.device = device_name;
    r.frames = all.counts.frames;
    r.bytes = all.counts.bytes;
    r.elapsed = std::chrono::nanoseconds(static_cast<std::int64_t>(all.seconds * 1e9));
    r.lost = all.counts.lost;
    r.duplicated = all.counts.duplicated;
    r.corrupt = all.counts.corrupt;
    r.rnr_naks = all.rnr_naks;
    r.more["sessions"] = all.counts.sessions;
    r.more["failed_sessions"] = all.counts.failed_sessions;
    if (streams.size() < 2) return r;
    boost::json::array each;
    for (const auto& stream : streams) each.push_back(one_stream(*stream));
    r.more["streams"] = std::move(each);
    return r;
}

int conclude(const report& r, bool json) {
    if (json)
        std::cout << json_line(r) << std::endl;
    else
        std::cout << to_text(r) << std::flush;
    return r.data_was_right() && r.frames > 0 ? 0 : 1;
}

boost::asio::ip::tcp::endpoint listen_endpoint(const std::string& text) {
    if (!text.ends_with(":0")) return parse_endpoint(text);
    auto endpoint = parse_endpoint(text.substr(0, text.size() - 1) + "1");
    endpoint.port(0);
    return endpoint;
}

void pin_this_thread(const std::optional<unsigned>& cpu) {
    throw_if(place_this_thread({.cpu = cpu}));
}

void say(const std::string& text) {
    std::cerr << (::isatty(2) ? "\r\033[K" : "") << "rocio: " << text << std::endl;
}

} // namespace rocio::tools

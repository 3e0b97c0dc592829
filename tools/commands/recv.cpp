#include "commands/commands.hpp"
#include "commands/fpga_options.hpp"
#include "commands/hand_options.hpp"
#include "commands/status_front.hpp"
#include "commands/stream_support.hpp"
#include "hsb/sensor_command.hpp"
#include "lib/spdlog_sink.hpp"
#include "slac/slac_source.hpp"

#include <rocio/connect/parse_endpoint.hpp>
#include <rocio/io/completion_engine.hpp>
#include <rocio/stream/receive_server_text.hpp>

#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <memory>
#include <vector>

namespace rocio::tools {

namespace {

namespace asio = boost::asio;

enum class fpga_kind : std::uint8_t { none, slac, hsb };

struct recv_options : receive_options {
    std::string pcap{};
    std::string device = "soft:127.0.0.2";
    std::string listen = default_rendezvous;
    std::string peer{};
    connection_kind connect = connection_kind::tcp;
    hand_options hand{};
    fpga_kind fpga = fpga_kind::none;
    std::vector<std::string> fpga_ips{};
    slac_options slac{};
    recv_hsb_options hsb{};
    bool reconnect = false;
    bool prbs_width_given = false;
    std::optional<std::uint64_t> sessions{};

    bool by_hand() const noexcept { return connect == connection_kind::fixed; }
    bool has_fpga() const noexcept { return fpga != fpga_kind::none; }
    /// Whether the other side is a board that we bring up.
    bool brings_up() const noexcept { return by_hand() || has_fpga(); }
};

gid parse_fpga(const std::string& text) {
    const auto address = gid::parse(text);
    if (address && address->is_v4_mapped()) return *address;
    throw exception({errc::invalid_argument,
                     "--fpga-ip is \"" + text + "\"; allowed: an IPv4 address such as 192.168.2.10"});
}

slac_source_config slac_config(const recv_options& o, std::size_t n) {
    slac_source_config c;
    c.fpga = parse_fpga(o.fpga_ips[n]);
    c.registers = o.slac.place(n, o.fpga_ips);
    c.engine = o.slac.engine();
    if (!c.engine.counter_wrap && o.verify.counter_period != counter_check::full_period)
        c.engine.counter_wrap = o.verify.counter_period;
    c.transport.path_mtu = o.path_mtu;
    c.transport.min_rnr_timer = o.min_rnr_timer;
    c.transport.rnr_retry = o.rnr_retry;
    c.transport.retry_count = o.retry_count;
    c.program_udp = o.slac.program_udp;
    c.reconnect = o.reconnect;
    c.say = [](const std::string& text) { say(text); };
    return c;
}

std::unique_ptr<peer_source> peers(const recv_options& o, asio::io_context& context,
                                   const std::shared_ptr<device>& dev, const std::shared_ptr<log_sink>& log) {
    if (o.by_hand()) return by_hand(context, o.hand.config(o.peer));
    listening_config c;
    c.kind = o.connect;
    c.tcp.endpoint = c.cm.endpoint = listen_endpoint(o.listen);
    c.tcp.log = c.cm.log = log;
    return listen(context, dev, c);
}

/// The summary holds everything that one wants to compare with the board's side: said after a bring-up, else
/// a log line, because senders may come and go.
void tell_connection(const receive_server_snapshot& s, bool brought_up, log_sink& log) {
    if (brought_up)
        say(connect_summary_text(s));
    else
        log.write(log_level::info, "stream", connect_summary_text(s));
    say("connected: " + s.fpga_ip + " queue pair " + std::to_string(s.fpga_qpn));
}

frame_receiver_config receiver_config(const recv_options& o, const std::shared_ptr<device>& dev,
                                      const std::shared_ptr<log_sink>& log) {
    auto config = o.receiver(dev);
    config.sessions = o.sessions;
    if (o.by_hand()) config.server.fpga_ip = o.hand.config(o.peer).address.to_address_string();
    config.report = [name = o.fpga_ips.size() > 1 ? config.server.name + ": "
                                                  : ""](const std::string& text, bool) { say(name + text); };
    config.connected = [brought_up = o.brings_up(), log](const receive_server_snapshot& s) {
        tell_connection(s, brought_up, *log);
    };
    return config;
}

/// The boards, as the status shows them; by the streams' numbers.
using boards = std::vector<const slac_source*>;

void add_boards(receivers& streams, boards& sources, const recv_options& o, asio::io_context& context,
                const std::shared_ptr<device>& dev, const std::shared_ptr<log_sink>& log) {
    for (std::size_t n = 0; n < o.fpga_ips.size(); ++n) {
        auto one = o;
        if (o.fpga_ips.size() > 1) one.name += "-" + std::to_string(n);
        auto config = receiver_config(one, dev, log);
        config.server.fpga_ip = o.fpga_ips[n];
        auto board = slac_config(o, n);
        // Told during the bring-up, when the receiver has long been made.
        if (!o.prbs_width_given)
            board.word_bits = [&streams, n](std::uint32_t bits) {
                streams[n]->expect_prbs_words_of(bits / 8);
            };
        // The board's counter wraps where we tell it to, by default at the number of slots.
        config.verify.counter_period = board.engine.counter_wrap.value_or(o.depth);
        // Such a board has one channel, so the counter is the channel's.
        if (config.verify.counter_period > 0) config.server.counter_wrap = config.verify.counter_period;
        auto source = std::make_unique<slac_source>(context, board);
        sources.push_back(source.get());
        streams.push_back(std::make_unique<frame_receiver>(context, config, std::move(source)));
    }
}

fpga_session_snapshot session_of(const frame_receiver& stream, const slac_source& board) {
    return {stream.name(), board.config().fpga.to_address_string(), board.config().registers.text(),
            board.attempts(), board.snapshot()};
}

/// Runs all streams; the first one that fails ends the others.
class all_streams {
  public:
    all_streams(asio::io_context& context, const receivers& streams)
        : ended_(context, std::chrono::steady_clock::time_point::max()), streams_(streams) {}

    asio::awaitable<error_info> run() {
        running_ = streams_.size();
        for (const auto& stream : streams_) {
            asio::co_spawn(
                ended_.get_executor(), stream->run(),
                [this](const std::exception_ptr& e, const error_info& result) { one_ended(e, result); });
        }
        error_code ignored;
        while (running_ > 0) co_await ended_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        if (exception_) std::rethrow_exception(exception_);
        co_return failure_;
    }
    void stop() {
        for (const auto& stream : streams_) stream->stop();
    }

  private:
    void one_ended(const std::exception_ptr& e, const error_info& result) {
        --running_;
        if (e && !exception_) exception_ = e;
        if (result && !failure_) failure_ = result;
        if (e || result) stop();
        if (running_ == 0) ended_.cancel();
    }

    asio::steady_timer ended_;
    const receivers& streams_;
    std::size_t running_ = 0;
    std::exception_ptr exception_{};
    error_info failure_{};
};

int receive(const recv_options& o) {
    throw_if(place_this_thread(o.thread));
    asio::io_context context(1);
    auto& engine = completion_engine::of(context);
    engine.set_name("main");
    engine.set_policy(o.poll);
    const auto log = command_log(o.log);
    engine.set_log_sink(log);

    open_options opening;
    opening.capture = o.pcap;
    const auto dev = open_device(o.device, opening);
    receivers streams;
    boards sources;
    if (o.has_fpga()) {
        add_boards(streams, sources, o, context, dev, log);
    } else {
        streams.push_back(std::make_unique<frame_receiver>(context, receiver_config(o, dev, log),
                                                           peers(o, context, dev, log)));
    }
    status_front status(context, o.http, "recv", log, [&](status_snapshot& s) {
        show_machinery(s, context, dev);
        show_streams(s, streams);
        for (std::size_t n = 0; n < sources.size(); ++n)
            s.fpgas.push_back(session_of(*streams[n], *sources[n]));
    });
    status.watch(context, dev);
    for (const auto& stream : streams) {
        if (o.brings_up()) say(construction_text(stream->snapshot()));
        if (o.by_hand()) say("what the other side needs:\n" + connection_info_text(stream->snapshot()));
        say(stream->description() + " on " + dev->name());
    }

    const auto begin = std::chrono::steady_clock::now();
    live_line live(context.get_executor(), [&] { return progress_text(streams, begin); });
    all_streams all(context, streams);
    end_of_run end(context, o.seconds, [&] { all.stop(); });
    error_info failure;
    asio::co_spawn(context, all.run(), [&](const std::exception_ptr& e, const error_info& result) {
        live.stop();
        end.cancel();
        status.stop();
        if (e) std::rethrow_exception(e);
        failure = result;
    });
    context.run();
    throw_if(failure);
    return conclude(report_of(streams, dev->name()), o.json);
}

/// The sensor bridge has a receiver of its own: UC WRITEs into pages.
int receive_sensor(const recv_options& o, bool has_path_mtu) {
    auto h = o.hsb;
    h.device = o.device;
    if (o.fpga_ips.size() > 1)
        throw exception(
            {errc::invalid_argument, "--fpga hsb takes one --fpga-ip; run one `rocio recv` for each board"});
    if (!o.fpga_ips.empty()) h.fpga_ip = o.fpga_ips.front();
    h.name = o.name;
    h.ib_port = o.ib_port;
    h.gid_index = o.gid_index;
    if (has_path_mtu) h.path_mtu = o.path_mtu;
    h.payload = o.payload;
    h.verify = o.verify.kind;
    h.seconds = o.seconds;
    h.count = o.count;
    h.thread = o.thread;
    h.memory = o.memory;
    h.poll = o.poll;
    h.log = o.log;
    h.opening.capture = o.pcap;
    h.json = o.json;
    h.http = o.http;
    return recv_hsb(h);
}

/// Options that do nothing without another one: those added between construction and take_new().
class only_with {
  public:
    only_with(CLI::App& app, std::string group)
        : app_(app), group_(std::move(group)), known_(app.get_options().size()) {}
    void take_new() {
        const auto all = app_.get_options();
        for (auto n = known_; n < all.size(); ++n) options_.push_back(all[n]->group(group_));
    }
    void refuse_given(const std::string& unless) const {
        for (const auto* option : options_) {
            if (option->count() > 0)
                throw CLI::ValidationError(option->get_name(), "does nothing without " + unless);
        }
    }

  private:
    CLI::App& app_;
    std::string group_;
    std::size_t known_;
    std::vector<CLI::Option*> options_{};
};

} // namespace

void add_recv(CLI::App& app, int& status) {
    auto o = std::make_shared<recv_options>();
    auto* command = app.add_subcommand("recv", "Receives streams of PRBS frames, one sender after the other");
    options::device(*command, o->device);
    auto* listen = command
                       ->add_option("--listen", o->listen,
                                    "ADDRESS:PORT where senders connect; port 0 takes a free one. By rdma_cm "
                                    "the default address is 0.0.0.0: each of the device's")
                       ->capture_default_str();
    options::connect(*command, o->connect);
    auto* peer = command->add_option(
        "--peer", o->peer, "ADDRESS of a sender that is brought up by hand; only with --connect static");
    o->hand.add_to(*command);
    auto* fpga = command
                     ->add_option_function<std::string>(
                         "--fpga",
                         [o](const std::string& text) {
                             if (text != "slac" && text != "hsb") {
                                 throw CLI::ValidationError(
                                     "--fpga", "\"" + text + "\" is not possible; allowed: slac, hsb");
                             }
                             o->fpga = text == "slac" ? fpga_kind::slac : fpga_kind::hsb;
                         },
                         "Brings an FPGA up by its registers")
                     ->type_name("slac|hsb");
    command->add_option("--fpga-ip", o->fpga_ips, "Address of the FPGA; several times for several boards")
        ->needs(fpga);
    o->slac.add_to(*command);
    command
        ->add_flag("--reconnect", o->reconnect,
                   "Brings the FPGA up again, for ever, when it is lost or its stream silent (--idle)")
        ->needs(fpga);
    options::connect_timeout(*command, o->hand.timeout);
    command->add_option("--sessions", o->sessions, "Ends after so many senders; default: none ends it");
    o->add_to(*command);
    add_capture_option(*command, o->pcap);
    auto sensor_only = std::make_shared<only_with>(*command, "With --fpga hsb");
    o->hsb.add_to(*command);
    sensor_only->take_new();
    command->callback([o, listen, peer, command, sensor_only, &status] {
        o->hand.refuse_unless(o->by_hand());
        o->prbs_width_given = command->count("--prbs-width") > 0;
        if (o->fpga != fpga_kind::slac) o->slac.refuse_given("--fpga slac");
        if (o->fpga != fpga_kind::hsb) sensor_only->refuse_given("--fpga hsb");
        if (o->fpga == fpga_kind::slac && o->fpga_ips.empty())
            throw CLI::ValidationError("--fpga", "slac needs an --fpga-ip");
        if (o->has_fpga() && (o->connect != connection_kind::tcp || listen->count() > 0))
            throw CLI::ValidationError("--fpga",
                                       "brings the connection up itself: without --connect and --listen");
        if (o->by_hand() != (peer->count() > 0))
            throw CLI::ValidationError("--peer", "goes with --connect static, and that with it");
        if (o->connect == connection_kind::cm && listen->count() == 0) o->listen = any_rendezvous;
        status = o->fpga == fpga_kind::hsb ? receive_sensor(*o, command->count("--mtu") > 0) : receive(*o);
    });
}

} // namespace rocio::tools

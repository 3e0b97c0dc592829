#include "commands/commands.hpp"
#include "commands/emulate_cudaq.hpp"
#include "commands/stream_support.hpp"
#include "lib/frame_sender.hpp"
#include "lib/human.hpp"
#include "lib/spdlog_sink.hpp"

#include <rocio/connect/parse_endpoint.hpp>
#include <rocio/connect/rdma_cm.hpp>
#include <rocio/connect/tcp_rendezvous.hpp>
#include <rocio/io/completion_engine.hpp>

#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/errc.hpp>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

namespace rocio::tools {

namespace {

namespace asio = boost::asio;
using clock = std::chrono::steady_clock;

struct emulate_options {
    std::string device = "soft:127.0.0.3";
    std::string peer = default_rendezvous;
    connection_kind connect = connection_kind::tcp;
    std::uint32_t payload = 4096;
    std::uint32_t depth = 64;
    mtu path_mtu = mtu::b4096;
    std::uint8_t retry_count = 7;
    std::uint8_t rnr_retry = 7;
    std::optional<double> rate{};
    std::optional<std::uint64_t> count{};
    std::optional<std::chrono::nanoseconds> seconds{};
    std::vector<std::uint32_t> channels{1};
    std::chrono::milliseconds connect_timeout{10000};
    polling_policy poll = polling_policy::hybrid();
    std::optional<unsigned> cpu{};
    fault_plan faults{};
    std::string pcap{};
    log_levels log{};
    bool json = false;
};

frame_sender_config sender_config(const emulate_options& o) {
    frame_sender_config c;
    c.payload = o.payload;
    c.window = o.depth;
    c.count = o.count;
    c.rate = o.rate;
    c.channels.assign(o.channels.begin(), o.channels.end());
    c.pair.path_mtu = o.path_mtu;
    c.pair.retry_count = o.retry_count;
    c.pair.rnr_retry = o.rnr_retry;
    return c;
}

/// The emulated board: dials the receiver, streams, and dials again when the connection breaks.
class board {
  public:
    board(asio::io_context& context, std::shared_ptr<device> dev, const emulate_options& o)
        : context_(context), dev_(std::move(dev)), o_(o), pause_(context) {}

    /// Gives the error after which no receiver could be found again.
    asio::awaitable<error_info> run() {
        auto give_up = clock::now() + o_.connect_timeout;
        error_info last;
        while (!stopping_) {
            last = co_await stream();
            if (stopping_ || !last) co_return error_info{};
            const bool was_connected = std::exchange(streamed_, false);
            if (was_connected) {
                say("connection ended: " + last.message() + "; dialling " + o_.peer + " again");
                give_up = clock::now() + o_.connect_timeout;
            } else if (clock::now() >= give_up || refused(last.code)) {
                co_return error_info{last.code, "no receiver at " + o_.peer + ": " + last.message()};
            }
            error_code ignored;
            pause_.expires_after(std::chrono::milliseconds{100});
            co_await pause_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        }
        co_return error_info{};
    }
    void stop() {
        stopping_ = true;
        pause_.cancel();
        if (sender_) sender_->stop();
    }

    std::uint64_t frames() const { return frames_ + (sender_ ? sender_->counts().frames : 0); }
    std::uint64_t bytes() const { return frames() * o_.payload; }
    std::uint64_t retransmits() const {
        return retransmits_ + (sender_ ? sender_->counters().retransmits : 0);
    }
    std::uint64_t rnr_naks() const {
        return rnr_naks_ + (sender_ ? sender_->counters().rnr_naks_received : 0);
    }
    std::chrono::nanoseconds elapsed() const { return elapsed_; }

  private:
    /// Trying again cannot help. It can where nobody listens yet, and where a receiver turned us away without
    /// anything being wrong with our numbers: it was busy, or just ending.
    static bool refused(const error_code& ec) {
        if (ec == boost::system::errc::connection_refused || ec == errc::refused_by_peer) return false;
        return ec == condition::bad_configuration || ec == condition::refused;
    }

    any_handshake dial() {
        const auto peer = parse_endpoint(o_.peer);
        if (o_.connect == connection_kind::cm) {
            cm_config c;
            c.connect_deadline = o_.connect_timeout;
            c.largest_message = o_.payload;
            return cm_connector(context_, dev_, peer, c);
        }
        tcp_rendezvous_config c;
        c.connect_deadline = o_.connect_timeout;
        c.largest_message = o_.payload;
        return tcp_connector(context_, peer, c);
    }

    asio::awaitable<error_info> stream() {
        auto config = sender_config(o_);
        if (o_.count) config.count = *o_.count - std::min(*o_.count, frames_);
        sender_ = std::make_unique<frame_sender>(context_, dev_, config);
        const auto begin = clock::now();
        auto result = co_await sender_->run(dial());
        elapsed_ += clock::now() - begin;
        streamed_ = sender_->ever_connected();
        retransmits_ += sender_->counters().retransmits;
        rnr_naks_ += sender_->counters().rnr_naks_received;
        frames_ += sender_->counts().frames;
        sender_.reset();
        co_return result;
    }

    asio::io_context& context_;
    std::shared_ptr<device> dev_;
    const emulate_options& o_;
    asio::steady_timer pause_;
    std::unique_ptr<frame_sender> sender_;
    std::uint64_t frames_ = 0, retransmits_ = 0, rnr_naks_ = 0;
    std::chrono::nanoseconds elapsed_{0};
    bool streamed_ = false;
    bool stopping_ = false;
};

report report_of(const board& b, const std::string& device_name) {
    report r;
    r.device = device_name;
    r.frames = b.frames();
    r.bytes = b.bytes();
    r.elapsed = b.elapsed();
    r.rnr_naks = b.rnr_naks();
    r.retransmits = b.retransmits();
    return r;
}

int emulate(const emulate_options& o) {
    pin_this_thread(o.cpu);
    asio::io_context context(1);
    auto& engine = completion_engine::of(context);
    engine.set_policy(o.poll);
    engine.set_log_sink(std::make_shared<spdlog_sink>(o.log));
    auto opening = with_faults(o.faults);
    opening.capture = o.pcap;
    const auto dev = open_device(o.device, opening);
    board emulated(context, dev, o);
    live_line live(context.get_executor(), [&] {
        return human_count(static_cast<double>(emulated.frames())) + " frames sent  retransmits " +
               std::to_string(emulated.retransmits()) + "  RNR " + std::to_string(emulated.rnr_naks());
    });
    end_of_run end(context, o.seconds, [&] { emulated.stop(); });
    error_info failure;
    asio::co_spawn(context, emulated.run(), [&](const std::exception_ptr& e, const error_info& result) {
        live.stop();
        end.cancel();
        if (e) std::rethrow_exception(e);
        failure = result;
    });
    context.run();
    throw_if(failure);
    return conclude(report_of(emulated, dev->name()), o.json);
}

/// --profile, and which options belong to which: one that does nothing in a profile is refused there.
class profiles {
  public:
    explicit profiles(CLI::App& command) : command_(command) {
        command.add_option("--profile", name_, "What the board is: stream, or cudaq (a playback board)")
            ->check(CLI::IsMember({"stream", "cudaq"}))
            ->capture_default_str();
    }
    bool is_cudaq() const {
        for (const auto* option : is_cudaq_name() ? streams_ : cudaqs_) {
            if (option->count() == 0) continue;
            throw CLI::ValidationError(option->get_name(), "does nothing with --profile " + name_);
        }
        return is_cudaq_name();
    }

    /// The options until here are the stream's but those that both have; those until end_cudaq() are cudaq's.
    void begin_cudaq() {
        for (auto* option : command_.get_options()) {
            const auto name = option->get_name();
            if (!std::ranges::count(common, name)) streams_.push_back(option);
        }
        known_ = command_.get_options().size();
    }
    void end_cudaq() {
        const auto all = command_.get_options();
        cudaqs_.assign(all.begin() + static_cast<std::ptrdiff_t>(known_), all.end());
        for (auto* option : cudaqs_) option->group("With --profile cudaq");
    }

  private:
    static constexpr std::string_view common[] = {
        "--help", "--profile", "--device",    "--seconds", "--poll",    "--cpu",  "--log",
        "--json", "--drop",    "--duplicate", "--reorder", "--corrupt", "--seed", "--pcap"};

    bool is_cudaq_name() const { return name_ == "cudaq"; }

    CLI::App& command_;
    std::string name_ = "stream";
    std::vector<CLI::Option*> streams_, cudaqs_;
    std::size_t known_ = 0;
};

/// What both profiles have is parsed into the stream's options.
cudaq_emulator_options with_common(const emulate_options& o, cudaq_emulator_options c) {
    c.device = o.device;
    c.seconds = o.seconds;
    c.poll = o.poll;
    c.cpu = o.cpu;
    c.log = o.log;
    c.json = o.json;
    c.opening = with_faults(o.faults);
    c.opening.capture = o.pcap;
    return c;
}

} // namespace

void add_emulate(CLI::App& app, int& status) {
    auto o = std::make_shared<emulate_options>();
    auto* command = app.add_subcommand("emulate", "An emulated FPGA: one that streams PRBS frames to `rocio "
                                                  "recv`, or CUDA-Q's, driven by `rocio playback`");
    options::device(*command, o->device);
    command->add_option("--peer", o->peer, "ADDRESS:PORT where the receiver listens")->capture_default_str();
    options::connect(*command, o->connect);
    options::payload(*command, o->payload);
    options::depth(*command, o->depth);
    options::path_mtu(*command, o->path_mtu);
    options::retry_count(*command, o->retry_count);
    options::rnr_retry(*command, o->rnr_retry);
    command->add_option("--rate", o->rate, "Frames per second; default: as fast as they are acknowledged")
        ->check(CLI::Range(0.001, 1e9));
    options::count(*command, o->count);
    options::seconds(*command, o->seconds);
    command->add_option("--channels", o->channels, "Channels (imm[7:0]) in turn, 0 to 255")
        ->delimiter(',')
        ->check(CLI::Range(0, 255))
        ->capture_default_str();
    options::connect_timeout(*command, o->connect_timeout);
    options::poll(*command, o->poll);
    options::cpu(*command, o->cpu);
    options::log(*command, o->log);
    options::json(*command, o->json);
    add_fault_options(*command, o->faults);
    add_capture_option(*command, o->pcap);
    auto c = std::make_shared<cudaq_emulator_options>();
    auto profile = std::make_shared<profiles>(*command);
    command->callback([o, c, profile, &status] {
        if (!profile->is_cudaq()) return void(status = emulate(*o));
        status = emulate_cudaq(with_common(*o, *c));
    });
    profile->begin_cudaq();
    options::ib_port(*command, c->ib_port);
    options::gid_index(*command, c->gid_index);
    c->add_originals_to(*command);
    c->add_own_to(*command);
    profile->end_cudaq();
}

} // namespace rocio::tools

#include "commands/commands.hpp"
#include "commands/emulate_cudaq.hpp"
#include "commands/emulate_slac.hpp"
#include "commands/hand_options.hpp"
#include "commands/stream_support.hpp"
#include "hsb/sensor_command.hpp"
#include "lib/file_source.hpp"
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
#include <map>
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
    std::string frames{}; ///< A data file, or "-"; empty: PRBS.
    std::size_t prbs_word_bytes = 4;
    std::uint32_t counter_wrap = 1U << 24;
    hand_options hand{};
    std::chrono::milliseconds connect_timeout{10000};
    polling_policy poll = polling_policy::hybrid();
    thread_placement thread{};
    memory_options memory{};
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
    c.prbs_word_bytes = o.prbs_word_bytes;
    c.counter_period = o.counter_wrap;
    c.memory = o.memory;
    c.pair.path_mtu = o.path_mtu;
    c.pair.retry_count = o.retry_count;
    c.pair.rnr_retry = o.rnr_retry;
    return c;
}

/// The emulated board: dials the receiver, streams, and dials again when the connection breaks.
class board {
  public:
    board(asio::io_context& context, std::shared_ptr<device> dev, const emulate_options& o)
        : context_(context), dev_(std::move(dev)), o_(o), pause_(context) {
        if (!o.frames.empty()) file_ = std::make_shared<file_source>(context, o.frames, o.payload);
    }

    /// Gives the error after which no receiver could be found again.
    asio::awaitable<error_info> run() {
        auto give_up = clock::now() + o_.connect_timeout;
        error_info last;
        while (!stopping_) {
            last = co_await stream();
            if (stopping_ || !last) co_return file_ ? file_->failure() : error_info{};
            if (o_.connect == connection_kind::fixed) co_return last;
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
    std::uint64_t bytes() const { return bytes_ + (sender_ ? sender_->counts().bytes : 0); }
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
        if (o_.connect == connection_kind::fixed) return hand_peer(context_, o_.hand.config(o_.peer));
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
        config.source = file_;
        sender_ = std::make_unique<frame_sender>(context_, dev_, config);
        const auto begin = clock::now();
        auto result = co_await sender_->run(dial());
        elapsed_ += clock::now() - begin;
        streamed_ = sender_->ever_connected();
        retransmits_ += sender_->counters().retransmits;
        rnr_naks_ += sender_->counters().rnr_naks_received;
        frames_ += sender_->counts().frames;
        bytes_ += sender_->counts().bytes;
        sender_.reset();
        co_return result;
    }

    asio::io_context& context_;
    std::shared_ptr<device> dev_;
    const emulate_options& o_;
    asio::steady_timer pause_;
    std::shared_ptr<file_source> file_;
    std::unique_ptr<frame_sender> sender_;
    std::uint64_t frames_ = 0, bytes_ = 0, retransmits_ = 0, rnr_naks_ = 0;
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
    throw_if(place_this_thread(o.thread));
    asio::io_context context(1);
    auto& engine = completion_engine::of(context);
    engine.set_policy(o.poll);
    engine.set_log_sink(command_log(o.log));
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
        command
            .add_option("--profile", name_,
                        "What the board is: stream (dials `rocio recv`), slac (a SLAC board "
                        "for `recv --fpga slac`), hsb (a sensor bridge for `recv --fpga hsb`), cudaq (a "
                        "playback board)")
            ->check(CLI::IsMember({"stream", "slac", "hsb", "cudaq"}))
            ->capture_default_str();
    }
    const std::string& name() const noexcept { return name_; }
    void check() const {
        for (const auto& [option, owners] : owners_) {
            if (option->count() == 0 || std::ranges::count(owners, name_) > 0) continue;
            throw CLI::ValidationError(option->get_name(), "does nothing with --profile " + name_);
        }
    }

    /// All options added since the last call belong to that profile, but for those that all have.
    void end_of(const std::string& profile) {
        const auto all = command_.get_options();
        for (; known_ < all.size(); ++known_) {
            auto* option = all[known_];
            if (std::ranges::count(common, option->get_name()) > 0) continue;
            owners_[option].push_back(profile);
            if (profile != "stream") option->group("With --profile " + profile);
        }
    }
    /// That profile has an earlier one's option too.
    void share(const std::string& option, const std::string& profile) {
        owners_[command_.get_option(option)].push_back(profile);
    }

  private:
    static constexpr std::string_view common[] = {"--help",
                                                  "--profile",
                                                  "--device",
                                                  "--seconds",
                                                  "--poll",
                                                  "--cpu",
                                                  "--realtime-priority",
                                                  "--huge-pages",
                                                  "--numa-node",
                                                  "--prefault",
                                                  "--lock-memory",
                                                  "--log",
                                                  "--json",
                                                  "--drop",
                                                  "--duplicate",
                                                  "--reorder",
                                                  "--corrupt",
                                                  "--seed",
                                                  "--pcap"};

    CLI::App& command_;
    std::string name_ = "stream";
    std::map<const CLI::Option*, std::vector<std::string>> owners_;
    std::size_t known_ = 0;
};

/// What all profiles have is parsed into the stream's options.
template <class Options>
void take_common(const emulate_options& o, Options& other) {
    other.device = o.device;
    other.seconds = o.seconds;
    other.poll = o.poll;
    other.thread = o.thread;
    other.memory = o.memory;
    other.log = o.log;
    other.json = o.json;
    other.opening = with_faults(o.faults);
    other.opening.capture = o.pcap;
}

/// What the SLAC board shares with the stream; where nothing is said, it is as the shipped firmware.
void take_shared(const CLI::App& command, const emulate_options& o, slac_emulator_options& board) {
    board.payload = o.payload;
    if (command.count("--depth") > 0) board.depth = o.depth;
    if (command.count("--prbs-width") > 0) board.prbs_word_bytes = o.prbs_word_bytes;
    board.rate = o.rate;
    board.count = o.count;
    board.frames = o.frames;
    board.control.seed = o.faults.seed;
}

} // namespace

void add_emulate(CLI::App& app, int& status) {
    auto o = std::make_shared<emulate_options>();
    auto* command = app.add_subcommand(
        "emulate", "An emulated FPGA: one that streams PRBS frames to `rocio "
                   "recv`, a SLAC board with registers, or CUDA-Q's, driven by `rocio playback`");
    options::device(*command, o->device);
    command
        ->add_option("--peer", o->peer,
                     "ADDRESS:PORT where the receiver listens; with --connect static ADDRESS")
        ->capture_default_str();
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
    auto* frames =
        command
            ->add_option("--frames", o->frames,
                         "Sends the frames of a data file of rogue's StreamWriter, each on the channel it "
                         "was written with; -: from standard input")
            ->type_name("FILE");
    options::prbs_width(*command, o->prbs_word_bytes)->excludes(frames);
    options::counter_wrap(*command, o->counter_wrap);
    o->hand.add_to(*command);
    auto* timeout = options::connect_timeout(*command, o->connect_timeout);
    options::poll(*command, o->poll);
    options::thread(*command, o->thread);
    options::memory(*command, o->memory);
    options::log(*command, o->log);
    options::json(*command, o->json);
    add_fault_options(*command, o->faults);
    add_capture_option(*command, o->pcap);
    auto c = std::make_shared<cudaq_emulator_options>();
    auto profile = std::make_shared<profiles>(*command);
    auto board = std::make_shared<slac_emulator_options>();
    auto sensors = std::make_shared<emulate_hsb_options>();
    command->callback([o, c, board, sensors, profile, timeout, command, &status] {
        profile->check();
        if (profile->name() == "cudaq") {
            take_common(*o, *c);
            return void(status = emulate_cudaq(*c));
        }
        if (profile->name() == "hsb") {
            take_common(*o, *sensors);
            sensors->ib_port = c->ib_port;
            sensors->gid_index = c->gid_index;
            sensors->rate = o->rate;
            sensors->count = o->count;
            return void(status = emulate_hsb(*sensors));
        }
        if (profile->name() == "slac") {
            take_common(*o, *board);
            take_shared(*command, *o, *board);
            return void(status = emulate_slac(*board));
        }
        const bool by_hand = o->connect == connection_kind::fixed;
        o->hand.refuse_unless(by_hand);
        if (timeout->count() > 0) o->hand.timeout = o->connect_timeout;
        if (by_hand && o->frames == "-" && !o->hand.peer_qpn)
            throw CLI::ValidationError("--frames", "- needs standard input, so give --peer-qpn");
        status = emulate(*o);
    });
    profile->end_of("stream");
    for (const char* option : {"--payload", "--depth", "--rate", "--count", "--frames", "--prbs-width"})
        profile->share(option, "slac");
    board->add_own_to(*command);
    profile->end_of("slac");
    sensors->add_to(*command);
    profile->end_of("hsb");
    options::ib_port(*command, c->ib_port);
    options::gid_index(*command, c->gid_index);
    c->add_originals_to(*command);
    c->add_own_to(*command);
    profile->end_of("cudaq");
    for (const char* option : {"--ib-port", "--gid-index", "--rate", "--count"})
        profile->share(option, "hsb");
}

} // namespace rocio::tools

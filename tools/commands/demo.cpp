#include "commands/commands.hpp"
#include "commands/status_front.hpp"
#include "commands/stream_support.hpp"
#include "lib/device_pair.hpp"
#include "lib/frame_sender.hpp"
#include "lib/spdlog_sink.hpp"

#include <rocio/connect/tcp_rendezvous.hpp>
#include <rocio/io/busy_poll_thread.hpp>

#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <atomic>
#include <future>
#include <memory>

namespace rocio::tools {

namespace {

namespace asio = boost::asio;

struct demo_options : receive_options {
    std::string device{}; ///< Empty: a free pair of loopback addresses.
    std::string peer_device{};
    std::optional<double> rate{};
    fault_plan faults{};
};

/// The emulated FPGA on a thread of its own.
class sending_half {
  public:
    sending_half(const demo_options& o, std::shared_ptr<device> dev, const asio::ip::tcp::endpoint& peer)
        : dev_(std::move(dev)), thread_(thread_config(o)) {
        frame_sender_config c;
        c.payload = o.payload;
        c.rate = o.rate;
        c.pair.path_mtu = o.path_mtu;
        c.prbs_word_bytes = o.verify.prbs_word_bytes;
        c.counter_period = o.verify.counter_period;
        c.memory = o.memory;
        tcp_rendezvous_config rendezvous;
        rendezvous.largest_message = o.payload;
        auto begin = [this, c, peer, rendezvous] {
            sender_ = std::make_unique<frame_sender>(thread_.context(), dev_, c);
            asio::co_spawn(
                thread_.context(), sender_->run(tcp_connector(thread_.context(), peer, rendezvous)),
                [this](const std::exception_ptr& e, const error_info& result) { finish(e, result); });
        };
        asio::post(thread_.context(), begin);
    }
    void stop() {
        asio::post(thread_.context(), [this] {
            if (sender_) sender_->stop();
        });
    }
    /// Waits for the end; throws what went wrong.
    void join() {
        const auto failure = ended_.get_future().get();
        thread_.join();
        // A receiver that has all it wanted says goodbye first.
        if (failure.code != errc::peer_closed) throw_if(failure);
    }

    asio::io_context& context() noexcept { return thread_.context(); }
    std::uint64_t frames() const { return frames_; }
    std::uint64_t retransmits() const { return retransmits_; }

  private:
    static busy_poll_thread_config thread_config(const demo_options& o) {
        busy_poll_thread_config c;
        c.name = "emulated fpga";
        c.policy = o.poll;
        return c;
    }
    void finish(const std::exception_ptr& e, const error_info& result) {
        frames_ = sender_->counts().frames;
        retransmits_ = sender_->counters().retransmits;
        sender_.reset();
        if (e) return ended_.set_exception(e);
        ended_.set_value(result);
    }

    std::shared_ptr<device> dev_;
    std::unique_ptr<frame_sender> sender_;
    std::promise<error_info> ended_;
    std::uint64_t frames_ = 0;
    std::uint64_t retransmits_ = 0;
    busy_poll_thread thread_; // last: it uses the others
};

int demonstrate(const demo_options& o) {
    throw_if(place_this_thread(o.thread));
    asio::io_context context(1);
    auto& engine = completion_engine::of(context);
    engine.set_name("main");
    engine.set_policy(o.poll);
    const auto log = command_log(o.log);
    engine.set_log_sink(log);
    const auto devices = open_device_pair(o.device, o.peer_device, {"soft:127.0.0.2", "soft:127.0.0.3"},
                                          with_faults(o.faults));
    auto config = o.receiver(devices.first);
    config.sessions = 1;
    if (o.verify.counter_period > 0)
        config.server.counter_wrap = o.verify.counter_period; // of the one channel
    config.report = [](const std::string& text, bool is_error) {
        if (is_error) say(text);
    };
    auto peers = listen(context, devices.first, {});
    const auto where = peers->endpoint();
    receivers streams;
    streams.push_back(std::make_unique<frame_receiver>(context, config, std::move(peers)));
    auto& receiver = *streams.front();
    sending_half fpga(o, devices.second, where);
    status_front status(context, o.http, "demo", log, [&](status_snapshot& s) {
        show_machinery(s, context, devices.first);
        show_machinery(s, fpga.context(), devices.second);
        show_streams(s, streams);
    });

    status.watch(context, devices.first);

    const auto begin = std::chrono::steady_clock::now();
    live_line live(context.get_executor(), [&] { return progress_text(streams, begin); });
    end_of_run end(context, o.seconds.value_or(std::chrono::seconds{10}), [&] { fpga.stop(); });
    error_info failure;
    asio::co_spawn(context, receiver.run(), [&](const std::exception_ptr& e, const error_info& result) {
        live.stop();
        end.cancel();
        status.stop();
        if (e) std::rethrow_exception(e);
        failure = result;
    });
    context.run();
    fpga.stop();
    fpga.join();
    throw_if(failure);

    auto r = report_of(streams, devices.first->name());
    r.retransmits = fpga.retransmits();
    r.more["frames_sent"] = fpga.frames();
    if (!o.count && fpga.frames() > r.frames) r.lost = r.lost.value_or(0) + fpga.frames() - r.frames;
    return conclude(r, o.json);
}

} // namespace

void add_demo(CLI::App& app, int& status) {
    auto o = std::make_shared<demo_options>();
    auto* command = app.add_subcommand(
        "demo", "Both halves in one program: an emulated FPGA streams, we receive and check");
    command->add_option("--device", o->device, "Receiving device; default: a free loopback address");
    command->add_option("--peer-device", o->peer_device, "Sending device; default: a free loopback address");
    command->add_option("--rate", o->rate, "Frames per second; default: as fast as they are acknowledged")
        ->check(CLI::Range(0.001, 1e9));
    o->add_to(*command);
    add_fault_options(*command, o->faults);
    command->callback([o, &status] { status = demonstrate(*o); });
}

} // namespace rocio::tools

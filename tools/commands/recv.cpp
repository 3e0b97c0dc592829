#include "commands/commands.hpp"
#include "commands/stream_support.hpp"
#include "lib/spdlog_sink.hpp"

#include <rocio/connect/parse_endpoint.hpp>
#include <rocio/io/completion_engine.hpp>

#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>

#include <memory>

namespace rocio::tools {

namespace {

namespace asio = boost::asio;

struct recv_options : receive_options {
    std::string pcap{};
    std::string device = "soft:127.0.0.2";
    std::string listen = default_rendezvous;
    connection_kind connect = connection_kind::tcp;
    std::optional<std::uint64_t> sessions{};
};

peer_acceptor_config acceptor(const recv_options& o, const std::shared_ptr<log_sink>& log) {
    peer_acceptor_config c;
    c.kind = o.connect;
    c.tcp.endpoint = c.cm.endpoint = listen_endpoint(o.listen);
    c.tcp.log = c.cm.log = log;
    return c;
}

int receive(const recv_options& o) {
    pin_this_thread(o.cpu);
    asio::io_context context(1);
    auto& engine = completion_engine::of(context);
    engine.set_policy(o.poll);
    const auto log = std::make_shared<spdlog_sink>(o.log);
    engine.set_log_sink(log);

    open_options opening;
    opening.capture = o.pcap;
    const auto dev = open_device(o.device, opening);
    auto config = o.receiver(dev);
    config.sessions = o.sessions;
    config.acceptor = acceptor(o, log);
    config.report = [](const std::string& text, bool) { say(text); };
    frame_receiver receiver(context, config);
    status_front status(context, o.http, dev, receiver);
    say("waiting for a sender at " + receiver.endpoint().address().to_string() + ":" +
        std::to_string(receiver.endpoint().port()) + " on " + dev->name());

    const auto begin = std::chrono::steady_clock::now();
    live_line live(context.get_executor(), [&] { return progress_text(receiver, begin); });
    end_of_run end(context, o.seconds, [&] { receiver.stop(); });
    error_info failure;
    asio::co_spawn(context, receiver.run(), [&](const std::exception_ptr& e, const error_info& result) {
        live.stop();
        end.cancel();
        status.stop();
        if (e) std::rethrow_exception(e);
        failure = result;
    });
    context.run();
    throw_if(failure);
    return conclude(report_of(receiver, dev->name()), o.json);
}

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
    command->add_option("--sessions", o->sessions, "Ends after so many senders; default: none ends it");
    o->add_to(*command);
    add_capture_option(*command, o->pcap);
    command->callback([o, listen, &status] {
        if (o->connect == connection_kind::cm && listen->count() == 0) o->listen = any_rendezvous;
        status = receive(*o);
    });
}

} // namespace rocio::tools

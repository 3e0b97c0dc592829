#include "commands/status_front.hpp"
#include "commands/stream_support.hpp"
#include "hsb/sensor_command.hpp"
#include "hsb/sensor_recording.hpp"
#include "lib/spdlog_sink.hpp"

#include <rocio/io/completion_engine.hpp>

#include <boost/asio/co_spawn.hpp>

#include <memory>

namespace rocio::tools {

namespace asio = boost::asio;

int recv_hsb(const recv_hsb_options& o) {
    throw_if(place_this_thread(o.thread));
    asio::io_context context(1);
    auto& engine = completion_engine::of(context);
    engine.set_name("main");
    engine.set_policy(o.poll);
    const auto log = command_log(o.log);
    engine.set_log_sink(log);
    const auto dev = open_device(o.device, o.opening);
    sensor_recording recording(context, dev, o);
    recording.line = [](const std::string& text) { say(text); };
    status_front status(context, o.http, "recv", log, [&](status_snapshot& s) {
        show_machinery(s, context, dev);
        s.sensors.push_back(recording.snapshot());
        if (auto board = recording.session()) s.fpgas.push_back(*std::move(board));
    });
    live_line live(context.get_executor(), [&] { return recording.progress(); });
    end_of_run end(context, o.seconds, [&] { recording.stop(); });
    error_info failure;
    asio::co_spawn(context, recording.run(), [&](const std::exception_ptr& e, const error_info& result) {
        live.stop();
        end.cancel();
        status.stop();
        if (e) std::rethrow_exception(e);
        failure = result;
    });
    context.run();
    if (failure && recording.frames() == 0) throw exception(failure);
    if (failure) say(failure.message());
    const int verdict = conclude(recording.result(), o.json);
    return failure ? 1 : verdict;
}

} // namespace rocio::tools

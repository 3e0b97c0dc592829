// rocio's log lines in spdlog: one logger per room, with the application's own sinks and levels; repeated
// lines are held back and told as "(repeated N times)". The stranger is a plain TCP client that speaks no
// rendezvous.

#include <rocio/connect/tcp_rendezvous.hpp>
#include <rocio/io/completion_engine.hpp>
#include <rocio/spdlog_sink.hpp>
#include <rocio/types/rate_limited_sink.hpp>

#include <boost/asio.hpp>
#include <spdlog/sinks/stdout_sinks.h>

#include <exception>
#include <iostream>
#include <string>

namespace asio = boost::asio;
using asio::use_awaitable;
using asio::ip::tcp;

namespace {

std::shared_ptr<rocio::log_sink> make_log() {
    const auto model = spdlog::stdout_logger_mt("rocio"); // the application's logger: its sinks, its level
    model->set_pattern("%l %n: %v");
    const auto soft = model->clone("rocio.soft"); // one room at another level
    soft->set_level(spdlog::level::debug);
    spdlog::register_logger(soft);

    const auto to_spdlog = std::make_shared<rocio::spdlog_sink>(model);
    const rocio::rate_limit limit{.lines = 2, .period = std::chrono::seconds(10), .any_number = true};
    return std::make_shared<rocio::rate_limited_sink>(to_spdlog, limit);
}

/// Says what is no hello, and waits until it is shown the door.
asio::awaitable<void> disturb(tcp::endpoint where) {
    tcp::socket socket(co_await asio::this_coro::executor);
    co_await socket.async_connect(where, use_awaitable);
    std::string bytes(64, 'x');
    co_await asio::async_write(socket, asio::buffer(bytes), use_awaitable);
    (void)co_await asio::async_read(socket, asio::buffer(bytes), asio::as_tuple(use_awaitable));
}

asio::awaitable<void> disturb_often(rocio::tcp_listener& listener) {
    for (int i = 0; i < 5; ++i) co_await disturb(listener.local_endpoint());
    listener.close();
}

asio::awaitable<void> wait_for_sender(rocio::tcp_listener& listener) {
    (void)co_await listener.async_accept(asio::as_tuple(use_awaitable)); // none comes: close() ends it
}

} // namespace

int main() {
    try {
        const auto log = make_log();
        asio::io_context context;
        rocio::completion_engine::of(context).set_log_sink(log); // the data plane's lines
        rocio::tcp_listener listener(context, {.log = log});     // refused connections
        asio::co_spawn(context, wait_for_sender(listener), asio::detached);
        asio::co_spawn(context, disturb_often(listener), asio::detached);
        context.run();
    } catch (const std::exception& e) {
        std::cerr << "09_logging: " << e.what() << "\n";
        return 1;
    }
}

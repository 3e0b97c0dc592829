// A program that has an HTTP server of its own (Boost.Beast) shows rocio's status at it: the four lines
// marked "rocio" mount the routes. Then it asks itself, as a browser and Prometheus would.
//
//     08_mount_status [--stay]        --stay: leaves the server up, for http://127.0.0.1:PORT/

#include <rocio/open/open_device.hpp>
#include <rocio/status/status_routes.hpp>
#include <rocio/stream/receive_server.hpp>

#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::use_awaitable;
using asio::ip::tcp;

namespace {

using request = http::request<http::empty_body>;
constexpr std::chrono::seconds patience{10};

http::response<http::string_body> own_answer(const request& asked) {
    const bool found = asked.target() == "/hello";
    http::response<http::string_body> answer(found ? http::status::ok : http::status::not_found,
                                             asked.version());
    answer.body() = found ? "hello from the program itself\n" : "there is nothing at this path\n";
    answer.keep_alive(asked.keep_alive());
    answer.prepare_payload();
    return answer;
}

/// The body of /events never ends by itself: each piece goes out when it is there.
asio::awaitable<void> send_events(beast::tcp_stream& stream, rocio::status_response answer) {
    http::response_serializer<http::string_body> head(answer.message);
    co_await http::async_write_header(stream, head, use_awaitable);
    for (;;) {
        const std::string text = co_await answer.events->async_next(use_awaitable);
        if (text.empty()) co_return; // cancelled
        stream.expires_after(patience);
        const auto chunk = http::make_chunk(asio::buffer(text));
        co_await asio::async_write(stream, chunk, use_awaitable);
    }
}

asio::awaitable<void> serve(beast::tcp_stream stream, const rocio::status_routes& routes) {
    beast::flat_buffer buffer;
    for (;;) {
        request asked;
        stream.expires_after(patience);
        co_await http::async_read(stream, buffer, asked, use_awaitable);
        if (routes.serves(asked)) {                                           // rocio 3
            auto answer = co_await routes.async_answer(asked, use_awaitable); // rocio 4
            if (answer.events && answer.message.chunked())
                co_return co_await send_events(stream, std::move(answer));
            co_await http::async_write(stream, answer.message, use_awaitable);
        } else {
            const auto answer = own_answer(asked);
            co_await http::async_write(stream, answer, use_awaitable);
        }
        if (!asked.keep_alive()) co_return;
    }
}

asio::awaitable<void> accept(tcp::acceptor& acceptor, const rocio::status_routes& routes) {
    for (;;) {
        auto [ec, socket] = co_await acceptor.async_accept(asio::as_tuple(use_awaitable));
        if (ec) co_return;
        // A connection ends with an exception: that of its read when the client has gone.
        asio::co_spawn(acceptor.get_executor(), serve(beast::tcp_stream(std::move(socket)), routes),
                       asio::detached);
    }
}

asio::awaitable<void> ask(tcp::endpoint server) {
    beast::tcp_stream stream(co_await asio::this_coro::executor);
    co_await stream.async_connect(server, use_awaitable);
    beast::flat_buffer buffer;
    for (const std::string_view path :
         {"/hello", "/healthz", "/status/process/name", "/status/streams/camera/state"}) {
        request asking(http::verb::get, path, 11);
        asking.set(http::field::host, "127.0.0.1");
        co_await http::async_write(stream, asking, use_awaitable);
        http::response<http::string_body> answer;
        co_await http::async_read(stream, buffer, answer, use_awaitable);
        std::cout << path << ": " << answer.result_int() << " " << answer.body() << std::endl;
    }
}

} // namespace

int main(int argc, char** argv) {
    try {
        const bool stay = argc > 1 && std::string_view(argv[1]) == "--stay";
        asio::io_context context;
        rocio::receive_server camera(context,
                                     {.name = "camera", .device = rocio::open_device("soft:127.0.8.1")});
        rocio::status_source source("08_mount_status");
        const auto shown =
            source.add([&](rocio::status_snapshot& s) { s.streams.push_back(camera.snapshot()); }); // rocio 1
        rocio::status_routes routes(context, source);                                               // rocio 2

        tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), 0});
        asio::co_spawn(context, accept(acceptor, routes), asio::detached);
        std::cout << "status http://" << acceptor.local_endpoint() << "/status" << std::endl;
        asio::co_spawn(context, ask(acceptor.local_endpoint()), [&](std::exception_ptr failure) {
            if (failure) std::rethrow_exception(failure);
            if (stay) return;
            acceptor.close();
            routes.stop();
        });
        context.run();
    } catch (const std::exception& e) {
        std::cerr << "08_mount_status: " << e.what() << "\n";
        return 1;
    }
}

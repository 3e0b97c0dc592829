#include <rocio/connect/parse_endpoint.hpp>
#include <rocio/connect/tcp_rendezvous.hpp>
#include <rocio/open/open_device.hpp>
#include <rocio/status/status_server.hpp>
#include <rocio/stream/receive_server.hpp>

#include <boost/asio.hpp>

#include <cstdlib>
#include <exception>
#include <iostream>

namespace asio = boost::asio;
using asio::use_awaitable;

asio::awaitable<void> receive(rocio::receive_server& server, rocio::tcp_listener& listener) {
    for (;;) {
        co_await server.async_connect(co_await listener.async_accept(use_awaitable), use_awaitable);
        std::uint64_t frames = 0;
        std::uint64_t bytes = 0;
        for (;;) {
            auto [ec, frame] = co_await server.async_receive(asio::as_tuple(use_awaitable));
            if (ec) {
                std::cout << frames << " frames, " << bytes << " bytes; " << ec.message() << std::endl;
                break; // this sender is gone; wait for the next one
            }
            ++frames;
            bytes += frame.payload().size();
        } // here the lease ends, and the slot goes back to the device
    }
}

int main(int argc, char** argv) {
    try {
        asio::io_context context;
        rocio::receive_server server(
            context,
            {.name = "detector", .device = rocio::open_device(argc > 1 ? argv[1] : "soft:127.0.0.2")});
        rocio::tcp_listener listener(
            context, {.endpoint = rocio::parse_endpoint(argc > 2 ? argv[2] : "127.0.0.1:18515")});

        rocio::status_source source("receiver");
        auto shown = source.add([&](rocio::status_snapshot& s) { s.streams.push_back(server.snapshot()); });
        const auto port = static_cast<std::uint16_t>(argc > 3 ? std::atoi(argv[3]) : 8080);
        rocio::status_server http(context, source, {.port = port});

        asio::signal_set signals(context, SIGINT, SIGTERM);
        signals.async_wait([&](auto, int) { context.stop(); });
        asio::co_spawn(context, receive(server, listener), [](const std::exception_ptr& e) {
            if (e) std::rethrow_exception(e);
        });
        std::cerr << "receiver: waiting for a sender, " << http.url() << std::endl;
        context.run();
    } catch (const std::exception& e) {
        std::cerr << "receiver: " << e.what() << "\n";
        return 1;
    }
}

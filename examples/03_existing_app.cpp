// An application that was there before: a TCP echo server with signals and a timer. The five lines marked
// "rocio" add a stream from an FPGA to it. With --spin the same io_context polls for the lowest latency;
// sockets, signals and timers go on working.
//
//     03_existing_app [--spin]        and, as the FPGA:  rocio emulate --peer 127.0.0.1:18515

#include <rocio/connect/tcp_rendezvous.hpp>
#include <rocio/open/open_device.hpp>
#include <rocio/stream/receive_server.hpp>

#include <boost/asio.hpp>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string_view>

namespace asio = boost::asio;
using asio::use_awaitable;
using asio::ip::tcp;

namespace {

struct counts {
    std::uint64_t echoed = 0;
    std::uint64_t ticks = 0;
    std::uint64_t frames = 0;
};

asio::awaitable<void> echo(tcp::socket socket, counts& seen) {
    char buffer[1024];
    for (;;) {
        auto [ec, n] = co_await socket.async_read_some(asio::buffer(buffer), asio::as_tuple(use_awaitable));
        if (ec) co_return;
        co_await asio::async_write(socket, asio::buffer(buffer, n), use_awaitable);
        seen.echoed += n;
    }
}

asio::awaitable<void> serve_echo(tcp::acceptor& acceptor, counts& seen) {
    for (;;) {
        auto [ec, socket] = co_await acceptor.async_accept(asio::as_tuple(use_awaitable));
        if (ec) co_return;
        asio::co_spawn(acceptor.get_executor(), echo(std::move(socket), seen), asio::detached);
    }
}

asio::awaitable<void> tick(asio::steady_timer& timer, counts& seen) {
    for (;;) {
        timer.expires_after(std::chrono::milliseconds(5));
        auto [ec] = co_await timer.async_wait(asio::as_tuple(use_awaitable));
        if (ec) co_return;
        ++seen.ticks;
    }
}

asio::awaitable<void> stream(rocio::receive_server& server, rocio::tcp_listener& listener, counts& seen) {
    co_await server.async_connect(co_await listener.async_accept(use_awaitable), use_awaitable); // rocio 4
    for (;;) {
        auto [ec, frame] = co_await server.async_receive(asio::as_tuple(use_awaitable)); // rocio 5
        if (ec) co_return;
        ++seen.frames;
    }
}

} // namespace

int main(int argc, char** argv) {
    try {
        const bool spin = argc > 1 && std::string_view(argv[1]) == "--spin";
        const auto port = static_cast<std::uint16_t>(argc > 2 ? std::atoi(argv[2]) : 18515);
        asio::io_context context;
        counts seen;
        tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), 0});
        asio::steady_timer timer(context);
        asio::signal_set signals(context, SIGINT, SIGTERM);
        rocio::receive_server server(context, {.device = rocio::open_device("soft:127.0.3.1")}); // rocio 1
        rocio::tcp_listener listener(context,
                                     {.endpoint = {asio::ip::address_v4::loopback(), port}});      // rocio 2
        if (spin) rocio::completion_engine::of(context).set_policy(rocio::polling_policy::spin()); // rocio 3

        asio::co_spawn(context, serve_echo(acceptor, seen), asio::detached);
        asio::co_spawn(context, tick(timer, seen), asio::detached);
        asio::co_spawn(context, stream(server, listener, seen), asio::detached);
        signals.async_wait([&](auto, int) {
            acceptor.close();
            timer.cancel();
            listener.close();
            server.stop();
        });
        std::cout << "echo on " << acceptor.local_endpoint() << ", stream on " << listener.local_endpoint()
                  << std::endl;
        context.run();
        std::cout << seen.echoed << " bytes echoed, " << seen.ticks << " ticks, " << seen.frames
                  << " frames\n";
    } catch (const std::exception& e) {
        std::cerr << "03_existing_app: " << e.what() << "\n";
        return 1;
    }
}

// Receives an FPGA's stream: frames arrive where the device put them, by channel, and go back when the lease
// ends. The FPGA here is a queue pair of the same program; `rocio emulate` is a better one.

#include <rocio/connect/tcp_rendezvous.hpp>
#include <rocio/io/memory_region.hpp>
#include <rocio/open/open_device.hpp>
#include <rocio/stream/receive_server.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <iostream>

namespace asio = boost::asio;
using asio::use_awaitable;

namespace {

constexpr int frames_per_channel = 1000;

asio::awaitable<void> record(rocio::receive_view view, const char* name) {
    std::uint64_t bytes = 0;
    for (int i = 0; i < frames_per_channel; ++i) {
        const rocio::frame frame = co_await view.async_receive(use_awaitable);
        bytes += frame.payload().size();
    }
    std::cout << name << ": " << frames_per_channel << " frames, " << bytes << " bytes\n";
}

asio::awaitable<void> receive(asio::io_context& context, rocio::tcp_listener& listener) {
    rocio::receive_server_config config;
    config.name = "detector";
    config.device = rocio::open_device("soft:127.0.2.1");
    rocio::receive_server server(context, config);

    // A view takes frames from the moment it exists, so make them before the sender may start.
    asio::co_spawn(context, record(server.channel(1), "channel 1"), asio::detached);
    asio::co_spawn(context, record(server.channel(2), "channel 2"), asio::detached);

    co_await server.async_connect(co_await listener.async_accept(use_awaitable), use_awaitable);

    // All frames pass here too; the view of everything sees why the stream ended.
    auto everything = server.all();
    for (;;) {
        auto [ec, frame] = co_await everything.async_receive(asio::as_tuple(use_awaitable));
        if (!ec) continue;
        std::cout << "stream ended: " << ec.message() << "\n";
        co_return;
    }
}

asio::awaitable<void> send(asio::io_context& context, asio::ip::tcp::endpoint where) {
    auto device = rocio::open_device("soft:127.0.2.2");
    rocio::memory_region memory(device, 4096);
    rocio::queue_pair pair(context, device);
    co_await rocio::async_connect(pair, rocio::tcp_connector(context, where), use_awaitable);
    for (std::uint32_t counter = 0; counter < 2 * frames_per_channel; ++counter) {
        const std::uint32_t channel = 1 + counter % 2;
        co_await pair.async_send_with_immediate(memory.buffer(), counter << 8 | channel, use_awaitable);
    }
    pair.close();
}

void rethrow(std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
}

} // namespace

int main() {
    try {
        asio::io_context context;
        rocio::tcp_listener listener(context);
        asio::co_spawn(context, receive(context, listener), rethrow);
        asio::co_spawn(context, send(context, listener.local_endpoint()), rethrow);
        context.run();
    } catch (const std::exception& e) {
        std::cerr << "02_receive_server: " << e.what() << "\n";
        return 1;
    }
}

// Two queue pairs in one program, each on a user-space device of its own, connected over TCP and used with
// co_await. Run it as it is: no NIC, no kernel module, no root.

#include <rocio/connect/async_connect.hpp>
#include <rocio/connect/tcp_rendezvous.hpp>
#include <rocio/io/memory_region.hpp>
#include <rocio/io/queue_pair.hpp>
#include <rocio/open/open_device.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstring>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

namespace asio = boost::asio;
using asio::use_awaitable;

namespace {

std::string_view text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

asio::awaitable<void> server(asio::io_context& context, rocio::tcp_listener& listener) {
    auto device = rocio::open_device("soft:127.0.1.1");
    rocio::memory_region memory(device, 8192);
    rocio::queue_pair pair(context, device);

    co_await rocio::async_connect(pair, co_await listener.async_accept(use_awaitable), use_awaitable);

    const auto inbox = memory.buffer(0, 4096);
    const auto message = co_await pair.async_receive(inbox, use_awaitable);
    std::cout << "server: got \"" << text_of(inbox.first(message.size).bytes()) << "\"\n";

    const std::string answer = "hello, client";
    auto outbox = memory.buffer(4096, answer.size());
    std::memcpy(outbox.data, answer.data(), answer.size());
    co_await pair.async_send_with_immediate(outbox, 42, use_awaitable);
}

asio::awaitable<void> client(asio::io_context& context, asio::ip::tcp::endpoint where) {
    auto device = rocio::open_device("soft:127.0.1.2");
    rocio::memory_region memory(device, 4096);
    rocio::queue_pair pair(context, device);

    co_await rocio::async_connect(pair, rocio::tcp_connector(context, where), use_awaitable);

    // A few bytes need no registered memory: they are copied when the send is posted.
    const std::string_view question = "hello, server";
    co_await pair.async_send(rocio::inline_bytes(std::as_bytes(std::span(question))), use_awaitable);

    const auto message = co_await pair.async_receive(memory.buffer(), use_awaitable);
    std::cout << "client: got \"" << text_of(memory.bytes().first(message.size)) << "\", immediate "
              << *message.immediate << "\n";
}

void rethrow(std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
}

} // namespace

int main() {
    try {
        asio::io_context context;
        rocio::tcp_listener listener(context); // 127.0.0.1, a free port
        asio::co_spawn(context, server(context, listener), rethrow);
        asio::co_spawn(context, client(context, listener.local_endpoint()), rethrow);
        context.run();
    } catch (const std::exception& e) {
        std::cerr << "01_send_receive: " << e.what() << "\n";
        return 1;
    }
}

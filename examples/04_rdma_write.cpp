// RDMA: one side offers a piece of memory, the other writes into it, reads it back, and tells so by a write
// with immediate. Two user-space devices in one program: no NIC, no kernel module, no root.

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
#include <string_view>

namespace asio = boost::asio;
using asio::use_awaitable;
using rocio::memory_access;

namespace {

constexpr std::string_view text = "written by the peer";

std::string_view text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

asio::awaitable<void> owner(asio::io_context& context, rocio::tcp_listener& listener) {
    auto device = rocio::open_device("soft:127.0.4.1");
    rocio::memory_region_config rights;
    rights.access = memory_access::local_write | memory_access::remote_write | memory_access::remote_read;
    rocio::memory_region memory(device, 4096, rights);

    rocio::queue_pair_config config;
    config.remote_access = rights.access; // the queue pair must allow it too
    config.region = memory.remote();      // told to the peer at connect
    rocio::queue_pair pair(context, device, config);
    auto peer = co_await listener.async_accept(use_awaitable);
    co_await rocio::async_connect(pair, std::move(peer), use_awaitable);

    // A write with immediate takes a receive; nothing is put into its buffer.
    const auto notice = co_await pair.async_receive({}, use_awaitable);
    std::cout << "owner: notice " << *notice.immediate << ", " << notice.size << " bytes: \""
              << text_of(memory.bytes().first(text.size())) << "\"\n";
}

asio::awaitable<void> writer(asio::io_context& context, asio::ip::tcp::endpoint where) {
    auto device = rocio::open_device("soft:127.0.4.2");
    rocio::memory_region memory(device, 4096);
    rocio::queue_pair pair(context, device);
    co_await rocio::async_connect(pair, rocio::tcp_connector(context, where), use_awaitable);

    const auto theirs = pair.peer().region.buffer(0, text.size());
    const auto ours = memory.buffer(0, text.size());
    std::memcpy(ours.data, text.data(), text.size());
    co_await pair.async_write(ours, theirs, use_awaitable);

    const auto copy = memory.buffer(1024, text.size());
    co_await pair.async_read(copy, theirs, use_awaitable);
    std::cout << "writer: read back \"" << text_of(copy.bytes()) << "\"\n";

    co_await pair.async_write_with_immediate(ours, theirs, 4, use_awaitable);
}

void rethrow(std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
}

} // namespace

int main() {
    try {
        asio::io_context context;
        rocio::tcp_listener listener(context); // 127.0.0.1, a free port
        asio::co_spawn(context, owner(context, listener), rethrow);
        asio::co_spawn(context, writer(context, listener.local_endpoint()), rethrow);
        context.run();
    } catch (const std::exception& e) {
        std::cerr << "04_rdma_write: " << e.what() << "\n";
        return 1;
    }
}

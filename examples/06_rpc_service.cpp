// Calls of C++ functions over a ring: a service with two functions, and a client that has many calls on their
// way.
//
// usage: 06_rpc_service [SERVICE_DEVICE CLIENT_DEVICE]

#include <rocio/connect/cudaq_rendezvous.hpp>
#include <rocio/open/open_device.hpp>
#include <rocio/ring/ring_transceiver.hpp>
#include <rocio/rpc/client.hpp>
#include <rocio/rpc/ring_dispatcher.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <iostream>

namespace asio = boost::asio;
namespace rpc = rocio::rpc;
using asio::use_awaitable;
using transceiver = rocio::ring_transceiver;

namespace {

rocio::ring_config ring_on(const char* device, rocio::ring_tx_mode mode) {
    rocio::ring_config c;
    c.device = rocio::open_device(device);
    c.tx_mode = mode;
    return c;
}

asio::awaitable<void> serve(transceiver& slots, rocio::cudaq_service& door) {
    co_await slots.async_connect(std::move(door), use_awaitable);
    rpc::function_table functions;
    functions.add<std::int64_t(std::int64_t, std::int64_t)>("addThem", [](auto a, auto b) { return a + b; });
    functions.add<double(double)>("half", [](double x) { return x / 2; });
    rpc::ring_dispatcher<transceiver> dispatcher(slots.get_executor(), slots, std::move(functions));
    rocio::error_code ended;
    while (!ended) {
        dispatcher.poll();
        co_await slots.async_wait(asio::redirect_error(use_awaitable, ended));
    }
    std::cout << "service: " << dispatcher.snapshot().answered << " calls answered\n";
}

/// Gives the client what the ring receives.
asio::awaitable<void> feed(transceiver& slots, rpc::client<transceiver>& client) {
    rocio::error_code ended;
    while (!ended) {
        client.poll();
        co_await slots.async_wait(asio::redirect_error(use_awaitable, ended));
    }
}

asio::awaitable<void> call(transceiver& slots, transceiver& service, asio::ip::tcp::endpoint where) {
    co_await slots.async_connect(rocio::cudaq_caller(slots.get_executor(), where), use_awaitable);
    rpc::client<transceiver> client(slots.get_executor(), slots);
    asio::co_spawn(slots.get_executor(), feed(slots, client), asio::detached);
    using add = std::int64_t(std::int64_t, std::int64_t);
    std::cout << "client: 2 + 3 = " << co_await client.async_call<add>("addThem", 2, 3, use_awaitable)
              << "\n";
    std::cout << "client: half of 5 is "
              << co_await client.async_call<double(double)>("half", 5.0, use_awaitable) << "\n";
    try {
        co_await client.async_call<double(double)>("third", 5.0, use_awaitable);
    } catch (const boost::system::system_error& e) {
        std::cout << "client: third: " << e.code().message() << "\n";
    }
    slots.stop();
    service.stop();
}

void rethrow(std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
}

} // namespace

int main(int argc, char** argv) {
    try {
        asio::io_context context;
        transceiver served(context,
                           ring_on(argc > 2 ? argv[1] : "soft:127.0.6.1", rocio::ring_tx_mode::send));
        transceiver calling(context, ring_on(argc > 2 ? argv[2] : "soft:127.0.6.2",
                                             rocio::ring_tx_mode::write_with_immediate));
        rocio::cudaq_service door(context, {asio::ip::address_v4::loopback(), 0});
        const auto where = door.local_endpoint();
        asio::co_spawn(context, serve(served, door), rethrow);
        asio::co_spawn(context, call(calling, served, where), rethrow);
        context.run();
    } catch (const std::exception& e) {
        std::cerr << "06_rpc_service: " << e.what() << "\n";
        return 1;
    }
}

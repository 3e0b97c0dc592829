// What a user's first program may look like; built outside the tree in every way users link rocio.
#include <rocio/open/open_device.hpp>
#include <rocio/status/status_json.hpp>
#include <rocio/stream/receive_server.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/serialize.hpp>

#include <chrono>
#include <exception>
#include <iostream>

namespace asio = boost::asio;

// Nobody connects, so no frame comes and stop() ends the wait.
asio::awaitable<rocio::error_code> wait_for_a_frame(rocio::receive_server& server) {
    asio::steady_timer soon(server.get_executor(), std::chrono::milliseconds(10));
    soon.async_wait([&server](rocio::error_code) { server.stop(); });
    auto [error, frame] = co_await server.async_receive(asio::as_tuple(asio::use_awaitable));
    co_return error;
}

int main(int, char** argv) {
    asio::io_context context;
    rocio::receive_server_config config;
    config.device = rocio::open_device(argv[1]);
    rocio::receive_server server(context, config);

    rocio::error_code result;
    asio::co_spawn(context, wait_for_a_frame(server),
                   [&result](std::exception_ptr failure, rocio::error_code error) {
                       if (failure) std::rethrow_exception(failure);
                       result = error;
                   });
    context.run();
    std::cout << boost::json::serialize(rocio::to_json(server.snapshot())) << '\n';
    return result == rocio::errc::stopped ? 0 : 1;
}

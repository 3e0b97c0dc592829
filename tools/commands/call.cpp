#include "commands/commands.hpp"
#include "commands/rpc_support.hpp"
#include "commands/stream_support.hpp"
#include "lib/spdlog_sink.hpp"

#include <rocio/connect/cudaq_rendezvous.hpp>
#include <rocio/connect/parse_endpoint.hpp>
#include <rocio/io/completion_engine.hpp>
#include <rocio/rpc/client.hpp>

#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>

#include <charconv>
#include <iostream>
#include <memory>
#include <optional>
#include <vector>

namespace rocio::tools {

namespace {

namespace asio = boost::asio;
using executor = asio::io_context::executor_type;
using transceiver = basic_ring_transceiver<executor>;
using client_type = rpc::client<transceiver, executor>;

struct call_command_options : ring_options {
    std::string peer = default_service;
    std::string function;
    std::vector<std::string> arguments{};
    std::uint64_t count = 1;
    std::chrono::milliseconds reply_timeout{1000};
    std::chrono::milliseconds connect_timeout{5000};
};

std::int64_t number(const std::string& text) {
    std::int64_t value = 0;
    const auto* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, value);
    if (parsed.ec == std::errc() && parsed.ptr == end) return value;
    throw exception({errc::invalid_argument, "argument '" + text + "' is no 64-bit number"});
}

asio::awaitable<void> feed(transceiver& ring, client_type& client) {
    error_code ended;
    while (!ended) {
        client.poll();
        co_await ring.async_wait(asio::redirect_error(asio::use_awaitable, ended));
    }
}

asio::awaitable<std::string> call_once(client_type& client, const call_command_options& o,
                                       const std::vector<std::int64_t>& arguments) {
    const rpc::function_id id(o.function);
    const rpc::call_options limit(o.reply_timeout);
    if (arguments.empty()) {
        co_await client.async_call<void()>(id, limit, asio::use_awaitable);
        co_return std::string("done");
    }
    std::int64_t result = 0;
    if (arguments.size() == 1) {
        result = co_await client.async_call<std::int64_t(std::int64_t)>(id, arguments[0], limit,
                                                                        asio::use_awaitable);
    } else {
        result = co_await client.async_call<std::int64_t(std::int64_t, std::int64_t)>(
            id, arguments[0], arguments[1], limit, asio::use_awaitable);
    }
    co_return std::to_string(result);
}

/// Answers come to the calls from inside feed(): what it uses outlives both.
struct caller {
    transceiver ring;
    std::optional<client_type> client{};
};

asio::awaitable<void> run(asio::io_context& context, caller& c, const call_command_options& o,
                          const std::vector<std::int64_t>& arguments, std::string& answer) {
    auto& ring = c.ring;
    cudaq_config how;
    how.exchange_deadline = o.connect_timeout;
    error_code ec;
    co_await ring.async_connect(
        basic_cudaq_caller<executor>(context.get_executor(), parse_endpoint(o.peer), how),
        asio::redirect_error(asio::use_awaitable, ec));
    if (ec) throw exception({ec, "no service at " + o.peer + ": " + ring.last_error().message()});
    auto& client = c.client.emplace(context.get_executor(), ring);
    asio::co_spawn(context, feed(ring, client), asio::detached);
    std::exception_ptr failure;
    try {
        for (std::uint64_t i = 0; i < o.count; ++i) answer = co_await call_once(client, o, arguments);
    } catch (const boost::system::system_error& e) {
        failure = std::make_exception_ptr(exception({e.code(), o.function + ": " + e.code().message()}));
    }
    ring.stop();
    if (failure) std::rethrow_exception(failure);
}

int call(const call_command_options& o) {
    if (o.arguments.size() > 2)
        throw exception({errc::invalid_argument,
                         std::to_string(o.arguments.size()) + " arguments given, at most 2 allowed"});
    std::vector<std::int64_t> arguments;
    for (const auto& text : o.arguments) arguments.push_back(number(text));
    throw_if(place_this_thread(o.thread));
    asio::io_context context(1);
    auto& engine = completion_engine::of(context);
    engine.set_policy(o.poll);
    engine.set_log_sink(command_log(o.log));
    std::string answer;
    std::exception_ptr failure;
    caller calling{transceiver(context, o.ring(ring_tx_mode::write_with_immediate))};
    asio::co_spawn(context, run(context, calling, o, arguments, answer),
                   [&](std::exception_ptr e) { failure = std::move(e); });
    context.run();
    if (failure) std::rethrow_exception(failure);
    if (o.json)
        std::cout << boost::json::serialize(boost::json::object{
                         {"function", o.function}, {"calls", o.count}, {"answer", answer}})
                  << "\n";
    else
        std::cout << answer << "\n";
    return 0;
}

} // namespace

void add_call(CLI::App& app, int& status) {
    auto o = std::make_shared<call_command_options>();
    o->device = "soft:127.0.0.5";
    auto* command =
        app.add_subcommand("call", "Calls a function of `rocio serve`, or of a peer that speaks the same");
    command->add_option("function", o->function, "Name of the function")->required();
    command->add_option("arguments", o->arguments, "At most two 64-bit numbers; the answer is one, too");
    command->add_option("--peer", o->peer, "ADDRESS:PORT of the service's rendezvous")->capture_default_str();
    command->add_option("--count", o->count, "Calls, one after the other; the last answer is printed")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1000000000}))
        ->capture_default_str();
    const auto milliseconds = [](std::chrono::milliseconds& value) {
        return [&value](const std::string& text) {
            value = std::chrono::ceil<std::chrono::milliseconds>(
                options::parse_duration("--reply-timeout", text));
        };
    };
    command
        ->add_option_function<std::string>("--reply-timeout", milliseconds(o->reply_timeout),
                                           "How long a call may take")
        ->default_str("1000ms");
    options::connect_timeout(*command, o->connect_timeout);
    o->add_to(*command);
    command->callback([o, &status] { status = call(*o); });
}

} // namespace rocio::tools

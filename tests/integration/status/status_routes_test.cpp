#include "named_stream.hpp"

#include <rocio/status/status_routes.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/beast/http.hpp>
#include <boost/json/parse.hpp>
#include <gmock/gmock.h>

#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace {

using namespace rocio;
using namespace std::chrono_literals;
namespace beast = boost::beast;
namespace http = boost::beast::http;

static_assert(!std::is_copy_constructible_v<status_routes>);
static_assert(std::is_nothrow_move_constructible_v<status_routes>);

/// The requests of a server that is the user's own.
class status_routes_in_a_server : public testing::Test {
  protected:
    using request = http::request<http::string_body>;

    asio::io_context context{1};
    status_source source{"user's program"};
    status_registration shown =
        source.add([](status_snapshot& s) { s.streams.push_back(test::named_stream("camera")); });
    std::optional<status_routes> routes{};

    void mount(status_routes_config config = {}) { routes.emplace(context, source, std::move(config)); }
    static request asking(http::verb method, const std::string& target, unsigned version = 11) {
        request asked(method, target, version);
        asked.set(http::field::host, "daq.example");
        return asked;
    }
    template <class T>
    std::optional<T> run_until_done(std::optional<T>& result) {
        const auto give_up = std::chrono::steady_clock::now() + 30s;
        context.restart();
        while (!result && std::chrono::steady_clock::now() < give_up) context.run_one_for(10ms);
        return std::move(result);
    }
    status_response answer(const request& asked) {
        std::optional<status_response> result;
        routes->async_answer(asked, [&](const std::exception_ptr& failure, status_response response) {
            EXPECT_FALSE(failure);
            result.emplace(std::move(response));
        });
        EXPECT_FALSE(result) << "completed inside the call";
        return run_until_done(result).value();
    }
    std::string next(status_events& events) {
        std::optional<std::string> result;
        events.async_next([&](const std::exception_ptr& failure, std::string text) {
            EXPECT_FALSE(failure);
            result = std::move(text);
        });
        return run_until_done(result).value();
    }
};

TEST_F(status_routes_in_a_server, know_their_paths) {
    mount();
    for (const auto* path : {"/", "/status", "/status?x", "/status/streams/0", "/status/", "/metrics",
                             "/events", "/healthz", "/readyz"}) {
        EXPECT_TRUE(routes->serves(asking(http::verb::get, path))) << path;
    }
    for (const auto* path : {"", "*", "/x", "/statuss", "/metrics/", "/index.html"})
        EXPECT_FALSE(routes->serves(path)) << path;
}

TEST_F(status_routes_in_a_server, answer_as_the_status_server_does) {
    mount();
    const auto whole = answer(asking(http::verb::get, "/status")).message;
    EXPECT_EQ(whole.result_int(), 200U);
    EXPECT_EQ(whole[http::field::content_type], "application/json");
    EXPECT_EQ(boost::json::parse(whole.body()).at("process").at("name"), "user's program");
    EXPECT_EQ(whole[http::field::content_length], std::to_string(whole.body().size()));
    EXPECT_EQ(answer(asking(http::verb::get, "/status/streams/camera/name")).message.body(), "\"camera\"");
    EXPECT_EQ(answer(asking(http::verb::post, "/status")).message.result_int(), 405U);
    EXPECT_EQ(answer(asking(http::verb::get, "/none")).message.result_int(), 404U);
}

TEST_F(status_routes_in_a_server, answer_head_with_the_length_and_no_body) {
    mount();
    const auto whole = answer(asking(http::verb::get, "/healthz")).message;
    const auto head = answer(asking(http::verb::head, "/healthz")).message;
    EXPECT_EQ(head.body(), "");
    EXPECT_EQ(head[http::field::content_length], whole[http::field::content_length]);
}

TEST_F(status_routes_in_a_server, go_on_with_the_connection_as_the_request_wishes) {
    mount();
    auto asked = asking(http::verb::get, "/healthz");
    EXPECT_TRUE(answer(asked).message.keep_alive());
    asked.keep_alive(false);
    EXPECT_FALSE(answer(asked).message.keep_alive());
    asked = asking(http::verb::get, "/healthz", 10);
    EXPECT_FALSE(answer(asked).message.keep_alive());
    EXPECT_EQ(answer(asked).message.version(), 10U);
    asked.keep_alive(true);
    EXPECT_TRUE(answer(asked).message.keep_alive());
}

TEST_F(status_routes_in_a_server, keep_to_their_configuration) {
    mount({.token = "s3cret", .only_known_hosts = true, .hosts = {"daq.example"}});
    auto asked = asking(http::verb::get, "/status");
    EXPECT_EQ(answer(asked).message.result_int(), 401U);
    asked.set(http::field::authorization, "Bearer s3cret");
    EXPECT_EQ(answer(asked).message.result_int(), 200U);
    asked.set(http::field::host, "evil.example");
    EXPECT_EQ(answer(asked).message.result_int(), 421U);
    EXPECT_THROW(status_routes(context, source, {.snapshot_deadline = 0ms}), exception);
}

TEST_F(status_routes_in_a_server, do_not_look_at_the_request_after_the_call) {
    mount();
    std::optional<request> asked = asking(http::verb::get, "/status/process/name");
    auto future = routes->async_answer(*asked, asio::use_future);
    asked.reset();
    routes.reset();
    context.run();
    EXPECT_EQ(future.get().message.body(), "\"user's program\"");
}

TEST_F(status_routes_in_a_server, work_with_coroutines) {
    mount();
    std::string body;
    asio::co_spawn(
        context,
        [&]() -> asio::awaitable<void> {
            const auto asked = asking(http::verb::get, "/healthz");
            auto found = co_await routes->async_answer(asked, asio::use_awaitable);
            body = found.message.body();
            routes->stop();
        },
        [](const std::exception_ptr& failure) { EXPECT_FALSE(failure); });
    context.run();
    EXPECT_EQ(body, "ok");
}

TEST_F(status_routes_in_a_server, give_events_piece_by_piece_until_cancelled) {
    mount({.event_interval = 10ms});
    auto found = answer(asking(http::verb::get, "/events"));
    ASSERT_TRUE(found.events);
    EXPECT_TRUE(found.message.chunked());
    EXPECT_EQ(found.message[http::field::content_type], "text/event-stream");
    EXPECT_EQ(routes->subscribers(), 1U);
    EXPECT_THAT(next(*found.events), testing::HasSubstr("event: status\ndata: {\"schema_version\":"));
    EXPECT_THAT(next(*found.events), testing::StartsWith("event: status\ndata: {\"process\":"));
    found.events->cancel();
    context.poll();
    EXPECT_EQ(next(*found.events), "");
    found.events.reset();
    context.restart();
    context.poll();
    EXPECT_EQ(routes->subscribers(), 0U);
}

TEST_F(status_routes_in_a_server, give_events_that_end_with_the_connection_in_http_1_0) {
    mount();
    const auto found = answer(asking(http::verb::get, "/events", 10));
    ASSERT_TRUE(found.events);
    EXPECT_FALSE(found.message.chunked());
    EXPECT_FALSE(found.message.keep_alive());
}

TEST_F(status_routes_in_a_server, end_a_wait_for_events_when_these_are_destroyed) {
    mount({.event_interval = 1h});
    std::optional<status_response> found = answer(asking(http::verb::get, "/events"));
    next(*found->events);
    std::optional<std::string> last;
    found->events->async_next([&](const std::exception_ptr&, std::string text) { last = std::move(text); });
    found.reset();
    EXPECT_EQ(run_until_done(last), "");
}

TEST_F(status_routes_in_a_server, keep_run_alive_until_stopped) {
    mount();
    context.run_for(10ms);
    EXPECT_FALSE(context.stopped());
    status_routes moved(std::move(*routes));
    moved.stop();
    moved.stop();
    context.run();
    EXPECT_TRUE(context.stopped());
    std::optional<status_routes> again(std::move(moved));
    again.reset();
}

} // namespace

#include "status_server_fixture.hpp"

#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include <type_traits>

namespace {

using namespace rocio;
using namespace rocio::test;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

using concrete_server = basic_status_server<asio::io_context::executor_type>;
static_assert(std::is_same_v<status_server::executor_type, asio::any_io_executor>);
static_assert(
    std::is_same_v<status_server::rebind_executor<asio::io_context::executor_type>::other, concrete_server>);
static_assert(!std::is_copy_constructible_v<status_server>);
static_assert(std::is_nothrow_move_constructible_v<status_server>);

class status_setup : public status_server_fixture {
  protected:
    /// The sentence with which a configuration is refused.
    error_info refusal(const status_server_config& config) {
        error_info error;
        const status_server refused(context.get_executor(), source, config, error);
        EXPECT_EQ(refused.port(), 0);
        EXPECT_TRUE(error) << "taken";
        try {
            const status_server thrown(context, source, config);
            ADD_FAILURE() << "no exception";
        } catch (const exception& e) {
            EXPECT_EQ(e.code(), error.code);
            EXPECT_EQ(e.what(), error.message());
        }
        return error;
    }
};

TEST_F(status_setup, listens_on_loopback_and_a_free_port_by_default) {
    const status_server first(context, source);
    const status_server second(context, source);
    EXPECT_EQ(first.snapshot().address, "127.0.0.1");
    EXPECT_NE(first.port(), 0);
    EXPECT_NE(first.port(), second.port());
    EXPECT_EQ(first.url(), "http://127.0.0.1:" + std::to_string(first.port()) + "/status");
}

TEST_F(status_setup, listens_on_ipv6) {
    const status_server v6(context, source, {.address = "::1"});
    EXPECT_EQ(v6.url(), "http://[::1]:" + std::to_string(v6.port()) + "/status");
}

TEST_F(status_setup, takes_a_port_anew_right_after_a_server_on_it_ended) {
    const auto port = serve().port();
    auto c = client();
    EXPECT_EQ(get(c, "/healthz").body, "ok");
    server.reset();
    context.run(); // the server closes first, so the port is in TIME_WAIT
    context.restart();
    EXPECT_EQ(serve({.port = port}).port(), port);
    auto again = client();
    EXPECT_EQ(get(again, "/healthz").body, "ok");
}

TEST_F(status_setup, of_a_port_in_use_names_it_and_the_way_out) {
    const auto port = serve().port();
    const auto error = refusal({.address = address, .port = port});
    EXPECT_EQ(error.code, boost::system::errc::address_in_use);
    EXPECT_THAT(error.text,
                AllOf(HasSubstr("127.50.0.1 port " + std::to_string(port)), HasSubstr("0 for a free one")));
}

TEST_F(status_setup, of_an_address_that_is_not_ours_says_so) {
    const auto error = refusal({.address = "192.0.2.1"});
    EXPECT_EQ(error.code, boost::system::errc::address_not_available);
    EXPECT_THAT(error.text, AllOf(HasSubstr("192.0.2.1"), HasSubstr("no interface")));
}

TEST_F(status_setup, refuses_what_cannot_work_with_name_and_allowed_values) {
    EXPECT_THAT(refusal({.address = "localhost"}).text,
                AllOf(HasSubstr("\"localhost\""), HasSubstr("numeric")));
    EXPECT_THAT(refusal({.max_sessions = 0}).text,
                AllOf(HasSubstr("max_sessions is 0"), HasSubstr("1 and more")));
    EXPECT_THAT(refusal({.request_timeout = 0ms}).text, HasSubstr("request_timeout is 0 ms"));
    EXPECT_THAT(refusal({.write_timeout = -1ms}).text, HasSubstr("write_timeout is -1 ms"));
    EXPECT_THAT(refusal({.idle_timeout = 0ms}).text, HasSubstr("idle_timeout is 0 ms"));
    EXPECT_EQ(refusal({.max_sessions = 0}).code, errc::invalid_argument);
}

TEST_F(status_setup, keeps_run_alive_until_stop) {
    serve();
    context.run_for(20ms);
    EXPECT_FALSE(context.stopped());
    server->stop();
    context.run();
    EXPECT_TRUE(context.stopped());
}

TEST_F(status_setup, serves_on_through_moves) {
    serve();
    status_server moved(std::move(*server));
    EXPECT_EQ(server->port(), 0); // NOLINT: what a moved-from one says
    server->stop();
    *server = std::move(moved);
    auto c = client();
    EXPECT_EQ(get(c, "/healthz").body, "ok");
}

TEST_F(status_setup, ends_the_server_that_another_is_moved_onto) {
    serve();
    auto c = client();
    EXPECT_EQ(get(c, "/healthz").body, "ok");
    *server = status_server(context, source, {.address = address});
    EXPECT_TRUE(closes(c));
    auto next = client();
    EXPECT_EQ(get(next, "/healthz").body, "ok");
}

TEST_F(status_setup, keeps_the_source_alive) {
    const auto shown = source.add([](status_snapshot& s) { s.streams.push_back(named_stream("camera")); });
    serve();
    source = status_source();
    auto c = client();
    EXPECT_EQ(json_of(get(c, "/status/streams")).at(0).at("name"), "camera");
}

TEST_F(status_setup, takes_any_executor_with_sockets) {
    const concrete_server concrete(context.get_executor(), source, {.address = address});
    EXPECT_EQ(concrete.get_executor(), context.get_executor());
    const basic_status_server<asio::strand<asio::io_context::executor_type>> on_strand(
        asio::make_strand(context), source, {.address = address});
    EXPECT_NE(on_strand.port(), 0);

    asio::thread_pool pool(1);
    const status_server on_pool(pool, source, {.address = address});
    raw_http_client c(address, on_pool.port());
    EXPECT_EQ(get(c, "/healthz").body, "ok");
}

} // namespace

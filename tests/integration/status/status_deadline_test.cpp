#include "status_server_fixture.hpp"

#include <chrono>

namespace {

using namespace rocio;
using namespace rocio::test;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

class status_deadline : public status_server_fixture {
  protected:
    bool session_times_out() {
        return pump([&] { return server->snapshot().timeouts == 1 && server->snapshot().sessions == 0; });
    }

    /// Far more than the buffers of both sockets take.
    status_registration show_a_large_status() { return source.add(status_of_size(16 << 20)); }
};

TEST_F(status_deadline, ends_a_connection_that_asks_nothing) {
    serve({.idle_timeout = 50ms});
    auto c = client();
    EXPECT_TRUE(session_times_out());
    EXPECT_TRUE(closes(c));
}

TEST_F(status_deadline, ends_a_connection_that_asks_nothing_more) {
    serve({.idle_timeout = 50ms});
    auto c = client();
    EXPECT_EQ(get(c, "/healthz").body, "ok");
    EXPECT_TRUE(session_times_out());
    EXPECT_TRUE(closes(c));
}

TEST_F(status_deadline, ends_a_request_that_trickles_in_without_end) {
    serve({.request_timeout = 100ms});
    auto c = client();
    c.send("GET /healthz HTTP/1.1\r\nX: ");
    auto next_byte = clock_type::now();
    EXPECT_TRUE(pump([&] {
        if (clock_type::now() >= next_byte) {
            c.send("x"); // each byte within the deadline, the request never
            next_byte = clock_type::now() + 2ms;
        }
        return server->snapshot().timeouts == 1;
    }));
    EXPECT_TRUE(closes(c));
}

TEST_F(status_deadline, ends_a_request_whose_body_does_not_come) {
    serve({.request_timeout = 100ms});
    auto c = client();
    c.send("GET /healthz HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\n\r\n1234");
    EXPECT_TRUE(session_times_out());
    EXPECT_TRUE(closes(c));
}

TEST_F(status_deadline, ends_an_answer_that_is_not_read) {
    const auto shown = show_a_large_status();
    serve({.write_timeout = 100ms});
    raw_http_client c(1024);
    c.connect(address, server->port());
    EXPECT_TRUE(pump([&] { return server->snapshot().sessions == 1; }));
    c.get("/status");
    EXPECT_TRUE(session_times_out());
}

TEST_F(status_deadline, lets_a_reader_take_a_large_answer) {
    const auto shown = show_a_large_status();
    serve();
    auto c = client();
    const auto r = get(c, "/status");
    EXPECT_EQ(r.status, 200U);
    EXPECT_EQ(json_of(r).at("streams").at(0).at("host_gid").as_string().size(), std::size_t{16 << 20});
}

TEST_F(status_deadline, of_one_request_does_not_run_on_into_the_next) {
    serve({.request_timeout = 300ms, .write_timeout = 300ms});
    auto c = client();
    const auto begin = clock_type::now();
    while (clock_type::now() - begin < 1s) ASSERT_EQ(get(c, "/healthz").body, "ok");
    EXPECT_EQ(server->snapshot().timeouts, 0U);
    EXPECT_EQ(server->snapshot().accepted, 1U);
}

TEST_F(status_deadline, of_requests_does_not_run_while_none_is_there) {
    serve({.request_timeout = 50ms, .write_timeout = 50ms});
    auto c = client();
    EXPECT_EQ(get(c, "/healthz").body, "ok");
    const auto begin = clock_type::now();
    EXPECT_TRUE(pump([&] { return clock_type::now() - begin > 200ms; }));
    EXPECT_EQ(get(c, "/healthz").body, "ok");
}

TEST_F(status_deadline, of_a_silent_client_holds_up_nobody) {
    serve();
    auto silent = client();
    silent.send("GET /sta");
    EXPECT_TRUE(pump([&] { return server->snapshot().sessions == 1; }));
    for (int i = 0; i < 10; ++i) {
        auto other = client();
        EXPECT_EQ(get(other, "/healthz").body, "ok");
    }
    silent.send("tus HTTP/1.1\r\nHost: test\r\n\r\n");
    EXPECT_EQ(response(silent).status, 200U);
}

TEST_F(status_deadline, ends_a_refused_client_that_goes_on_sending) {
    serve();
    auto c = client();
    c.send("POST /status HTTP/1.1\r\nHost: test\r\nContent-Length: 99999999999\r\n\r\n");
    EXPECT_EQ(response(c).status, 413U);
    EXPECT_TRUE(pump([&] {
        c.send("more");
        return server->snapshot().sessions == 0;
    }));
}

} // namespace

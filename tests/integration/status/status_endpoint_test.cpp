#include "status_server_fixture.hpp"

#include <boost/json/array.hpp>

#include <chrono>
#include <string>

namespace {

using namespace rocio;
using namespace rocio::test;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

class status_endpoint : public status_server_fixture {
  protected:
    status_registration shown =
        source.add([](status_snapshot& s) { s.streams.push_back(named_stream("camera")); });

    /// A request with more fields, on a connection that goes on.
    void ask(raw_http_client& to, const std::string& method, const std::string& path,
             const std::string& fields = {}) {
        to.send(method + " " + path + " HTTP/1.1\r\nHost: test\r\n" + fields + "\r\n");
    }
    http_response answer(const std::string& path, const std::string& fields = {}) {
        auto c = client();
        ask(c, "GET", path, fields);
        return response(c);
    }
};

TEST_F(status_endpoint, metrics_is_prometheus_text) {
    serve();
    const auto r = answer("/metrics");
    EXPECT_EQ(r.status, 200U);
    EXPECT_EQ(r.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    EXPECT_THAT(r.body, HasSubstr("stream=\"camera\""));
}

TEST_F(status_endpoint, page_is_html_under_a_strict_policy) {
    serve();
    const auto r = answer("/");
    EXPECT_EQ(r.header("content-type"), "text/html; charset=utf-8");
    EXPECT_THAT(r.header("content-security-policy"), HasSubstr("default-src 'none'"));
    EXPECT_THAT(r.body, HasSubstr("</html>"));
}

TEST_F(status_endpoint, readyz_says_why_not) {
    serve({.routes = {.snapshot_age = 0ms}});
    EXPECT_EQ(answer("/readyz").status, 200U);
    asio::io_context plane;
    const auto stuck = source.add(plane.get_executor(), "data plane", [](status_snapshot&) {});
    const auto r = answer("/readyz");
    EXPECT_EQ(r.status, 503U);
    EXPECT_EQ(json_of(r).at("why").at(0), "data plane: no answer within 50 ms");
    EXPECT_EQ(answer("/healthz").status, 200U);
}

TEST_F(status_endpoint, status_answers_within_its_deadline_although_a_plane_hangs) {
    serve();
    asio::io_context plane;
    const auto stuck = source.add(plane.get_executor(), "data plane", [](status_snapshot&) {});
    const auto r = answer("/status");
    EXPECT_EQ(json_of(r).at("streams").at(0).at("name"), "camera");
    EXPECT_EQ(json_of(r).at("stale").at(0).at("part"), "data plane");
}

TEST_F(status_endpoint, status_asks_the_providers_once_for_many_requests_at_a_time) {
    serve({.routes = {.snapshot_deadline = 1h, .snapshot_age = 1h}});
    asio::io_context plane;
    int calls = 0;
    const auto counting = source.add([&](status_snapshot&) { ++calls; });
    const auto bound = source.add(plane.get_executor(), "data plane", [](status_snapshot&) {});
    std::vector<raw_http_client> all;
    for (int i = 0; i < 20; ++i) {
        all.push_back(client());
        all.back().get(i % 2 == 0 ? "/status" : "/metrics");
    }
    EXPECT_TRUE(pump([&] { return server->snapshot().accepted == 20; }));
    for (int i = 0; i < 100; ++i) context.poll_one();
    EXPECT_EQ(server->snapshot().requests, 0U) << "the plane has not answered";
    EXPECT_EQ(plane.poll(), 1U);
    for (auto& c : all) EXPECT_EQ(response(c).status, 200U);
    EXPECT_EQ(calls, 1);
}

TEST_F(status_endpoint, part_goes_to_a_client_once_until_it_changes) {
    serve({.routes = {.snapshot_age = 0ms}});
    auto c = client();
    ask(c, "GET", "/status/streams/camera");
    const auto first = response(c);
    EXPECT_EQ(first.status, 200U);
    ask(c, "GET", "/status/streams/camera", "If-None-Match: " + first.header("etag") + "\r\n");
    const auto again = response(c, true);
    EXPECT_EQ(again.status, 304U);
    EXPECT_FALSE(again.has("content-length"));
    EXPECT_FALSE(again.has("content-type"));
    EXPECT_EQ(again.header("etag"), first.header("etag"));
    EXPECT_EQ(get(c, "/healthz").body, "ok") << "a body was sent";
}

TEST_F(status_endpoint, page_comes_packed_to_who_takes_gzip) {
    serve();
    const auto plain = answer("/");
    const auto r = answer("/", "Accept-Encoding: deflate\r\nAccept-Encoding: gzip;q=0.5\r\n");
    EXPECT_EQ(r.header("content-encoding"), "gzip");
    EXPECT_EQ(r.header("vary"), "Accept-Encoding");
    EXPECT_EQ(r.body.substr(0, 2), "\x1F\x8B");
    EXPECT_LT(r.body.size(), plain.body.size() / 2);
    EXPECT_FALSE(answer("/", "Accept-Encoding: gzip;q=0\r\n").has("content-encoding"));
    auto c = client();
    ask(c, "HEAD", "/", "Accept-Encoding: gzip\r\n");
    const auto head = response(c, true);
    EXPECT_EQ(head.header("content-length"), std::to_string(r.body.size()));
    EXPECT_EQ(get(c, "/healthz").body, "ok");
}

TEST_F(status_endpoint, wants_its_token) {
    serve({.routes = {.token = "s3cret"}});
    const auto refused = answer("/status");
    EXPECT_EQ(refused.status, 401U);
    EXPECT_EQ(refused.header("www-authenticate"), "Bearer realm=\"rocio\"");
    EXPECT_EQ(json_of(refused).at("status"), 401);
    EXPECT_THAT(refused.body, testing::Not(HasSubstr("s3cret")));
    EXPECT_EQ(answer("/status", "Authorization: Bearer wrong1\r\n").status, 401U);
    EXPECT_EQ(answer("/events", "Authorization: Bearer wrong1\r\n").status, 401U);
    EXPECT_EQ(answer("/status", "Authorization: Bearer s3cret\r\n").status, 200U);
    EXPECT_EQ(answer("/healthz").status, 200U);
    EXPECT_EQ(answer("/").status, 200U);
}

TEST_F(status_endpoint, has_no_name_but_those_it_knows_on_a_loopback_address) {
    serve();
    for (const auto* host : {"evil.example", "127.0.0.1.evil.example:80"}) {
        const auto r = answer_to(std::string("GET /status HTTP/1.1\r\nHost: ") + host + "\r\n\r\n");
        EXPECT_EQ(r.status, 421U) << host;
        EXPECT_EQ(json_of(r).at("status"), 421);
    }
    for (const auto* host : {"127.50.0.1", "localhost:8080", "[::1]:80", "TEST"}) {
        EXPECT_EQ(answer_to(std::string("GET /healthz HTTP/1.1\r\nHost: ") + host + "\r\n\r\n").status, 200U)
            << host;
    }
}

TEST_F(status_endpoint, is_for_no_other_origin_by_default) {
    serve();
    const auto r = answer("/status", "Origin: https://evil.example\r\n");
    EXPECT_FALSE(r.has("access-control-allow-origin"));
    auto c = client();
    ask(c, "OPTIONS", "/status", "Origin: https://evil.example\r\nAccess-Control-Request-Method: GET\r\n");
    EXPECT_EQ(response(c).status, 405U);
}

TEST_F(status_endpoint, is_for_the_origin_that_is_allowed) {
    serve({.routes = {.token = "s3cret", .allow_origin = "https://grafana.example"}});
    auto c = client();
    ask(c, "OPTIONS", "/status", "Origin: https://grafana.example\r\nAccess-Control-Request-Method: GET\r\n");
    const auto preflight = response(c, true);
    EXPECT_EQ(preflight.status, 204U);
    EXPECT_EQ(preflight.header("access-control-allow-origin"), "https://grafana.example");
    EXPECT_THAT(preflight.header("access-control-allow-headers"), HasSubstr("Authorization"));
    ask(c, "GET", "/status", "Authorization: Bearer s3cret\r\n");
    EXPECT_EQ(response(c).header("access-control-allow-origin"), "https://grafana.example");
    EXPECT_EQ(answer("/status").header("access-control-allow-origin"), "https://grafana.example");
}

TEST_F(status_endpoint, refuses_settings_that_cannot_work) {
    const auto refusal = [&](status_routes_config routes) {
        error_info error;
        const status_server refused(context.get_executor(), source,
                                    {.address = address, .routes = std::move(routes)}, error);
        EXPECT_EQ(error.code, errc::invalid_argument);
        return error.text;
    };
    EXPECT_THAT(refusal({.token = "a b"}), AllOf(HasSubstr("token"), testing::Not(HasSubstr("a b"))));
    EXPECT_THAT(refusal({.allow_origin = "a\r\nSet-Cookie: b"}), HasSubstr("allow_origin"));
    EXPECT_THAT(refusal({.snapshot_deadline = 0ms}), HasSubstr("snapshot_deadline is 0 ms"));
    EXPECT_THAT(refusal({.snapshot_age = -1ms}), HasSubstr("snapshot_age is -1 ms"));
    EXPECT_THAT(refusal({.event_interval = 0ms}), HasSubstr("event_interval is 0 ms"));
    EXPECT_THAT(refusal({.heartbeat = 0ms}), HasSubstr("heartbeat is 0 ms"));
}

TEST_F(status_endpoint, shows_rates_without_being_asked_meanwhile) {
    std::uint64_t frames = 0;
    const auto counting = source.add([&](status_snapshot& s) {
        s.streams.push_back(named_stream("counting"));
        s.streams.back().rx_frame_count = frames += 100;
    });
    serve();
    const auto looks = [&] { return frames / 100; };
    EXPECT_TRUE(pump([&] { return looks() >= 4; })); // twice a second
    const auto stream = json_of(answer("/status/streams/counting"));
    EXPECT_TRUE(stream.at("rates").at("frames_per_second").at("last_1s").is_number()) << stream;
}

} // namespace

#include "status_server_fixture.hpp"

#include <boost/json/array.hpp>

#include <chrono>
#include <limits>
#include <stdexcept>

namespace {

using namespace rocio;
using namespace rocio::test;
namespace json = boost::json;
using namespace std::chrono_literals;

class status_request : public status_server_fixture {
  protected:
    status_request() { serve(); }
};

TEST_F(status_request, for_status_gets_json_that_no_cache_keeps) {
    const auto shown = source.add([](status_snapshot& s) { s.streams.push_back(named_stream("camera")); });
    auto c = client();
    const auto r = get(c, "/status");
    EXPECT_EQ(r.status, 200U);
    EXPECT_EQ(r.header("cache-control"), "no-store");
    EXPECT_EQ(r.header("x-content-type-options"), "nosniff");
    EXPECT_THAT(r.header("server"), testing::StartsWith("rocio/"));
    EXPECT_EQ(json_of(r).at("streams").at(0).at("name"), "camera");
}

TEST_F(status_request, for_a_part_gets_that_part) {
    const auto shown = source.add([](status_snapshot& s) { s.streams.push_back(named_stream("camera")); });
    auto c = client();
    EXPECT_EQ(json_of(get(c, "/status/streams")).at(0).at("name"), "camera");
}

TEST_F(status_request, for_healthz_gets_ok) {
    auto c = client();
    const auto r = get(c, "/healthz");
    EXPECT_EQ(r.status, 200U);
    EXPECT_EQ(r.body, "ok");
}

TEST_F(status_request, for_something_else_gets_404_in_json) {
    auto c = client();
    const auto r = get(c, "/favicon.ico");
    EXPECT_EQ(r.status, 404U);
    EXPECT_EQ(json_of(r).at("path"), "/favicon.ico");
}

TEST_F(status_request, shows_values_of_the_moment_it_is_made) {
    serve({.routes = {.snapshot_age = 0ms}});
    std::uint64_t frames = 1;
    const auto shown = source.add([&](status_snapshot& s) {
        s.streams.push_back(named_stream("camera"));
        s.streams.back().rx_frame_count = frames;
    });
    auto c = client();
    EXPECT_EQ(json_of(get(c, "/status/streams")).at(0).at("rx_frame_count"), 1);
    frames = 2;
    EXPECT_EQ(json_of(get(c, "/status/streams")).at(0).at("rx_frame_count"), 2);
}

TEST_F(status_request, gets_valid_json_of_any_names_and_exact_counters) {
    const auto shown = source.add([](status_snapshot& s) {
        s.streams.push_back(named_stream("a\"b\nc\xFF"));
        s.streams.back().rx_frame_count = (std::uint64_t{1} << 53) + 1;
        s.streams.back().rx_byte_count = std::numeric_limits<std::uint64_t>::max();
    });
    auto c = client();
    const auto stream = json_of(get(c, "/status")).at("streams").at(0);
    EXPECT_EQ(stream.at("name"), "a\"b\nc\xEF\xBF\xBD");
    EXPECT_EQ(stream.at("rx_frame_count").to_number<std::uint64_t>(), 9007199254740993U);
    EXPECT_EQ(stream.at("rx_byte_count").as_uint64(), 18446744073709551615U);
}

TEST_F(status_request, with_head_gets_the_fields_alone_and_the_connection_goes_on) {
    for (const auto* path : {"/healthz", "/status", "/none"}) {
        auto c = client();
        const auto with_body = get(c, path);
        c.send("HEAD " + std::string(path) + " HTTP/1.1\r\nHost: test\r\n\r\n");
        const auto r = response(c, true);
        EXPECT_EQ(r.status, with_body.status);
        EXPECT_EQ(r.header("content-type"), with_body.header("content-type"));
        EXPECT_GT(std::stoul(r.header("content-length")), 0U);
        EXPECT_EQ(get(c, "/healthz").body, "ok") << "a body was sent";
    }
}

TEST_F(status_request, with_another_method_gets_405_and_the_connection_goes_on) {
    auto c = client();
    for (const auto* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"}) {
        for (const auto* path : {"/status", "/healthz", "/none"}) {
            c.send(std::string(method) + " " + path + " HTTP/1.1\r\nHost: test\r\n\r\n");
            const auto r = response(c);
            EXPECT_EQ(r.status, 405U) << method << path;
            EXPECT_EQ(r.header("allow"), "GET, HEAD");
            EXPECT_EQ(json_of(r).at("status"), 405);
        }
    }
    EXPECT_EQ(get(c, "/healthz").status, 200U);
    EXPECT_EQ(server->snapshot().accepted, 1U);
}

TEST_F(status_request, of_a_provider_that_throws_gets_500_and_the_server_goes_on) {
    auto failing = source.add([](status_snapshot&) { throw std::runtime_error("device went away"); });
    auto c = client();
    const auto r = get(c, "/status");
    EXPECT_EQ(r.status, 500U);
    EXPECT_EQ(json_of(r).at("error"), "device went away");
    failing.reset();
    EXPECT_EQ(get(c, "/status").status, 200U);
}

TEST_F(status_request, with_connection_close_is_the_last) {
    auto c = client();
    c.send("GET /healthz HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\nGET /healthz HTTP/1.1\r\nHost: "
           "test\r\n\r\n");
    EXPECT_EQ(response(c).header("connection"), "close");
    EXPECT_TRUE(closes(c));
}

TEST_F(status_request, in_http_1_0_is_the_last_unless_it_asks_to_go_on) {
    auto once = client();
    once.send("GET /healthz HTTP/1.0\r\n\r\n");
    EXPECT_EQ(response(once).body, "ok");
    EXPECT_TRUE(closes(once));

    auto kept = client();
    for (int i = 0; i < 2; ++i) {
        kept.send("GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        EXPECT_EQ(response(kept).body, "ok");
    }
}

TEST_F(status_request, cut_into_single_bytes_is_answered_all_the_same) {
    auto c = client();
    for (const char byte : std::string_view("GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n")) {
        c.send({&byte, 1});
        context.poll();
    }
    EXPECT_EQ(response(c).body, "ok");
}

TEST_F(status_request, pipelined_fifty_times_in_one_segment_gets_fifty_answers_in_order) {
    auto c = client();
    std::string all;
    for (int i = 0; i < 50; ++i) all += "GET /x" + std::to_string(i) + " HTTP/1.1\r\nHost: test\r\n\r\n";
    c.send(all);
    for (int i = 0; i < 50; ++i)
        EXPECT_EQ(json_of(response(c)).at("path").as_string(), "/x" + std::to_string(i));
    EXPECT_EQ(server->snapshot().requests, 50U);
}

TEST_F(status_request, pipelined_beyond_what_the_server_buffers_gets_every_answer) {
    auto c = client();
    std::string all;
    for (int i = 0; i < 2000; ++i) all += "GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n";
    c.send(all);
    for (int i = 0; i < 2000; ++i) ASSERT_EQ(response(c).body, "ok") << i;
}

TEST_F(status_request, after_which_the_client_sends_its_fin_is_still_answered) {
    auto c = client();
    c.get("/healthz");
    c.finish_sending();
    EXPECT_EQ(response(c).body, "ok");
    EXPECT_TRUE(closes(c));
}

} // namespace

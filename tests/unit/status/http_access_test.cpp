#include "status/http_access.hpp"

#include <gmock/gmock.h>

#include <string>

namespace {

using namespace rocio;
using namespace rocio::detail;

std::string field(const http_found& found, const std::string& name) {
    for (const auto& [key, value] : found.fields) {
        if (key == name) return value;
    }
    return {};
}

/// 0: goes on to the path.
unsigned status_of(const http_question& question, const status_routes_config& config) {
    const auto refusal = refuse(question, config);
    return refusal ? refusal->status : 0;
}

TEST(http_access, knows_numeric_hosts_localhost_and_the_names_it_is_told) {
    for (const auto* host : {"", "127.0.0.1", "127.0.0.1:8080", "10.1.2.3:1", "[::1]", "[::1]:8080",
                             "localhost", "LocalHost:80", "daq", "DAQ:8080"}) {
        EXPECT_TRUE(is_known_host(host, {"Daq"})) << host;
    }
    for (const auto* host : {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "daq2",
                             "::1", "[::1", "127.0.0.1:80:80", "daq, 127.0.0.1", "127.1"}) {
        EXPECT_FALSE(is_known_host(host, {"Daq"})) << host;
    }
}

TEST(http_access, refuses_a_foreign_host_with_421_where_only_known_ones_are_served) {
    const http_question question{.target = "/healthz", .host = "evil.example"};
    EXPECT_EQ(status_of(question, {.only_known_hosts = true}), 421U);
    EXPECT_EQ(status_of(question, {}), 0U);
}

TEST(http_access, wants_its_token_for_everything_but_health_and_page) {
    const status_routes_config config{.token = "s3cret"};
    for (const auto* target : {"/status", "/metrics", "/events", "/readyz", "/none", "/status/streams?x=1"}) {
        const http_question question{.target = target};
        const auto refusal = refuse(question, config);
        ASSERT_TRUE(refusal) << target;
        EXPECT_EQ(refusal->status, 401U);
        EXPECT_EQ(field(*refusal, "WWW-Authenticate"), "Bearer realm=\"rocio\"");
    }
    for (const auto* target : {"/healthz", "/", "/?x"}) {
        EXPECT_EQ(status_of({.target = target}, config), 0U) << target;
    }
}

TEST(http_access, takes_only_the_whole_token_in_a_bearer_scheme) {
    for (const auto* right : {"Bearer s3cret", "bearer s3cret", "BEARER  s3cret "}) {
        EXPECT_TRUE(is_authorized(right, "s3cret")) << right;
    }
    for (const auto* wrong : {"", "Bearer", "Bearer ", "Bearer s3cre", "Bearer s3crets", "Bearer S3CRET",
                              "Basic s3cret", "s3cret", "Bearers3cret", "Bearer s3cret, Bearer s3cret"}) {
        EXPECT_FALSE(is_authorized(wrong, "s3cret")) << wrong;
    }
}

TEST(http_access, refuses_every_method_but_get_and_head) {
    for (const auto* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "get"}) {
        const auto refusal = refuse({.method = method, .target = "/status"}, {});
        ASSERT_TRUE(refusal) << method;
        EXPECT_EQ(refusal->status, 405U);
        EXPECT_EQ(field(*refusal, "Allow"), "GET, HEAD");
    }
    EXPECT_EQ(status_of({.method = "HEAD", .target = "/status"}, {}), 0U);
}

TEST(http_access, answers_a_preflight_only_where_an_origin_is_allowed) {
    const http_question preflight{.method = "OPTIONS", .target = "/status"};
    const status_routes_config config{.token = "s3cret", .allow_origin = "https://grafana.example"};
    const auto allowed = refuse(preflight, config);
    ASSERT_TRUE(allowed);
    EXPECT_EQ(allowed->status, 204U);
    EXPECT_EQ(field(*allowed, "Access-Control-Allow-Methods"), "GET, HEAD");
    const auto posted = refuse({.method = "POST", .target = "/status"}, config);
    ASSERT_TRUE(posted);
    EXPECT_EQ(field(*posted, "Allow"), "GET, HEAD, OPTIONS");
}

} // namespace

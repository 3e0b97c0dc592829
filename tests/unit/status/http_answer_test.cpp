#include "named_stream.hpp"
#include "status/http_front.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/json/parse.hpp>
#include <gmock/gmock.h>

#include <chrono>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace {

using namespace rocio;
using namespace rocio::detail;
using namespace std::chrono_literals;
namespace json = boost::json;
using testing::HasSubstr;

std::string field(const http_answer& answer, const std::string& name) {
    for (const auto& [key, value] : answer.fields) {
        if (key == name) return value;
    }
    return {};
}

json::value body_of(const http_answer& answer) {
    EXPECT_EQ(field(answer, "Content-Type"), "application/json");
    return json::parse(answer.body);
}

class http_answer_for : public testing::Test {
  protected:
    asio::io_context context{1};
    status_source source{"test program"};
    status_registration shown =
        source.add([](status_snapshot& s) { s.streams.push_back(test::named_stream("camera")); });
    status_routes_config config{.snapshot_age = 0ms};

    http_answer ask(http_question question) {
        std::optional<http_answer> result;
        const auto front = std::make_shared<http_front>(source, config);
        asio::co_spawn(
            asio::any_io_executor(asio::make_strand(asio::any_io_executor(context.get_executor()))),
            front->answer(std::move(question)), [&](const std::exception_ptr& failure, http_answer answer) {
                EXPECT_FALSE(failure);
                result = std::move(answer);
            });
        context.restart();
        context.run();
        return std::move(result).value();
    }
    http_answer get(std::string target) { return ask({.target = std::move(target)}); }
};

TEST_F(http_answer_for, status_is_the_whole_document) {
    const auto answer = get("/status");
    EXPECT_EQ(answer.status, 200U);
    EXPECT_EQ(body_of(answer).at("streams").at(0).at("name"), "camera");
    EXPECT_EQ(body_of(answer).at("process").at("name"), "test program");
}

TEST_F(http_answer_for, a_part_is_that_part_alone) {
    EXPECT_EQ(body_of(get("/status/streams")).at(0).at("name"), "camera");
    EXPECT_TRUE(body_of(get("/status/engines")).as_array().empty());
    EXPECT_TRUE(body_of(get("/status/devices")).as_array().empty());
    EXPECT_TRUE(body_of(get("/status/process")).as_object().contains("pid"));
}

TEST_F(http_answer_for, an_element_is_found_by_index_and_by_name) {
    EXPECT_EQ(body_of(get("/status/streams/0")).at("name"), "camera");
    EXPECT_EQ(body_of(get("/status/streams/camera")).at("name"), "camera");
    EXPECT_EQ(body_of(get("/status/streams/camera/rx_frame_count")), 0);
    EXPECT_EQ(get("/status/streams/1").status, 404U);
    EXPECT_EQ(get("/status/streams/none").status, 404U);
}

TEST_F(http_answer_for, healthz_is_ok_and_asks_no_provider) {
    const auto failing = source.add([](status_snapshot&) { throw std::runtime_error("asked"); });
    const auto answer = get("/healthz");
    EXPECT_EQ(answer.status, 200U);
    EXPECT_EQ(answer.body, "ok");
    EXPECT_EQ(field(answer, "Content-Type"), "text/plain");
}

TEST_F(http_answer_for, readyz_is_503_with_the_reasons_while_something_is_stale) {
    EXPECT_EQ(get("/readyz").status, 200U);
    EXPECT_EQ(body_of(get("/readyz")), (json::value{{"ready", true}, {"why", json::array()}}));
    const auto stale = source.add([](status_snapshot& s) { s.stale.push_back({"plane", 1s, "it is late"}); });
    const auto answer = get("/readyz");
    EXPECT_EQ(answer.status, 503U);
    EXPECT_EQ(body_of(answer), (json::value{{"ready", false}, {"why", json::array{"plane: it is late"}}}));
}

TEST_F(http_answer_for, readyz_asks_the_program_too) {
    std::string reason = "no beam";
    config.not_ready = [&](const status_snapshot& s) { return s.streams.empty() ? std::string() : reason; };
    EXPECT_EQ(get("/readyz").status, 503U);
    EXPECT_EQ(body_of(get("/readyz")).at("why").at(0), "no beam");
    reason.clear();
    EXPECT_EQ(get("/readyz").status, 200U);
}

TEST_F(http_answer_for, metrics_is_prometheus_text) {
    const auto answer = get("/metrics");
    EXPECT_EQ(answer.status, 200U);
    EXPECT_EQ(field(answer, "Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
    EXPECT_THAT(answer.body, HasSubstr("# TYPE rocio_"));
}

TEST_F(http_answer_for, the_root_is_a_page_that_may_ask_this_server_alone) {
    const auto answer = get("/");
    EXPECT_EQ(answer.status, 200U);
    EXPECT_EQ(field(answer, "Content-Type"), "text/html; charset=utf-8");
    EXPECT_THAT(field(answer, "Content-Security-Policy"),
                testing::AllOf(HasSubstr("default-src 'none'"), HasSubstr("connect-src 'self'")));
    EXPECT_THAT(answer.body, HasSubstr("<html"));
}

TEST_F(http_answer_for, a_query_makes_no_difference) {
    EXPECT_EQ(get("/status?now=1").status, 200U);
    EXPECT_EQ(get("/status/streams?").status, 200U);
    EXPECT_EQ(get("/healthz?a=/status").body, "ok");
}

TEST_F(http_answer_for, anything_else_is_404_with_the_paths_there_are) {
    for (const auto* target : {"", "*", "/statu", "/statuss", "/status/", "/status/none", "/status/streams/",
                               "/status/streams/00", "/status/streams/-1", "/status/%", "/STATUS", "//status",
                               "/status/../healthz", "http://host/status", "?/status"}) {
        const auto answer = get(target);
        EXPECT_EQ(answer.status, 404U) << target;
        EXPECT_EQ(body_of(answer).at("status"), 404) << target;
    }
    EXPECT_EQ(body_of(get("/none?x=1")).at("path"), "/none");
    const auto paths = body_of(get("/none")).at("paths").as_array();
    for (const auto& path : paths) {
        if (path == "/events") continue;
        EXPECT_EQ(get(path.as_string().c_str()).status, 200U) << path;
    }
    EXPECT_THAT(paths, testing::IsSupersetOf({json::value("/status"), json::value("/metrics"),
                                              json::value("/events"), json::value("/status/streams")}));
}

TEST_F(http_answer_for, a_path_of_any_bytes_is_valid_json) {
    EXPECT_EQ(body_of(get("/\xFF\"\n")).at("path"), "/\xEF\xBF\xBD\"\n");
}

TEST_F(http_answer_for, a_provider_that_throws_is_500_with_its_reason) {
    const auto failing = source.add([](status_snapshot&) { throw std::runtime_error("device went away"); });
    for (const auto* target : {"/status", "/status/streams", "/metrics", "/readyz"}) {
        const auto answer = get(target);
        EXPECT_EQ(answer.status, 500U);
        EXPECT_EQ(body_of(answer).at("error"), "device went away");
    }
}

TEST_F(http_answer_for, a_part_without_times_is_not_sent_again_to_who_has_it) {
    const auto first = get("/status/streams");
    const auto tag = field(first, "ETag");
    ASSERT_THAT(tag, testing::MatchesRegex("\"[0-9a-f]+-[0-9a-f]+\""));
    EXPECT_EQ(field(first, "Cache-Control"), "no-cache");
    for (const auto& wanted : {tag, "\"other\", " + tag, "W/" + tag, std::string("*")}) {
        const auto again = ask({.target = "/status/streams", .if_none_match = wanted});
        EXPECT_EQ(again.status, 304U) << wanted;
        EXPECT_TRUE(again.body.empty());
        EXPECT_EQ(field(again, "ETag"), tag);
    }
    EXPECT_EQ(ask({.target = "/status/streams", .if_none_match = "\"other\""}).status, 200U);
    const auto more =
        source.add([](status_snapshot& s) { s.streams.push_back(test::named_stream("second")); });
    EXPECT_EQ(ask({.target = "/status/streams", .if_none_match = tag}).status, 200U);
}

TEST_F(http_answer_for, what_holds_the_time_is_kept_by_no_cache) {
    for (const auto* target : {"/status", "/status/process", "/metrics", "/healthz", "/readyz", "/none"}) {
        const auto answer = ask({.target = target, .if_none_match = "*"});
        EXPECT_NE(answer.status, 304U) << target;
        EXPECT_EQ(field(answer, "ETag"), "") << target;
        EXPECT_EQ(field(answer, "Cache-Control"), "no-store") << target;
    }
}

TEST_F(http_answer_for, a_client_that_takes_gzip_is_packed_and_has_another_tag) {
    const auto plain = get("/");
    const auto packed = ask({.target = "/", .accept_encoding = "br, gzip"});
    EXPECT_EQ(field(plain, "Content-Encoding"), "");
    EXPECT_EQ(field(packed, "Content-Encoding"), "gzip");
    EXPECT_LT(packed.body.size(), plain.body.size());
    EXPECT_NE(field(packed, "ETag"), field(plain, "ETag"));
    for (const auto* answer : {&plain, &packed}) EXPECT_EQ(field(*answer, "Vary"), "Accept-Encoding");
    const auto tag = field(packed, "ETag");
    EXPECT_EQ(ask({.target = "/", .accept_encoding = "gzip", .if_none_match = tag}).status, 304U);
    EXPECT_EQ(ask({.target = "/", .if_none_match = tag}).status, 200U);
}

TEST_F(http_answer_for, a_short_body_is_not_packed) {
    const auto answer = ask({.target = "/healthz", .accept_encoding = "gzip"});
    EXPECT_EQ(field(answer, "Content-Encoding"), "");
    EXPECT_EQ(answer.body, "ok");
}

TEST(error_found, has_text_and_status) {
    const auto found = error_found(431, "too \"long\"");
    EXPECT_EQ(found.status, 431U);
    EXPECT_EQ(json::parse(found.content->text()), (json::value{{"error", "too \"long\""}, {"status", 431}}));
}

} // namespace

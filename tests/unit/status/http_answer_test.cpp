#include "named_stream.hpp"
#include "status/http_answer.hpp"

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>

#include <stdexcept>
#include <string>

namespace {

using namespace rocio;
using namespace rocio::detail;
namespace json = boost::json;

json::value body_of(const http_answer& answer) {
    EXPECT_EQ(answer.content_type, "application/json");
    return json::parse(answer.body);
}

class http_answer_for : public testing::Test {
  protected:
    status_source source;
    status_registration shown =
        source.add([](status_snapshot& s) { s.streams.push_back(test::named_stream("camera")); });

    http_answer get(std::string_view target) const { return answer_get(target, source); }
};

TEST_F(http_answer_for, status_is_the_whole_document) {
    const auto answer = get("/status");
    EXPECT_EQ(answer.status, 200U);
    EXPECT_EQ(body_of(answer).at("streams").at(0).at("name"), "camera");
    EXPECT_TRUE(body_of(answer).at("process").is_object());
}

TEST_F(http_answer_for, a_part_is_that_part_alone) {
    EXPECT_EQ(body_of(get("/status/streams")).at(0).at("name"), "camera");
    EXPECT_TRUE(body_of(get("/status/engines")).as_array().empty());
    EXPECT_TRUE(body_of(get("/status/devices")).as_array().empty());
    EXPECT_TRUE(body_of(get("/status/process")).as_object().contains("pid"));
}

TEST_F(http_answer_for, healthz_is_ok_and_asks_no_provider) {
    const auto failing = source.add([](status_snapshot&) { throw std::runtime_error("asked"); });
    const auto answer = get("/healthz");
    EXPECT_EQ(answer.status, 200U);
    EXPECT_EQ(answer.body, "ok");
    EXPECT_EQ(answer.content_type, "text/plain");
}

TEST_F(http_answer_for, a_query_makes_no_difference) {
    EXPECT_EQ(get("/status?now=1").status, 200U);
    EXPECT_EQ(get("/status/streams?").status, 200U);
    EXPECT_EQ(get("/healthz?a=/status").body, "ok");
}

TEST_F(http_answer_for, anything_else_is_404_with_the_paths_there_are) {
    for (const auto* target :
         {"", "/", "*", "/statu", "/statuss", "/status/", "/status/none", "/status/streams/0", "/STATUS",
          "//status", "/status/../healthz", "http://host/status", "?/status"}) {
        const auto answer = get(target);
        EXPECT_EQ(answer.status, 404U) << target;
        EXPECT_EQ(body_of(answer).at("status"), 404) << target;
    }
    EXPECT_EQ(body_of(get("/none?x=1")).at("path"), "/none");
    EXPECT_EQ(body_of(get("/none")).at("paths"),
              (json::array{"/status", "/healthz", "/status/process", "/status/engines", "/status/devices",
                           "/status/streams", "/status/fpgas"}));
}

TEST_F(http_answer_for, a_path_of_any_bytes_is_valid_json) {
    EXPECT_EQ(body_of(get("/\xFF\"\n")).at("path"), "/\xEF\xBF\xBD\"\n");
}

TEST_F(http_answer_for, a_provider_that_throws_is_500_with_its_reason) {
    const auto failing = source.add([](status_snapshot&) { throw std::runtime_error("device went away"); });
    const auto answer = get("/status");
    EXPECT_EQ(answer.status, 500U);
    EXPECT_EQ(body_of(answer).at("error"), "device went away");
}

TEST(error_answer, has_text_and_status) {
    const auto answer = error_answer(431, "too \"long\"");
    EXPECT_EQ(answer.status, 431U);
    EXPECT_EQ(body_of(answer), (json::value{{"error", "too \"long\""}, {"status", 431}}));
}

} // namespace

#include "status/http_path.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>

#include <optional>
#include <string>

namespace {

using namespace rocio::detail;
namespace json = boost::json;

const json::object& document() {
    static const auto parsed =
        json::parse(R"({"a": {"b": [10, {"name": "x/y", "n": 1}, {"name": "1", "n": 2}]},
        "": 5, "a b": 6, "null": null,
        "deep": {"1": {"2": {"3": {"4": {"5": {"6": {"7": {"8": 0}}}}}}}}})");
    return parsed.as_object();
}

std::string at(std::string_view path) {
    const auto* found = find_part(document(), path);
    return found ? json::serialize(*found) : "nothing";
}

TEST(http_path, leads_through_members_and_elements) {
    EXPECT_EQ(at("a/b/0"), "10");
    EXPECT_EQ(at("a/b/1/n"), "1");
    EXPECT_EQ(at("null"), "null");
    EXPECT_EQ(at(""), "5");
}

TEST(http_path, names_an_element_percent_encoded_where_it_must_be) {
    EXPECT_EQ(at("a/b/x%2Fy/n"), "1");
    EXPECT_EQ(at("a/b/x%2fy/n"), "1");
    EXPECT_EQ(at("a%20b"), "6");
}

TEST(http_path, takes_a_number_for_an_index_even_if_one_is_called_so) {
    EXPECT_EQ(at("a/b/1/name"), "\"x/y\"");
}

TEST(http_path, ends_in_nothing_where_there_is_nothing) {
    for (const auto* path :
         {"b", "a/c", "a/b/3", "a/b/01", "a/b/-1", "a/b/1e0", "a/b/99999999999999999999", "a/b/x", "a/b/0/0",
          "a/", "/a", "a//b", "null/x", "%", "%4", "%zz", "%+1", "A"}) {
        EXPECT_EQ(at(path), "nothing") << path;
    }
}

TEST(http_path, goes_no_deeper_than_its_limit) {
    EXPECT_NE(at("deep/1/2/3/4/5/6/7"), "nothing");
    EXPECT_EQ(at("deep/1/2/3/4/5/6/7/8"), "nothing");
}

TEST(percent_decoded, takes_two_hex_digits) {
    EXPECT_EQ(percent_decoded("a%41%00z"), std::string("aA\0z", 4));
    EXPECT_EQ(percent_decoded("%"), std::nullopt);
    EXPECT_EQ(percent_decoded("%4g"), std::nullopt);
}

} // namespace

#include "status/merge_patch.hpp"

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>

#include <string>

namespace {

using rocio::detail::merge_patch;
namespace json = boost::json;

json::value object(const char* text) {
    return json::parse(text);
}

json::value patch_of(const char* from, const char* to) {
    return merge_patch(object(from).as_object(), object(to).as_object());
}

/// MergePatch of RFC 7396, section 2.
json::value patched(json::value target, const json::value& patch) {
    if (!patch.is_object()) return patch;
    if (!target.is_object()) target = json::object();
    auto& members = target.as_object();
    for (const auto& [name, value] : patch.as_object()) {
        if (value.is_null()) {
            members.erase(name);
        } else {
            members[name] = patched(members.contains(name) ? members[name] : json::value(), value);
        }
    }
    return target;
}

TEST(merge_patch, of_the_same_is_empty) {
    EXPECT_EQ(patch_of(R"({"a": 1, "b": {"c": [1]}})", R"({"b": {"c": [1]}, "a": 1})"), object("{}"));
}

TEST(merge_patch, has_what_changed_and_no_more) {
    EXPECT_EQ(patch_of(R"({"a": 1, "b": {"c": 1, "d": 2}, "e": [1, 2]})",
                       R"({"a": 1, "b": {"c": 1, "d": 3}, "e": [1, 3]})"),
              object(R"({"b": {"d": 3}, "e": [1, 3]})"));
}

TEST(merge_patch, has_null_for_what_is_gone) {
    EXPECT_EQ(patch_of(R"({"a": 1, "b": {"c": 1}})", R"({"b": {}})"),
              object(R"({"a": null, "b": {"c": null}})"));
}

TEST(merge_patch, makes_the_one_of_the_other) {
    for (const auto& [from, to] :
         {std::pair{R"({})", R"({"a": {"b": {"c": [1, {"d": 2}]}}})"},
          std::pair{R"({"a": {"b": 1}})", R"({"a": [1]})"}, std::pair{R"({"a": [1]})", R"({"a": {"b": 1}})"},
          std::pair{R"({"a": 1, "b": 2})", R"({"b": "2", "c": true})"},
          std::pair{R"({"a": {"b": {"c": 1}}})", R"({"a": {"b": {}}})"}}) {
        EXPECT_EQ(patched(object(from), patch_of(from, to)), object(to)) << from << " to " << to;
    }
}

TEST(merge_patch, keeps_64_bit_counters_exact) {
    EXPECT_EQ(
        patch_of(R"({"n": 18446744073709551614})", R"({"n": 18446744073709551615})").at("n").as_uint64(),
        18446744073709551615U);
}

} // namespace

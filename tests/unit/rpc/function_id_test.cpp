#include <rocio/rpc/function_id.hpp>

#include <gtest/gtest.h>

#include <string>

namespace rocio::rpc {
namespace {

TEST(function_id_test, hashes_the_names_of_the_original) {
    EXPECT_EQ(fnv1a("rpc_increment"), 0x191b6322U);
    EXPECT_EQ(fnv1a("addThem"), 0x5a6c901eU);
    EXPECT_EQ(fnv1a("noop"), 0xa6ab766dU);
    EXPECT_EQ(fnv1a("mock_decode"), 0x6c45a6d6U);
    EXPECT_EQ(fnv1a("no_such_function"), 0xb18ae409U);
}

TEST(function_id_test, hashes_the_published_vectors_of_fnv1a) {
    EXPECT_EQ(fnv1a(""), 0x811c9dc5U);
    EXPECT_EQ(fnv1a("a"), 0xe40c292cU);
    EXPECT_EQ(fnv1a("foobar"), 0xbf9cf968U);
}

TEST(function_id_test, sign_extends_bytes_above_0x7f) {
    // One step by hand, with 0xE9 as int(char) = -23.
    EXPECT_EQ(fnv1a("\xE9"), (2166136261U ^ 0xFFFFFFE9U) * 16777619U);
    EXPECT_NE(fnv1a("\xE9"), (2166136261U ^ 0x000000E9U) * 16777619U);
}

TEST(function_id_test, counts_a_nul_inside_a_name_and_none_behind_it) {
    EXPECT_NE(fnv1a(std::string_view("ab\0", 3)), fnv1a("ab"));
    EXPECT_EQ(fnv1a(std::string("ab").c_str()), fnv1a(std::string_view("ab")));
}

TEST(function_id_test, is_made_at_compile_time) {
    constexpr function_id id = "addThem";
    static_assert(id.value() == 0x5a6c901e);
    static_assert(id == function_id(0x5a6c901eU));
    EXPECT_EQ(id, function_id(std::string("addThem")));
}

TEST(function_id_test, is_not_made_of_a_number_by_accident) {
    static_assert(!std::is_convertible_v<std::uint32_t, function_id>);
    static_assert(std::is_convertible_v<const char*, function_id>);
    static_assert(std::is_convertible_v<std::string, function_id> ||
                  std::is_constructible_v<function_id, std::string>);
    EXPECT_LT(function_id(1U), function_id(2U));
}

} // namespace
} // namespace rocio::rpc

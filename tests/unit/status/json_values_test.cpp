#include <rocio/status/json_values.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace {

using namespace rocio;
namespace json = boost::json;

constexpr std::string_view replaced = "\xEF\xBF\xBD";

std::string text(std::string_view from) {
    const auto made = json_text(from);
    return {made.data(), made.size()};
}

std::string times(std::size_t n) {
    std::string result;
    for (std::size_t i = 0; i < n; ++i) result += replaced;
    return result;
}

/// What a reader of the serialised text sees; Boost's parser refuses text that is not UTF-8.
std::string read_back(std::string_view from) {
    const auto parsed = json::parse(json::serialize(json::value(json_text(from))));
    return {parsed.as_string().data(), parsed.as_string().size()};
}

TEST(json_text, keeps_well_formed_text_of_every_sequence_length) {
    for (const auto* good :
         {"", "mlx5_0", "caf\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xEF\xBF\xBD", "\xC2\x80",
          "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
        EXPECT_EQ(text(good), good);
        EXPECT_EQ(read_back(good), good);
    }
}

TEST(json_text, replaces_each_byte_that_is_in_no_sequence) {
    EXPECT_EQ(text("a\xFF"
                   "b"),
              "a" + times(1) + "b");
    EXPECT_EQ(text("\x80\xBF"), times(2));
    EXPECT_EQ(text("\xC3("), times(1) + "(");
    EXPECT_EQ(text("\xFE\xFF\xC0\xC1\xF5"), times(5));
}

TEST(json_text, replaces_a_sequence_cut_off_by_the_end) {
    EXPECT_EQ(text("x\xE2\x82"), "x" + times(2));
    EXPECT_EQ(text("\xF0\x9F\x98"), times(3));
    EXPECT_EQ(text("\xC3"), times(1));
}

TEST(json_text, replaces_overlong_forms_surrogates_and_what_is_past_the_last_code_point) {
    EXPECT_EQ(text("\xC0\xAF"), times(2));
    EXPECT_EQ(text("\xE0\x9F\xBF"), times(3));
    EXPECT_EQ(text("\xF0\x8F\xBF\xBF"), times(4));
    EXPECT_EQ(text("\xED\xA0\x80"), times(3));
    EXPECT_EQ(text("\xF4\x90\x80\x80"), times(4));
}

TEST(json_text, with_any_single_byte_serialises_to_what_a_strict_parser_takes) {
    for (int byte = 0; byte < 256; ++byte) {
        const std::string name{'a', static_cast<char>(byte), 'z'};
        const auto seen = read_back(name);
        EXPECT_EQ(seen, byte < 0x80 ? name : "a" + times(1) + "z") << byte;
    }
}

TEST(json_text, escapes_quotes_newlines_and_zero_bytes_when_serialised) {
    const std::string name("q\"\\\n\t\0end", 9);
    const auto serialised = json::serialize(json::value(json_text(name)));
    EXPECT_EQ(serialised, R"("q\"\\\n\t\u0000end")");
    EXPECT_EQ(read_back(name), name);
}

TEST(json_number, is_null_for_what_json_cannot_spell) {
    using limits = std::numeric_limits<double>;
    EXPECT_TRUE(json_number(limits::quiet_NaN()).is_null());
    EXPECT_TRUE(json_number(-limits::quiet_NaN()).is_null());
    EXPECT_TRUE(json_number(limits::infinity()).is_null());
    EXPECT_TRUE(json_number(-limits::infinity()).is_null());
    EXPECT_EQ(json_number(-1.5), json::value(-1.5));
    EXPECT_EQ(json_number(limits::max()), json::value(limits::max()));
}

TEST(json_hex, is_padded_with_zeros_and_never_cut) {
    EXPECT_EQ(json_hex(0, 8), "0x00000000");
    EXPECT_EQ(json_hex(0xDEADBEEF, 8), "0xdeadbeef");
    EXPECT_EQ(json_hex(0xDEADBEEFCAFE, 16), "0x0000deadbeefcafe");
    EXPECT_EQ(json_hex(0x123456789, 8), "0x123456789");
    EXPECT_EQ(json_hex(std::numeric_limits<std::uint64_t>::max(), 16), "0xffffffffffffffff");
}

} // namespace

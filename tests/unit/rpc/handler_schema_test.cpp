#include "hex.hpp"

#include <rocio/rpc/handler_schema.hpp>
#include <rocio/rpc/signature.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace rocio::rpc {
namespace {

using ::testing::HasSubstr;

const handler_schema sample = schema_of<std::tuple<std::int64_t, float>(std::int32_t, std::array<double, 3>,
                                                                        std::vector<std::uint8_t>)>();

TEST(type_id_test, has_the_numbers_of_the_original) {
    EXPECT_EQ(static_cast<int>(type_id::uint8), 0x10);
    EXPECT_EQ(static_cast<int>(type_id::int32), 0x11);
    EXPECT_EQ(static_cast<int>(type_id::int64), 0x12);
    EXPECT_EQ(static_cast<int>(type_id::float32), 0x13);
    EXPECT_EQ(static_cast<int>(type_id::float64), 0x14);
    EXPECT_EQ(static_cast<int>(type_id::array_uint8), 0x20);
    EXPECT_EQ(static_cast<int>(type_id::array_int32), 0x21);
    EXPECT_EQ(static_cast<int>(type_id::array_float32), 0x22);
    EXPECT_EQ(static_cast<int>(type_id::array_float64), 0x23);
    EXPECT_EQ(static_cast<int>(type_id::bit_packed), 0x30);
}

TEST(type_id_test, knows_ten_types_and_no_other) {
    int known = 0;
    for (int n = 0; n < 256; ++n) {
        const auto id = static_cast<type_id>(n);
        EXPECT_EQ(element_size(id) == 0, std::string(name_of(id)) == "unknown") << n;
        if (element_size(id) > 0) ++known;
    }
    EXPECT_EQ(known, 10);
}

TEST(type_id_test, tells_sequences_from_scalars) {
    for (const auto id :
         {type_id::uint8, type_id::int32, type_id::int64, type_id::float32, type_id::float64}) {
        EXPECT_FALSE(is_sequence(id)) << name_of(id);
    }
    for (const auto id : {type_id::array_uint8, type_id::array_int32, type_id::array_float32,
                          type_id::array_float64, type_id::bit_packed}) {
        EXPECT_TRUE(is_sequence(id)) << name_of(id);
    }
}

TEST(length_rule_test, accepts_one_length_or_steps_beyond_it) {
    const length_rule exact{16, 0};
    EXPECT_TRUE(exact.accepts(16));
    EXPECT_FALSE(exact.accepts(15));
    EXPECT_FALSE(exact.accepts(17));
    const length_rule stepped{4, 8};
    EXPECT_TRUE(stepped.accepts(4));
    EXPECT_TRUE(stepped.accepts(12));
    EXPECT_TRUE(stepped.accepts(8004));
    for (const std::size_t n : {0, 3, 5, 8, 11, 13}) EXPECT_FALSE(stepped.accepts(n)) << n;
}

TEST(handler_schema_test, has_the_image_of_the_original) {
    const auto image = schema_of<std::int64_t(std::int64_t, std::array<std::int32_t, 5>)>().encode();
    std::string expected = "02010000"                  // counts, reserved
                           "120000000800000001000000"  // INT64, 8 bytes, 1
                           "210000001400000005000000"; // ARRAY_INT32, 20 bytes, 5
    expected += std::string(24UL * 6, '0');            // six unused arguments
    expected += "120000000800000001000000";            // INT64
    expected += std::string(24UL * 3, '0');            // three unused results
    EXPECT_EQ(image.size(), 148U);
    EXPECT_EQ(test::to_hex(image), expected);
}

TEST(handler_schema_test, comes_back_from_its_image) {
    const auto again = handler_schema::decode(sample.encode());
    ASSERT_TRUE(again);
    EXPECT_EQ(*again, sample);
}

TEST(handler_schema_test, is_decoded_from_148_bytes_only) {
    std::vector<std::byte> bytes(200);
    for (const std::size_t n : {0, 1, 147, 149, 200}) {
        EXPECT_FALSE(handler_schema::decode(std::span(bytes).first(n))) << n;
    }
    EXPECT_TRUE(handler_schema::decode(std::span(bytes).first(148)));
}

TEST(handler_schema_test, bounds_its_lists_whatever_the_counts_say) {
    handler_schema s;
    s.num_args = 255;
    s.num_results = 255;
    EXPECT_EQ(s.arguments_used().size(), 8U);
    EXPECT_EQ(s.results_used().size(), 4U);
    EXPECT_EQ(s.encode().size(), 148U);
}

TEST(handler_schema_test, knows_the_lengths_of_a_message) {
    EXPECT_EQ(sample.argument_length(), (length_rule{28, 1}));
    EXPECT_EQ(sample.result_length(), (length_rule{12, 0}));
    EXPECT_EQ(handler_schema{}.argument_length(), (length_rule{0, 0}));
}

TEST(handler_schema_test, compares_what_is_in_use) {
    auto other = sample;
    other.args[7] = {type_id::float64, 8, 1};
    EXPECT_EQ(other, sample);
    other.num_args = 8;
    EXPECT_FALSE(other == sample);
}

struct spoiled {
    const char* what;
    std::function<void(handler_schema&)> spoil;
    const char* names; ///< What the sentence must say.
};

void PrintTo(const spoiled& s, std::ostream* out) {
    *out << s.what;
}

class impossible_schema : public ::testing::TestWithParam<spoiled> {};

TEST_P(impossible_schema, is_refused_with_the_name_of_the_field) {
    auto s = sample;
    GetParam().spoil(s);
    const auto bad = validate(s);
    EXPECT_EQ(bad.code, rocio::errc::invalid_argument);
    EXPECT_THAT(bad.text, HasSubstr(GetParam().names));
}

INSTANTIATE_TEST_SUITE_P(
    every_field, impossible_schema,
    ::testing::Values(
        spoiled{"too many arguments", [](auto& s) { s.num_args = 9; }, "num_args is 9, allowed is 0 to 8"},
        spoiled{"too many results", [](auto& s) { s.num_results = 5; },
                "num_results is 5, allowed is 0 to 4"},
        spoiled{"no type", [](auto& s) { s.args[1].type = static_cast<type_id>(0x15); },
                "args[1].type_id is 21"},
        spoiled{"type 0", [](auto& s) { s.results[0].type = static_cast<type_id>(0); },
                "results[0].type_id is 0"},
        spoiled{"two of a scalar", [](auto& s) { s.args[0].num_elements = 2; }, "args[0].num_elements is 2"},
        spoiled{"none of a scalar", [](auto& s) { s.args[0].num_elements = 0; }, "args[0].num_elements is 0"},
        spoiled{"scalar too long", [](auto& s) { s.args[0].size_bytes = 8; }, "args[0].size_bytes is 8"},
        spoiled{"scalar without size", [](auto& s) { s.results[1].size_bytes = 0; },
                "results[1].size_bytes is 0"},
        spoiled{"array size", [](auto& s) { s.args[1].size_bytes = 23; },
                "args[1].size_bytes is 23, allowed is 24"},
        spoiled{"array count", [](auto& s) { s.args[1].num_elements = 4; }, "allowed is 32 for 4 elements"},
        spoiled{"count that wraps 32 bits", [](auto& s) { s.args[1].num_elements = 0x20000003; },
                "4294967320"},
        spoiled{"size without count", [](auto& s) { s.args[2].size_bytes = 5; }, "args[2].size_bytes is 5"},
        spoiled{"two variable arguments",
                [](auto& s) {
                    s.args[1] = {type_id::array_int32, 0, 0};
                },
                "args[2] is the second of variable size"},
        spoiled{"two variable results",
                [](auto& s) {
                    s.results[0] = {type_id::array_uint8, 0, 0};
                    s.results[1] = {type_id::bit_packed, 0, 0};
                },
                "results[1] is the second of variable size"},
        spoiled{"bits",
                [](auto& s) {
                    s.args[1] = {type_id::bit_packed, 1, 9};
                },
                "args[1].size_bytes is 1"}));

TEST(handler_schema_test, accepts_what_can_be) {
    EXPECT_FALSE(validate(sample));
    EXPECT_FALSE(validate(handler_schema{}));
    EXPECT_FALSE(validate(schema_of<std::bitset<9>(std::bitset<1>)>()));
}

TEST(handler_schema_test, accepts_the_schema_of_the_originals_increment) {
    handler_schema s;
    s.num_args = s.num_results = 1;
    s.args[0] = s.results[0] = {type_id::array_uint8, 0, 0};
    EXPECT_FALSE(validate(s));
    EXPECT_EQ(s, (schema_of<std::vector<std::uint8_t>(std::span<const std::uint8_t>)>()));
}

class different_schema : public ::testing::TestWithParam<spoiled> {};

TEST_P(different_schema, is_told_by_its_first_difference) {
    auto s = sample;
    GetParam().spoil(s);
    const auto bad = compare(sample, s);
    EXPECT_EQ(bad.code, rocio::errc::invalid_argument);
    EXPECT_THAT(bad.text, HasSubstr(GetParam().names));
}

INSTANTIATE_TEST_SUITE_P(
    every_field, different_schema,
    ::testing::Values(
        spoiled{"num_args", [](auto& s) { s.num_args = 2; }, "num_args is 2, wanted is 3"},
        spoiled{"num_results", [](auto& s) { s.num_results = 1; }, "num_results is 1, wanted is 2"},
        spoiled{"argument type", [](auto& s) { s.args[0].type = type_id::float32; },
                "args[0].type_id is FLOAT32 (19), wanted is INT32 (17)"},
        spoiled{"argument size", [](auto& s) { s.args[1].size_bytes = 16; },
                "args[1].size_bytes is 16, wanted is 24"},
        spoiled{"argument count", [](auto& s) { s.args[1].num_elements = 2; },
                "args[1].num_elements is 2, wanted is 3"},
        spoiled{"result type", [](auto& s) { s.results[1].type = type_id::int32; },
                "results[1].type_id is INT32"},
        spoiled{"result size", [](auto& s) { s.results[0].size_bytes = 4; }, "results[0].size_bytes is 4"},
        spoiled{"result count", [](auto& s) { s.results[0].num_elements = 0; },
                "results[0].num_elements is 0"}));

TEST(handler_schema_test, does_not_differ_from_itself) {
    EXPECT_FALSE(compare(sample, sample));
    auto other = sample;
    other.results[3] = {type_id::uint8, 1, 1}; // unused
    EXPECT_FALSE(compare(sample, other));
}

} // namespace
} // namespace rocio::rpc

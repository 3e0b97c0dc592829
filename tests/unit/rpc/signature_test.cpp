#include "hex.hpp"
#include "rpc_messages.hpp"

#include <rocio/rpc/signature.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>

namespace rocio::rpc {
namespace {

using test::packed;
using test::to_hex;
using ::testing::ElementsAre;

template <class T>
T there_and_back(const T& value) {
    const auto bytes = packed(value);
    EXPECT_EQ(bytes.size(), value_codec<T>::size(value));
    return value_codec<T>::decode(bytes);
}

TEST(value_codec_test, writes_scalars_little_endian) {
    EXPECT_EQ(to_hex(packed(std::uint8_t{0xA1})), "a1");
    EXPECT_EQ(to_hex(packed(std::int32_t{0x01020304})), "04030201");
    EXPECT_EQ(to_hex(packed(std::int32_t{-2})), "feffffff");
    EXPECT_EQ(to_hex(packed(std::int64_t{0x0102030405060708})), "0807060504030201");
    EXPECT_EQ(to_hex(packed(1.0F)), "0000803f");
    EXPECT_EQ(to_hex(packed(-2.0)), "00000000000000c0");
}

TEST(value_codec_test, brings_back_every_scalar) {
    for (int i = 0; i < 256; ++i) {
        EXPECT_EQ(there_and_back(static_cast<std::uint8_t>(i)), i);
    }
    for (const auto v :
         {std::numeric_limits<std::int32_t>::min(), -1, 0, 1, std::numeric_limits<std::int32_t>::max()}) {
        EXPECT_EQ(there_and_back(v), v);
    }
    for (const auto v : {std::numeric_limits<std::int64_t>::min(), std::int64_t{-1},
                         std::numeric_limits<std::int64_t>::max()}) {
        EXPECT_EQ(there_and_back(v), v);
    }
    EXPECT_EQ(there_and_back(std::numbers::pi), std::numbers::pi);
    EXPECT_EQ(there_and_back(std::numbers::e_v<float>), std::numbers::e_v<float>);
    EXPECT_TRUE(std::isnan(there_and_back(std::numeric_limits<double>::quiet_NaN())));
    EXPECT_TRUE(std::signbit(there_and_back(-0.0)));
}

TEST(value_codec_test, brings_back_arrays) {
    const std::array<std::int32_t, 3> ints{1, -2, 3};
    EXPECT_EQ(to_hex(packed(ints)), "01000000feffffff03000000");
    EXPECT_EQ(there_and_back(ints), ints);
    const std::array<std::uint8_t, 4> bytes{0, 1, 254, 255};
    EXPECT_EQ(there_and_back(bytes), bytes);
    const std::array<float, 2> floats{0.5F, -8.25F};
    EXPECT_EQ(there_and_back(floats), floats);
    const std::array<double, 1> one{1e300};
    EXPECT_EQ(there_and_back(one), one);
    const std::array<std::byte, 2> raw{std::byte{7}, std::byte{9}};
    EXPECT_EQ(there_and_back(raw), raw);
}

TEST(value_codec_test, packs_bits_least_significant_first) {
    EXPECT_EQ(to_hex(packed(std::bitset<1>(1))), "01");
    EXPECT_EQ(to_hex(packed(std::bitset<8>(0b10000001))), "81");
    EXPECT_EQ(to_hex(packed(std::bitset<9>(0b100000010))), "0201");
    EXPECT_EQ((value_codec<std::bitset<17>>::desc), (type_desc{type_id::bit_packed, 3, 17}));
}

TEST(value_codec_test, brings_back_every_bit) {
    for (std::size_t i = 0; i < 77; ++i) {
        std::bitset<77> bits;
        bits.set(i);
        EXPECT_EQ(there_and_back(bits), bits) << i;
    }
}

TEST(value_codec_test, overlooks_the_bits_behind_the_last) {
    const auto bytes = test::from_hex("ff");
    EXPECT_EQ(value_codec<std::bitset<3>>::decode(bytes), std::bitset<3>(0b111));
}

TEST(value_codec_test, brings_back_vectors_of_any_length) {
    for (std::size_t n = 0; n < 20; ++n) {
        std::vector<float> v(n);
        for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<float>(i) / 4;
        EXPECT_EQ(there_and_back(v), v);
    }
    EXPECT_EQ(there_and_back(std::vector<std::byte>{std::byte{3}}), std::vector<std::byte>{std::byte{3}});
}

TEST(value_codec_test, views_elements_where_they_lie) {
    auto bytes = test::from_hex("ee0100000002000000ffffffff");
    const auto odd = std::span<const std::byte>(bytes).subspan(1); // not aligned to an int
    const auto view = value_codec<packed_view<std::int32_t>>::decode(odd);
    EXPECT_EQ(view.size(), 3U);
    EXPECT_THAT(std::vector(view.begin(), view.end()), ElementsAre(1, 2, -1));
    EXPECT_EQ(view.bytes().data(), odd.data());
    EXPECT_EQ(to_hex(packed(view)), "0100000002000000ffffffff");
    EXPECT_FALSE(view.empty());
    EXPECT_TRUE(packed_view<double>().empty());
}

TEST(value_codec_test, views_whole_elements_only) {
    const auto bytes = test::from_hex("010000000200");
    EXPECT_EQ(packed_view<std::int32_t>(bytes).size(), 1U);
}

TEST(value_codec_test, views_bytes_as_a_span) {
    const auto bytes = test::from_hex("0a0b0c");
    const auto view = value_codec<std::span<const std::uint8_t>>::decode(bytes);
    EXPECT_THAT(view, ElementsAre(10, 11, 12));
    EXPECT_EQ(static_cast<const void*>(view.data()), bytes.data());
}

TEST(value_codec_test, sends_spans_of_larger_elements_but_takes_none) {
    const std::vector<double> values{1.0, 2.0};
    EXPECT_EQ(to_hex(packed(std::span<const double>(values))), "000000000000f03f0000000000000040");
    static_assert(sendable_value<std::span<const double>>);
    static_assert(!receivable_value<std::span<const double>>);
    static_assert(receivable_value<std::span<const std::byte>>);
}

TEST(value_codec_test, has_no_codec_for_what_the_wire_has_no_type_for) {
    static_assert(!sendable_value<std::uint32_t>);
    static_assert(!sendable_value<std::uint64_t>);
    static_assert(!sendable_value<std::int16_t>);
    static_assert(!sendable_value<bool>);
    static_assert(!sendable_value<char>);
    static_assert(!sendable_value<long double>);
    static_assert(!sendable_value<std::string>);
    static_assert(!sendable_value<const char*>);
    static_assert(!sendable_value<std::array<std::int64_t, 2>>);
    static_assert(!sendable_value<std::array<std::int32_t, 0>>);
    static_assert(!sendable_value<std::vector<bool>>);
    static_assert(!sendable_value<std::vector<std::int64_t>>);
    static_assert(!sendable_value<std::span<std::uint8_t>>); // mutable: the request is not to be written
    SUCCEED();
}

TEST(signature_test, derives_the_schema) {
    constexpr auto s = schema_of<std::int64_t(std::int64_t, std::int64_t)>();
    static_assert(s.num_args == 2 && s.num_results == 1);
    EXPECT_EQ(s.args[0], (type_desc{type_id::int64, 8, 1}));
    EXPECT_EQ(s.args[1], (type_desc{type_id::int64, 8, 1}));
    EXPECT_EQ(s.results[0], (type_desc{type_id::int64, 8, 1}));
    EXPECT_EQ(s.argument_length(), (length_rule{16, 0}));
}

TEST(signature_test, derives_every_type) {
    using all = std::tuple<std::uint8_t, std::bitset<12>, std::vector<double>>(
        std::uint8_t, std::int32_t, std::int64_t, float, double, const std::array<float, 6>&,
        const std::vector<std::int32_t>&, std::bitset<64>);
    const auto s = schema_of<all>();
    EXPECT_FALSE(validate(s));
    EXPECT_THAT(s.arguments_used(),
                ElementsAre(type_desc{type_id::uint8, 1, 1}, type_desc{type_id::int32, 4, 1},
                            type_desc{type_id::int64, 8, 1}, type_desc{type_id::float32, 4, 1},
                            type_desc{type_id::float64, 8, 1}, type_desc{type_id::array_float32, 24, 6},
                            type_desc{type_id::array_int32, 0, 0}, type_desc{type_id::bit_packed, 8, 64}));
    EXPECT_THAT(s.results_used(),
                ElementsAre(type_desc{type_id::uint8, 1, 1}, type_desc{type_id::bit_packed, 2, 12},
                            type_desc{type_id::array_float64, 0, 0}));
    EXPECT_EQ(s.argument_length(), (length_rule{57, 4}));
    EXPECT_EQ(s.result_length(), (length_rule{3, 8}));
}

TEST(signature_test, derives_nothing_from_nothing) {
    constexpr auto s = schema_of<void()>();
    EXPECT_EQ(s.num_args, 0);
    EXPECT_EQ(s.num_results, 0);
    EXPECT_FALSE(validate(s));
}

TEST(signature_test, refuses_at_compile_time_what_cannot_travel) {
    using i = std::int32_t;
    static_assert(call_signature<i(i, i, i, i, i, i, i, i)>);
    static_assert(!call_signature<i(i, i, i, i, i, i, i, i, i)>); // nine arguments
    static_assert(call_signature<std::tuple<i, i, i, i>()>);
    static_assert(!call_signature<std::tuple<i, i, i, i, i>()>);          // five results
    static_assert(!call_signature<void(std::vector<i>, std::vector<i>)>); // two variable arguments
    static_assert(!call_signature<std::tuple<std::vector<i>, std::vector<i>>()>);
    static_assert(!call_signature<std::span<const std::uint8_t>()>); // a result that owns nothing
    static_assert(!call_signature<packed_view<i>()>);
    static_assert(!call_signature<std::uint32_t()>);
    static_assert(!call_signature<int>);
    static_assert(!call_signature<void (*)()>);
    static_assert(handler_signature<void(const i&)>);
    static_assert(!handler_signature<void(i&)>);
    static_assert(call_signature<void(std::span<const double>)>);
    static_assert(!handler_signature<void(std::span<const double>)>);
    SUCCEED();
}

TEST(value_list_test, puts_values_one_behind_the_other_without_padding) {
    using list = detail::value_list<std::uint8_t, std::int64_t, std::int32_t>;
    const std::tuple<std::uint8_t, std::int64_t, std::int32_t> values{1, 2, 3};
    EXPECT_EQ(list::size(values), 13U);
    std::vector<std::byte> bytes(13);
    list::encode(values, bytes);
    EXPECT_EQ(to_hex(bytes), "01020000000000000003000000");
    EXPECT_EQ(list::decode(bytes), values);
}

TEST(value_list_test, finds_the_length_of_a_variable_value_in_any_place) {
    using front = detail::value_list<std::vector<std::int32_t>, std::uint8_t>;
    using middle = detail::value_list<std::uint8_t, std::vector<std::int32_t>, std::int32_t>;
    for (std::size_t n = 0; n < 5; ++n) {
        const std::vector<std::int32_t> v(n, 77);
        const std::tuple<std::vector<std::int32_t>, std::uint8_t> at_front{v, std::uint8_t{9}};
        EXPECT_EQ(front::decode(packed(v, std::uint8_t{9})), at_front) << n;
        const std::tuple<std::uint8_t, std::vector<std::int32_t>, std::int32_t> in_middle{std::uint8_t{1}, v,
                                                                                          -5};
        EXPECT_EQ(middle::decode(packed(std::uint8_t{1}, v, std::int32_t{-5})), in_middle) << n;
    }
}

} // namespace
} // namespace rocio::rpc

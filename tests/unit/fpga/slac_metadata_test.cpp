#include <rocio/fpga/slac_metadata.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace rocio::fpga {
namespace {

using testing::HasSubstr;
using words = slac_request_words;

constexpr std::uint32_t pd = 0xAABB'CCDD, qpn = 0x010203, lkey = 0x1111'2222, rkey = 0x3333'4444;

slac_mr_request region() {
    slac_mr_request r;
    r.allocate = true;
    r.address = 0xDEAD'BEEF'CAFE;
    r.length = 0x4'0000;
    r.access = 0x0F;
    r.pd_handler = pd;
    r.lkey_part = 0x1234'5678;
    r.rkey_part = 0x0765'4321;
    return r;
}

slac_qp_request to_rtr() {
    auto r = slac_modify_qp(qpn, slac_qp_state::rtr, slac_qp_mask::to_rtr, 4);
    r.attributes.dqpn = 0x123456;
    r.attributes.rq_psn = 0xABCDEF;
    return r;
}

slac_qp_request to_rts() {
    auto r = slac_modify_qp(qpn, slac_qp_state::rts, slac_qp_mask::to_rts, 4);
    r.attributes.sq_psn = 0x0F0F0F;
    r.attributes.rnr_retry = 7;
    return r;
}

struct vector {
    const char* name;
    slac_request request;
    words expected;
};

std::vector<vector> vectors() {
    return {
        {"PD allocate", slac_allocate_pd(0xDEAD'BEEF), {0, 0xdeadbeef, 1, 0, 0, 0, 0, 0, 0, 0}},
        {"MR allocate",
         region(),
         {0, 0, 0x0eca8642, 0x92345678, 0xd55de66e, 0x02000007, 0x77e57f00, 0x006f56df, 0x80, 0x2000}},
        {"QP create", slac_create_qp(pd), {4, 0, 0, 0, 0, 0, 0, 0, 0xde66e800, 0x4555}},
        {"INIT",
         slac_modify_qp(qpn, slac_qp_state::init, slac_qp_mask::to_init, 4),
         {0x02017364, 0x403fffc2, 0x88080040, 3, 0, 0, 0x32210000, 0x10180000, 8, 0x5000}},
        {"RTR",
         to_rtr(),
         {0x02017364, 0x403fffc2, 0x88080040, 0x048d1583, 0x7bc00000, 0x00002af3, 0x02410000, 0x10182522, 8,
          0x5000}},
        {"RTS",
         to_rts(),
         {0x020173e4, 0x403fffc2, 0x88080040, 0xc0000003, 0x0003c3c3, 0, 0x02610000, 0x1018025c, 8, 0x5000}},
        {"ERR",
         slac_modify_qp(qpn, slac_qp_state::error, slac_qp_mask::state, 1),
         {0x02017364, 0x403fffc2, 0x88080040, 3, 0, 0, 0x02c04000, 0x10180000, 8, 0x5000}},
        {"DESTROY", slac_destroy_qp(qpn), {0, 0, 0, 0, 0, 0, 0, 0x10180000, 8, 0x4800}},
        {"MR free",
         slac_free_mr(pd, lkey, rkey),
         {0x33334444, 0x11112222, 0, 0x80000000, 0x555de66e, 0, 0, 0, 0, 0x2000}},
        {"PD free", slac_free_pd(pd), {0xaabbccdd, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
    };
}

TEST(SlacMetadata, EncodesTheVectors) {
    for (const auto& v : vectors()) {
        words out;
        const auto e = encode(v.request, out);
        EXPECT_FALSE(e) << v.name << ": " << e.text;
        EXPECT_EQ(out, v.expected) << v.name;
    }
}

TEST(SlacMetadata, DecodesTheVectors) {
    for (const auto& v : vectors()) {
        slac_request out;
        EXPECT_FALSE(decode(v.expected, out)) << v.name;
        auto expected = v.request;
        // The type is in every request but DESTROY.
        EXPECT_TRUE(out == expected) << v.name;
    }
}

TEST(SlacMetadata, MasksAreThoseOfTheTransitions) {
    EXPECT_EQ(slac_qp_mask::to_init, 0x19U);
    EXPECT_EQ(slac_qp_mask::to_rtr, 0x129101U);
    EXPECT_EQ(slac_qp_mask::to_rts, 0x12E01U);
}

// ---- Replies (surf's engine tests)

slac_reply_words reply_bits(std::initializer_list<std::pair<unsigned, std::uint32_t>> fields) {
    slac_reply_words out{};
    for (const auto& [lowest, value] : fields)
        for (unsigned i = 0; i < 32 && lowest + i < slac_reply_bits; ++i)
            out[(lowest + i) / 32] |= (value >> i & 1) << ((lowest + i) % 32);
    return out;
}

TEST(SlacMetadata, ReplyTypeIsInTheTwoHighestBits) {
    slac_reply out;
    EXPECT_FALSE(decode(reply_bits({{274, 1}}), out));
    EXPECT_EQ(object_of(out), slac_object::memory_region);
    EXPECT_FALSE(decode(reply_bits({{275, 1}}), out));
    EXPECT_EQ(object_of(out), slac_object::queue_pair);
    EXPECT_FALSE(decode(slac_reply_words{}, out));
    EXPECT_EQ(object_of(out), slac_object::protection_domain);
}

TEST(SlacMetadata, AReplyOfTypeThreeIsMalformed) {
    slac_reply out;
    const auto e = decode(reply_bits({{274, 3}}), out);
    EXPECT_EQ(e.code, errc::handshake_malformed);
    EXPECT_THAT(e.text, HasSubstr("type 3"));
    slac_request request;
    EXPECT_EQ(decode(words{0, 0, 0, 0, 0, 0, 0, 0, 0, 0x6000}, request).code, errc::handshake_malformed);
}

TEST(SlacMetadata, AQueuePairReplyTellsSuccessNumberAndState) {
    slac_reply out;
    ASSERT_FALSE(decode(reply_bits({{275, 1}, {273, 1}, {249, 0xABCDEF}, {213, 3}}), out));
    const auto& qp = std::get<slac_qp_reply>(out);
    EXPECT_TRUE(qp.ok);
    EXPECT_EQ(qp.qpn, 0xABCDEFU);
    EXPECT_EQ(qp.attributes.state, slac_qp_state::rts);
}

TEST(SlacMetadata, ADomainReplyTellsSuccessHandlerAndKey) {
    slac_reply out;
    ASSERT_FALSE(decode(reply_bits({{64, 1}, {32, pd}, {0, 0xDEAD'BEEF}}), out));
    EXPECT_EQ(std::get<slac_pd_reply>(out), (slac_pd_reply{.ok = true, .handler = pd, .key = 0xDEAD'BEEF}));
}

TEST(SlacMetadata, ARegionReplyTellsSuccessAndKeys) {
    slac_reply out;
    ASSERT_FALSE(decode(reply_bits({{274, 1}, {262, 1}, {32, lkey}, {0, rkey}}), out));
    const auto& mr = std::get<slac_mr_reply>(out);
    EXPECT_TRUE(mr.ok);
    EXPECT_EQ(mr.lkey, lkey);
    EXPECT_EQ(mr.rkey, rkey);
    EXPECT_EQ(mr.length, 0U);
}

// ---- Widths

template <class Message>
struct wide_field {
    const char* name;
    unsigned width;
    std::uint64_t Message::*member;
};

/// The largest value of each field is taken and comes back; one more is refused by name.
template <class Message, class Words, class Any>
void check_widths(const std::vector<wide_field<Message>>& fields) {
    for (const auto& f : fields) {
        Message m;
        const std::uint64_t largest = f.width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << f.width) - 1;
        m.*f.member = largest;
        Words out;
        ASSERT_FALSE(encode(Any(m), out)) << f.name;
        Any back;
        ASSERT_FALSE(decode(out, back)) << f.name;
        EXPECT_TRUE(std::get<Message>(back) == m) << f.name;
        if (f.width == 64) continue;
        for (const auto bad : {largest + 1, ~std::uint64_t{0}}) {
            m.*f.member = bad;
            const auto e = encode(Any(m), out);
            EXPECT_EQ(e.code, errc::invalid_argument) << f.name;
            EXPECT_THAT(e.text, HasSubstr(std::string(" ") + f.name + " is " + std::to_string(bad)));
            EXPECT_THAT(e.text, HasSubstr("0 to " + std::to_string(largest)));
            EXPECT_EQ(out, Words{}) << f.name;
        }
    }
}

TEST(SlacMetadata, EveryFieldOfADomainRequestHasItsWidth) {
    check_widths<slac_pd_request, words, slac_request>(
        {{"key", 32, &slac_pd_request::key}, {"handler", 32, &slac_pd_request::handler}});
}

TEST(SlacMetadata, EveryFieldOfARegionRequestHasItsWidth) {
    using m = slac_mr_request;
    check_widths<m, words, slac_request>({{"address", 64, &m::address},
                                          {"length", 32, &m::length},
                                          {"access", 8, &m::access},
                                          {"pd_handler", 32, &m::pd_handler},
                                          {"lkey_part", 31, &m::lkey_part},
                                          {"rkey_part", 31, &m::rkey_part},
                                          {"lkey", 32, &m::lkey},
                                          {"rkey", 32, &m::rkey}});
}

TEST(SlacMetadata, EveryFieldOfAQueuePairRequestHasItsWidth) {
    using m = slac_qp_request;
    check_widths<m, words, slac_request>(
        {{"pd_handler", 32, &m::pd_handler}, {"qpn", 24, &m::qpn}, {"mask", 26, &m::mask}});
    using a = slac_qp_attributes;
    const std::vector<wide_field<a>> attributes{{"state", 4, &a::state},
                                                {"current_state", 4, &a::current_state},
                                                {"path_mtu", 3, &a::path_mtu},
                                                {"qkey", 32, &a::qkey},
                                                {"rq_psn", 24, &a::rq_psn},
                                                {"sq_psn", 24, &a::sq_psn},
                                                {"dqpn", 24, &a::dqpn},
                                                {"access", 8, &a::access},
                                                {"capabilities", 40, &a::capabilities},
                                                {"pkey", 16, &a::pkey},
                                                {"max_read_atomic", 8, &a::max_read_atomic},
                                                {"max_dest_read", 8, &a::max_dest_read},
                                                {"min_rnr_timer", 5, &a::min_rnr_timer},
                                                {"timeout", 5, &a::timeout},
                                                {"retry_count", 3, &a::retry_count},
                                                {"rnr_retry", 3, &a::rnr_retry},
                                                {"type", 4, &a::type}};
    for (const auto& f : attributes) {
        const auto largest = (std::uint64_t{1} << f.width) - 1;
        slac_qp_request request;
        request.attributes.*f.member = largest;
        slac_qp_reply reply;
        reply.attributes.*f.member = largest;
        words out;
        slac_reply_words reply_out;
        ASSERT_FALSE(encode(slac_request(request), out)) << f.name;
        ASSERT_FALSE(encode(slac_reply(reply), reply_out)) << f.name;
        slac_request back;
        slac_reply reply_back;
        ASSERT_FALSE(decode(out, back));
        ASSERT_FALSE(decode(reply_out, reply_back));
        EXPECT_TRUE(std::get<slac_qp_request>(back) == request) << f.name;
        EXPECT_TRUE(std::get<slac_qp_reply>(reply_back) == reply) << f.name;
        request.attributes.*f.member = largest + 1;
        reply.attributes.*f.member = largest + 1;
        EXPECT_THAT(encode(slac_request(request), out).text, HasSubstr(std::string(" ") + f.name + " is "));
        EXPECT_THAT(encode(slac_reply(reply), reply_out).text, HasSubstr(std::string(" ") + f.name + " is "));
    }
}

TEST(SlacMetadata, EveryFieldOfTheRepliesHasItsWidth) {
    using p = slac_pd_reply;
    check_widths<p, slac_reply_words, slac_reply>({{"handler", 32, &p::handler}, {"key", 32, &p::key}});
    using m = slac_mr_reply;
    check_widths<m, slac_reply_words, slac_reply>({{"address", 64, &m::address},
                                                   {"length", 32, &m::length},
                                                   {"access", 8, &m::access},
                                                   {"pd_handler", 32, &m::pd_handler},
                                                   {"lkey_part", 31, &m::lkey_part},
                                                   {"rkey_part", 31, &m::rkey_part},
                                                   {"lkey", 32, &m::lkey},
                                                   {"rkey", 32, &m::rkey}});
    using q = slac_qp_reply;
    check_widths<q, slac_reply_words, slac_reply>({{"qpn", 24, &q::qpn}, {"pd_handler", 32, &q::pd_handler}});
}

TEST(SlacMetadata, FieldsThatLeaveNoRoomForTheTypeAreRefused) {
    std::vector<slac_field> fields;
    for (int i = 0; i < 4; ++i) fields.push_back({"wide", 64, 1});
    fields.push_back({"last", 45, 1}); // 301 in all
    words out;
    EXPECT_FALSE(encode_fields(slac_object::queue_pair, fields, out));
    EXPECT_EQ(out[0], 1U);
    EXPECT_EQ(out[9], 0x4000U);
    fields.back().width = 46;
    const auto e = encode_fields(slac_object::queue_pair, fields, out);
    EXPECT_EQ(e.code, errc::invalid_argument);
    EXPECT_THAT(e.text, HasSubstr("302 bits"));
    EXPECT_EQ(out, words{});
}

TEST(SlacMetadata, FieldsByHandHaveAWidthAndFitIt) {
    words out;
    const slac_field no_width{"none", 0, 0}, too_wide{"wide", 65, 0}, too_much{"much", 3, 8};
    EXPECT_EQ(encode_fields(slac_object::queue_pair, {&no_width, 1}, out).code, errc::invalid_argument);
    EXPECT_EQ(encode_fields(slac_object::queue_pair, {&too_wide, 1}, out).code, errc::invalid_argument);
    EXPECT_THAT(encode_fields(slac_object::queue_pair, {&too_much, 1}, out).text, HasSubstr("0 to 7"));
}

// ---- Random bits

template <class Any, class Words>
void survives_random_bits(unsigned bits, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < 5'000; ++i) {
        Words in;
        for (auto& w : in) w = static_cast<std::uint32_t>(random());
        Any message;
        if (const auto e = decode(in, message)) {
            EXPECT_EQ(e.code, errc::handshake_malformed);
            continue;
        }
        // What was decoded can be encoded, and is the same then.
        Words out;
        ASSERT_FALSE(encode(message, out));
        Any again;
        ASSERT_FALSE(decode(out, again));
        ASSERT_TRUE(message == again);
        ASSERT_EQ(out.back() >> (bits % 32), 0U);
    }
}

TEST(SlacMetadata, AnyBitsDecodeToWhatEncodesAgain) {
    survives_random_bits<slac_request, slac_request_words>(slac_request_bits, 1);
    survives_random_bits<slac_reply, slac_reply_words>(slac_reply_bits, 2);
}

TEST(SlacMetadata, EachBitOfAReplyBelongsToOneField) {
    for (const unsigned type : {0U, 1U, 2U}) {
        const auto base = reply_bits({{274, type}});
        slac_reply plain;
        ASSERT_FALSE(decode(base, plain));
        const unsigned used = type == 0 ? 65 : type == 1 ? 263 : 274;
        for (unsigned bit = 0; bit < 274; ++bit) {
            auto flipped = base;
            flipped[bit / 32] ^= 1U << (bit % 32);
            slac_reply changed;
            ASSERT_FALSE(decode(flipped, changed));
            EXPECT_EQ(changed != plain, bit < used) << "type " << type << " bit " << bit;
        }
    }
}

} // namespace
} // namespace rocio::fpga

#include "lib/hand_line.hpp"

#include <gmock/gmock.h>

#include <random>

namespace {

using namespace rocio;
using namespace rocio::tools;
using ::testing::HasSubstr;

local_parameters ours() {
    local_parameters p;
    p.queue_pair = qpn{0x11};
    p.receive_psn = psn{0xABCDEF};
    p.send_psn = psn{0x0F0F0F};
    p.address = gid::parse("10.0.0.1").value();
    p.region = {0x7f0000001000, 1048576, rkey{0x1234}};
    return p;
}

TEST(hand_line, has_every_number_that_the_other_side_needs) {
    EXPECT_EQ(hand_line(ours()), "local qpn=0x000011 rq_psn=0xabcdef sq_psn=0x0f0f0f "
                                 "gid=0000:0000:0000:0000:0000:ffff:0a00:0001 rkey=0x00001234 "
                                 "addr=0x00007f0000001000 length=1048576");
}

TEST(hand_answer, is_a_queue_pair_and_perhaps_a_key) {
    hand_answer a;
    EXPECT_FALSE(parse_hand_answer("qpn=0x10203", a));
    EXPECT_EQ(a.queue_pair, 0x10203U);
    EXPECT_EQ(a.key, 0U);
    EXPECT_FALSE(parse_hand_answer("  lkey=0x11112222\tqpn=17 \r\n", a));
    EXPECT_EQ(a.queue_pair, 17U);
    EXPECT_EQ(a.key, 0x11112222U);
}

TEST(hand_answer, may_be_the_line_that_the_other_end_printed) {
    hand_answer a;
    EXPECT_FALSE(parse_hand_answer(hand_line(ours()), a));
    EXPECT_EQ(a.queue_pair, 0x11U);
}

TEST(hand_answer, names_what_it_does_not_understand) {
    const auto refused = [](std::string_view line) {
        hand_answer a{5, 6};
        const auto e = parse_hand_answer(line, a);
        EXPECT_EQ(e.code, errc::invalid_peer_parameters) << line;
        EXPECT_EQ(a.queue_pair, 5U) << line;
        EXPECT_EQ(a.key, 6U) << line;
        return e.text;
    };
    EXPECT_THAT(refused(""), HasSubstr("no qpn"));
    EXPECT_THAT(refused("lkey=1"), HasSubstr("no qpn"));
    EXPECT_THAT(refused("qpn"), HasSubstr("\"qpn\""));
    EXPECT_THAT(refused("qpn="), HasSubstr("not a number"));
    EXPECT_THAT(refused("qpn=0x"), HasSubstr("not a number"));
    EXPECT_THAT(refused("qpn=12z"), HasSubstr("not a number"));
    EXPECT_THAT(refused("qpn=0x100000000"), HasSubstr("32 bits"));
    EXPECT_THAT(refused("qpn=0x1000000"), HasSubstr("0x2 to 0xffffff"));
    EXPECT_THAT(refused("qpn=1"), HasSubstr("0x2 to 0xffffff"));
    EXPECT_THAT(refused("qpn=2 psn=3"), HasSubstr("\"psn=3\""));
}

TEST(hand_answer, survives_any_line) {
    std::mt19937 random(5);
    const std::string alphabet = "qpn=0x1fl key\t\0z";
    for (int round = 0; round < 2000; ++round) {
        std::string line(random() % 40, ' ');
        for (auto& c : line) c = alphabet[random() % alphabet.size()];
        hand_answer a;
        if (parse_hand_answer(line, a)) continue;
        EXPECT_THAT(a.queue_pair, ::testing::AllOf(::testing::Ge(2U), ::testing::Le(0xFFFFFFU)));
    }
}

} // namespace

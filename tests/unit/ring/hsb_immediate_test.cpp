#include <rocio/ring/hsb_immediate.hpp>

#include <gtest/gtest.h>

namespace rocio::test {
namespace {

TEST(hsb_immediate, from_0x2603_the_page_has_twelve_bits_under_twenty_of_the_psn) {
    const auto layout = hsb_immediate_layout(0x2603);
    EXPECT_EQ(unpack(layout, 0xABCDE025), (hsb_immediate{37, 0xABCDE}));
    EXPECT_EQ(pack(layout, {37, 0xABCDE}), 0xABCDE025U);
    EXPECT_EQ(unpack(hsb_immediate_layout(0x2606), 0x00001FFF), (hsb_immediate{0xFFF, 1}));
}

TEST(hsb_immediate, before_the_page_has_eight_bits_under_the_whole_psn) {
    const auto layout = hsb_immediate_layout(0x2602);
    EXPECT_EQ(unpack(layout, 0xABCDEF25), (hsb_immediate{37, 0xABCDEF}));
    EXPECT_EQ(pack(layout, {37, 0xABCDEF}), 0xABCDEF25U);
    EXPECT_EQ(hsb_immediate_layout(0x2501).psn_width, 24);
}

TEST(hsb_immediate, a_psn_agrees_as_far_as_the_immediate_has_it) {
    const auto newer = hsb_immediate_layout(0x2603);
    EXPECT_TRUE(same_packet(newer, pack(newer, {5, 0x23456}), 0x123456));
    EXPECT_FALSE(same_packet(newer, pack(newer, {5, 0x23456}), 0x123457));
    const auto older = hsb_immediate_layout(0x2510);
    EXPECT_TRUE(same_packet(older, pack(older, {5, 0x123456}), 0x123456));
    EXPECT_FALSE(same_packet(older, pack(older, {5, 0x123456}), 0x023456));
}

TEST(hsb_immediate, psns_wrap_at_their_width) {
    const auto newer = hsb_immediate_layout(0x2603);
    EXPECT_TRUE(same_packet(newer, pack(newer, {0, 0xFFFFF}), 0xFFFFFF));
    EXPECT_TRUE(same_packet(newer, pack(newer, {0, 0}), 0x100000));
    const auto older = hsb_immediate_layout(0x2510);
    EXPECT_TRUE(same_packet(older, pack(older, {255, 0xFFFFFF}), 0xFFFFFF));
}

TEST(hsb_immediate, a_plain_slot_has_no_psn) {
    EXPECT_EQ(unpack({}, 63), (hsb_immediate{63, 0}));
    EXPECT_EQ(pack({}, {63, 7}), 63U);
    EXPECT_TRUE(same_packet({}, 63, 12345));
}

} // namespace
} // namespace rocio::test

#include <rocio/types/psn.hpp>
#include <rocio/types/qpn.hpp>

#include <gmock/gmock.h>

#include <random>

namespace {

using namespace rocio;

TEST(psn, holds_24_bits_and_no_more) {
    EXPECT_EQ(psn{}.value(), 0U);
    EXPECT_EQ(psn{0xFFFFFF}.value(), 0xFFFFFFU);
    EXPECT_THROW(psn{0x1000000}, std::out_of_range);
    EXPECT_THROW(psn{0xFFFFFFFF}, std::out_of_range);
}

TEST(psn, wraps_both_ways) {
    EXPECT_EQ(psn{0xFFFFFF} + 1, psn{0});
    EXPECT_EQ(psn{0} - 1, psn{0xFFFFFF});
    EXPECT_EQ(psn{0x123456} + 0x1000000, psn{0x123456});
    EXPECT_EQ(psn{5} + 0xFFFFFFFF, psn{4});
    EXPECT_EQ(psn{5} - 0xFFFFFFFF, psn{6});
}

TEST(psn, increments_in_place) {
    psn p{0xFFFFFE};
    EXPECT_EQ(++p, psn{0xFFFFFF});
    EXPECT_EQ(++p, psn{0});
    EXPECT_EQ(p += 0x800000, psn{0x800000});
}

/// rdma_rxe's limits: expected + 2^23 - 1 is a gap, expected - 2^23 a duplicate (capture peer_rc_psn_window).
TEST(psn, distance_reaches_half_the_ring) {
    const psn expected{0x1000};
    EXPECT_EQ(distance(expected, expected), 0);
    EXPECT_EQ(distance(expected, expected + 1), 1);
    EXPECT_EQ(distance(expected, expected - 1), -1);
    EXPECT_EQ(distance(expected, expected + 0x7FFFFF), 0x7FFFFF);
    EXPECT_EQ(distance(expected, expected + 0x800000), -0x800000);
    EXPECT_EQ(distance(expected, expected - 0x7FFFFF), -0x7FFFFF);
}

TEST(psn, distance_is_the_same_everywhere_on_the_ring) {
    std::mt19937 random{1};
    for (int round = 0; round < 10000; ++round) {
        const psn from{static_cast<std::uint32_t>(random() & psn::mask)};
        const auto steps = static_cast<std::int32_t>(random() & psn::mask) - psn::half_ring;
        EXPECT_EQ(distance(from, from + static_cast<std::uint32_t>(steps)), steps);
    }
}

TEST(psn, is_after_looks_less_than_half_a_ring_ahead) {
    EXPECT_TRUE(is_after(psn{1}, psn{0}));
    EXPECT_TRUE(is_after(psn{0}, psn{0xFFFFFF}));
    EXPECT_TRUE(is_after(psn{0x7FFFFF}, psn{0}));
    EXPECT_FALSE(is_after(psn{0x800000}, psn{0}));
    EXPECT_FALSE(is_after(psn{0}, psn{0}));
    EXPECT_FALSE(is_after(psn{0xFFFFFF}, psn{0}));
}

TEST(psn, is_usable_in_constant_expressions) {
    static_assert(psn{0xFFFFFF} + 2 == psn{1});
    static_assert(distance(psn{0xFFFFFF}, psn{1}) == 2);
    static_assert(is_after(psn{1}, psn{0xFFFFFF}));
}

TEST(qpn, holds_24_bits_and_no_more) {
    EXPECT_EQ(qpn{}.value(), 0U);
    EXPECT_EQ(qpn{0xFFFFFF}.value(), qpn::max);
    EXPECT_THROW(qpn{0x1000000}, std::out_of_range);
}

TEST(qpn, has_an_order) {
    EXPECT_LT(qpn{2}, qpn{3});
    EXPECT_EQ(qpn{2}, qpn{2});
}

} // namespace

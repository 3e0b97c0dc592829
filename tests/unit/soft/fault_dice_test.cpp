#include "soft/fault_dice.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

namespace rocio::soft {
namespace {

fault_plan everything(std::uint64_t seed = 1) {
    fault_plan plan;
    plan.drop = 0.05;
    plan.duplicate = 0.1;
    plan.reorder = 0.2;
    plan.delay = 0.15;
    plan.corrupt = 0.25;
    plan.seed = seed;
    return plan;
}

constexpr std::uint64_t draws = 200'000;

/// Within five standard deviations of a binomial distribution: fails by chance once in a million seeds, and
/// the seed is fixed.
void expect_rate(std::uint64_t happened, std::uint64_t of, double probability, const char* what) {
    const double n = static_cast<double>(of);
    const double sigma = std::sqrt(n * probability * (1 - probability));
    EXPECT_NEAR(static_cast<double>(happened), n * probability, 5 * sigma) << what;
}

TEST(FaultDice, FollowsTheProbabilities) {
    const fault_dice dice(everything());
    std::uint64_t drop = 0, duplicate = 0, reorder = 0, delay = 0, corrupt = 0;
    for (std::uint64_t i = 0; i < draws; ++i) {
        const auto d = dice.decide(i);
        drop += d.drop;
        duplicate += d.duplicate;
        reorder += d.reorder;
        delay += d.delay;
        corrupt += d.corrupt;
    }
    const std::uint64_t left = draws - drop;
    expect_rate(drop, draws, 0.05, "drop");
    expect_rate(duplicate, left, 0.1, "duplicate");
    expect_rate(reorder, left, 0.2, "reorder");
    expect_rate(delay, left - reorder, 0.15, "delay of those not reordered");
    expect_rate(corrupt, left, 0.25, "corrupt");
}

TEST(FaultDice, DrawsDistancesBitsAndDelaysEvenlyWithinTheirRanges) {
    fault_plan plan;
    plan.reorder = plan.corrupt = 1;
    plan.reorder_distance = 4;
    plan.corrupt_bits = 32;
    const fault_dice dice(plan);
    std::array<std::uint64_t, 5> distances{};
    std::array<std::uint64_t, 33> bits{};
    for (std::uint64_t i = 0; i < draws; ++i) {
        const auto d = dice.decide(i);
        ASSERT_GE(d.distance, 1U);
        ASSERT_LE(d.distance, 4U);
        ASSERT_GE(d.bits, 1U);
        ASSERT_LE(d.bits, 32U);
        ++distances[d.distance];
        ++bits[d.bits];
    }
    for (std::size_t n = 1; n < distances.size(); ++n) expect_rate(distances[n], draws, 0.25, "distance");
    for (std::size_t n = 1; n < bits.size(); ++n) expect_rate(bits[n], draws, 1.0 / 32, "bits");

    plan.reorder = 0;
    plan.delay = 1;
    const fault_dice slow(plan);
    for (std::uint64_t i = 0; i < 1'000; ++i) {
        ASSERT_GE(slow.decide(i).delay_time.count(), 0);
        ASSERT_LT(slow.decide(i).delay_time, std::chrono::nanoseconds(plan.delay_time));
    }
}

TEST(FaultDice, DependsOnSeedAndNumberAlone) {
    const fault_dice one(everything(42)), again(everything(42)), other(everything(43));
    std::uint64_t different = 0;
    for (std::uint64_t i = 5'000; i-- > 0;) { // in another order
        const auto a = one.decide(i), b = again.decide(i), c = other.decide(i);
        ASSERT_EQ(a.drop, b.drop);
        ASSERT_EQ(a.bits, b.bits);
        ASSERT_EQ(a.distance, b.distance);
        ASSERT_EQ(a.delay_time, b.delay_time);
        different += a.bits != c.bits;
    }
    EXPECT_GT(different, 1'000U);
}

TEST(FaultDice, NeverTouchesAnythingWithoutAPlan) {
    const fault_dice dice{fault_plan{}};
    for (std::uint64_t i = 0; i < 10'000; ++i) ASSERT_TRUE(dice.decide(i).untouched());
}

TEST(FaultDice, FlipsExactlyAsManyDifferentBits) {
    const fault_dice dice(everything());
    for (std::uint32_t bits = 1; bits <= 32; ++bits) {
        for (std::uint64_t number = 0; number < 200; ++number) {
            std::vector<std::byte> bytes(20);
            dice.flip(bytes, bits, number);
            std::uint32_t ones = 0;
            for (const auto b : bytes)
                ones += static_cast<std::uint32_t>(std::popcount(std::to_integer<std::uint8_t>(b)));
            ASSERT_EQ(ones, bits) << "datagram " << number;
        }
    }
}

TEST(FaultDice, ReachesEveryBit) {
    const fault_dice dice(everything());
    std::set<std::size_t> reached;
    for (std::uint64_t number = 0; number < 5'000; ++number) {
        std::vector<std::byte> bytes(20);
        dice.flip(bytes, 1, number);
        for (std::size_t bit = 0; bit < 160; ++bit)
            if ((std::to_integer<unsigned>(bytes[bit / 8]) >> (bit % 8) & 1U) != 0) reached.insert(bit);
    }
    EXPECT_EQ(reached.size(), 160U);
}

TEST(FaultDice, FlipsAllOfATinyDatagramAndNothingOfAnEmptyOne) {
    const fault_dice dice(everything());
    std::vector<std::byte> one(1);
    dice.flip(one, 32, 3);
    EXPECT_EQ(one[0], std::byte{0xFF});
    dice.flip({}, 32, 3);
}

} // namespace
} // namespace rocio::soft

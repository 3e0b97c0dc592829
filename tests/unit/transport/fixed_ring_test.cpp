#include "transport/fixed_ring.hpp"

#include <gtest/gtest.h>

namespace rocio::transport {
namespace {

TEST(fixed_ring, is_first_in_first_out) {
    fixed_ring<int> ring(3);
    EXPECT_TRUE(ring.empty());
    ring.push() = 1;
    ring.push() = 2;
    EXPECT_EQ(ring.front(), 1);
    ring.pop();
    EXPECT_EQ(ring.front(), 2);
    EXPECT_EQ(ring.size(), 1U);
}

TEST(fixed_ring, holds_exactly_its_capacity_though_memory_is_a_power_of_two) {
    fixed_ring<int> ring(5);
    for (int i = 0; i < 5; ++i) {
        EXPECT_FALSE(ring.full());
        ring.push() = i;
    }
    EXPECT_TRUE(ring.full());
    EXPECT_EQ(ring.capacity(), 5U);
}

TEST(fixed_ring, keeps_the_index_of_an_element_around_the_circle) {
    fixed_ring<std::uint64_t> ring(4);
    for (std::uint64_t i = 0; i < 1000; ++i) {
        EXPECT_EQ(ring.end_index(), i);
        ring.push() = i;
        if (!ring.full()) continue;
        for (std::uint64_t j = ring.begin_index(); j < ring.end_index(); ++j) EXPECT_EQ(ring[j], j);
        ring.pop();
    }
}

} // namespace
} // namespace rocio::transport

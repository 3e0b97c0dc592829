#include "transport/psn_window.hpp"

#include <gtest/gtest.h>

namespace rocio::transport {
namespace {

std::uint32_t double_cost(std::uint32_t datagram_bytes) {
    return 2 * datagram_bytes;
}

TEST(psn_window, admits_up_to_its_packets) {
    const psn_window window({0, nullptr, 4});
    EXPECT_FALSE(window.counts_cost());
    EXPECT_EQ(window.cost_of(1000), 0U);
    EXPECT_TRUE(window.admits({3, 0}, 0));
    EXPECT_FALSE(window.admits({4, 0}, 0));
    EXPECT_FALSE(window.admits({5, 0}, 0));
}

TEST(psn_window, admits_up_to_its_capacity) {
    const psn_window window({1000, double_cost, 128});
    EXPECT_TRUE(window.counts_cost());
    EXPECT_EQ(window.cost_of(100), 200U);
    EXPECT_TRUE(window.admits({4, 800}, 200));
    EXPECT_FALSE(window.admits({4, 801}, 200));
    EXPECT_FALSE(window.admits({1, 1}, 0xFFFFFFFF)) << "the sum must not wrap";
}

TEST(psn_window, admits_one_packet_whatever_it_costs) {
    const psn_window window({1000, double_cost, 128});
    EXPECT_TRUE(window.admits({0, 0}, 5000));
}

TEST(psn_window, lets_ask_every_quarter_of_packets_or_capacity) {
    const psn_window window({1000, double_cost, 128});
    EXPECT_FALSE(window.ask_due({31, 100}));
    EXPECT_TRUE(window.ask_due({32, 100}));
    EXPECT_FALSE(window.ask_due({2, 249}));
    EXPECT_TRUE(window.ask_due({2, 250}));
}

TEST(psn_window, lets_ask_on_every_packet_of_a_tiny_window) {
    for (const std::uint32_t packets : {1U, 2U, 3U, 4U, 7U}) {
        const psn_window window({0, nullptr, packets});
        EXPECT_TRUE(window.ask_due({1, 0})) << packets;
    }
}

TEST(psn_window, shrinks_to_one_packet_and_grows_back_to_its_limit) {
    psn_window window({0, nullptr, 10});
    window.shrink();
    EXPECT_EQ(window.packets(), 1U);
    EXPECT_FALSE(window.admits({1, 0}, 0));
    window.grow(1);
    EXPECT_EQ(window.packets(), 2U);
    window.grow(2);
    EXPECT_EQ(window.packets(), 4U);
    window.grow(1'000'000'000);
    EXPECT_EQ(window.packets(), 10U);
    window.grow(0xFFFFFFFF);
    EXPECT_EQ(window.packets(), 10U);
}

} // namespace
} // namespace rocio::transport

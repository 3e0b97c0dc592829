#include "rc_traffic.hpp"

#include <gtest/gtest.h>

// Whole connections over a simulated network: loss, duplication, reordering, damage and a link that takes
// little.

namespace rocio::test {
namespace {

using namespace std::chrono_literals;

/// Lengths around everything that matters for packets of `mtu` bytes, over and over.
std::size_t awkward_size(std::uint32_t n, std::uint32_t mtu) {
    const std::size_t sizes[] = {0,       1,           3, mtu - 1,  mtu,         mtu + 1,
                                 2 * mtu, 3 * mtu + 5, 7, 10 * mtu, 17 * mtu + 2};
    return sizes[n % std::size(sizes)];
}

traffic_plan awkward_messages(std::uint32_t count, mtu path_mtu) {
    traffic_plan plan;
    plan.messages = count;
    plan.size_of = [=](std::uint32_t n) { return awkward_size(n, bytes(path_mtu)); };
    plan.max_size = 17 * bytes(path_mtu) + 2;
    return plan;
}

struct network_case {
    mtu path_mtu;
    std::uint64_t seed;
};

void PrintTo(const network_case& c, std::ostream* out) {
    *out << bytes(c.path_mtu) << " bytes, seed " << c.seed;
}

std::vector<network_case> every_mtu(std::uint64_t seeds) {
    std::vector<network_case> all;
    for (const mtu m : {mtu::b256, mtu::b512, mtu::b1024, mtu::b2048, mtu::b4096})
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) all.push_back({m, seed});
    return all;
}

rc_traffic::settings settings_of(const network_case& c, double faults, std::uint32_t messages) {
    rc_traffic::settings s;
    s.seed = c.seed;
    s.faults = network_faults::each(faults);
    s.endpoint.path_mtu = c.path_mtu;
    s.left = awkward_messages(messages, c.path_mtu);
    s.right = awkward_messages(messages / 2, c.path_mtu);
    s.right.immediate = true;
    return s;
}

class rc_network : public testing::TestWithParam<network_case> {};

TEST_P(rc_network, repeats_nothing_where_nothing_is_lost) {
    rc_traffic traffic(settings_of(GetParam(), 0, 66));
    traffic.run();
    EXPECT_TRUE(traffic.complete()) << traffic.describe();
    EXPECT_EQ(traffic.left().retransmitted_packets, 0U);
    EXPECT_EQ(traffic.right().retransmitted_packets, 0U);
    EXPECT_EQ(traffic.left().timeouts + traffic.right().timeouts, 0U);
    EXPECT_EQ(traffic.right().sequence_naks_sent + traffic.right().duplicates_received, 0U);
}

TEST_P(rc_network, delivers_everything_with_two_percent_of_every_fault) {
    rc_traffic traffic(settings_of(GetParam(), 0.02, 66));
    traffic.run();
    EXPECT_TRUE(traffic.complete()) << traffic.describe();
    EXPECT_GT(traffic.network().dropped, 0U);
    EXPECT_GT(traffic.network().duplicated, 0U);
    EXPECT_GT(traffic.network().reordered, 0U);
    EXPECT_GT(traffic.network().refused_by_icrc, 0U);
    EXPECT_GT(traffic.left().retransmitted_packets + traffic.right().retransmitted_packets, 0U);
}

TEST_P(rc_network, delivers_everything_with_twenty_percent_of_every_fault_when_it_never_gives_up) {
    auto s = settings_of(GetParam(), 0.2, 44);
    s.endpoint.unlimited_retry = true;
    rc_traffic traffic(s);
    traffic.run();
    EXPECT_TRUE(traffic.complete()) << traffic.describe();
}

TEST_P(rc_network, delivers_a_prefix_when_the_retries_run_out) {
    auto s = settings_of(GetParam(), 0.4, 44);
    s.endpoint.retry_count = 1;
    rc_traffic traffic(s);
    traffic.run();
    EXPECT_FALSE(traffic.complete());
    EXPECT_EQ(error_code(traffic.failure()), error_code(errc::retry_exceeded)) << traffic.describe();
}

INSTANTIATE_TEST_SUITE_P(sweep, rc_network, testing::ValuesIn(every_mtu(4)));

class rc_network_seeds : public testing::TestWithParam<std::uint64_t> {};

rc_traffic::settings small_messages(std::uint64_t seed, double faults) {
    rc_traffic::settings s;
    s.seed = seed;
    s.faults = network_faults::each(faults);
    s.endpoint.path_mtu = mtu::b1024;
    s.left.messages = 500;
    s.left.sends = 200; // more than the window
    s.left.receives = 256;
    return s;
}

TEST_P(rc_network_seeds, keeps_many_small_messages_apart) {
    rc_traffic traffic(small_messages(GetParam(), 0.02));
    traffic.run();
    EXPECT_TRUE(traffic.complete()) << traffic.describe();
}

TEST_P(rc_network_seeds, waits_for_a_receiver_that_posts_late) {
    auto s = small_messages(GetParam(), 0.01);
    s.left.messages = 200;
    s.left.receives = 2;
    s.left.receive_delay = 1ms;
    rc_traffic traffic(s);
    traffic.run();
    EXPECT_TRUE(traffic.complete()) << traffic.describe();
    EXPECT_GT(traffic.right().rnr_naks_sent, 0U);
    EXPECT_LT(traffic.left().retransmitted_packets, 5U * s.left.messages) << "a storm instead of a wait";
}

TEST_P(rc_network_seeds, works_through_a_window_of_few_bytes) {
    auto s = small_messages(GetParam(), 0.02);
    s.endpoint.window = {3000, [](std::uint32_t datagram) { return datagram + 500; }, 128};
    rc_traffic traffic(s);
    traffic.run();
    EXPECT_TRUE(traffic.complete()) << traffic.describe();
}

TEST_P(rc_network_seeds, has_one_history) {
    rc_traffic once(small_messages(GetParam(), 0.05));
    rc_traffic again(small_messages(GetParam(), 0.05));
    rc_traffic other(small_messages(GetParam() + 1, 0.05));
    once.run();
    again.run();
    other.run();
    EXPECT_EQ(once.network(), again.network());
    EXPECT_NE(once.network().history, other.network().history);
}

TEST_P(rc_network_seeds, ends_both_sides_when_the_network_dies) {
    auto s = small_messages(GetParam(), 0);
    s.right = s.left;
    s.faults.drop = 1;
    rc_traffic traffic(s);
    traffic.run();
    EXPECT_EQ(error_code(traffic.failure()), error_code(errc::retry_exceeded));
    EXPECT_EQ(traffic.completed_left(), 0U);
    EXPECT_EQ(traffic.left().timeouts, 8U);
    EXPECT_EQ(traffic.right().timeouts, 8U);
}

INSTANTIATE_TEST_SUITE_P(seeds, rc_network_seeds, testing::Range<std::uint64_t>(1, 13));

TEST(rc_network_cost, needs_few_acknowledgements) {
    rc_traffic traffic(small_messages(1, 0));
    traffic.run();
    EXPECT_TRUE(traffic.complete());
    EXPECT_LE(traffic.right().acks_sent, 500U / 16);
}

TEST(rc_network_cost, repeats_one_packet_when_only_acknowledgements_are_lost) {
    auto left = rts_endpoint();
    for (std::uint32_t n = 1; n <= 20; ++n) left->send(n, 10);
    EXPECT_EQ(left->take_packets().size(), 20U);
    left->wait_for_deadline();
    EXPECT_EQ(left->take_packets().size(), 1U);
    left->deliver(ack(19, 20));
    EXPECT_EQ(left->poll_all().size(), 20U);
    EXPECT_EQ(left->qp().counters().retransmitted_packets, 1U);
}

struct long_case {
    mtu path_mtu;
    double faults;
};

class rc_long_message : public testing::TestWithParam<long_case> {};

TEST_P(rc_long_message, of_sixteen_mebibytes_arrives) {
    constexpr std::size_t size = 16U << 20;
    rc_traffic::settings s;
    s.seed = 2;
    s.faults = network_faults::each(GetParam().faults);
    s.endpoint.path_mtu = GetParam().path_mtu;
    s.left.messages = 2;
    s.left.max_size = size;
    s.left.size_of = [](std::uint32_t n) { return size - n; };
    s.left.sends = s.left.receives = 2;
    rc_traffic traffic(s);
    traffic.run();
    EXPECT_TRUE(traffic.complete()) << traffic.describe();
    EXPECT_EQ(traffic.right().messages_received, 2U);
    EXPECT_EQ(traffic.right().bytes_received, 2 * size - 1);
}

INSTANTIATE_TEST_SUITE_P(mtus, rc_long_message,
                         testing::Values(long_case{mtu::b256, 0}, long_case{mtu::b1024, 0.005},
                                         long_case{mtu::b4096, 0}, long_case{mtu::b4096, 0.01}));

} // namespace
} // namespace rocio::test

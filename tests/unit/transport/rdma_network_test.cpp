#include "rc_traffic.hpp"

#include <gtest/gtest.h>

// WRITEs and READs over a simulated network: loss, duplication, reordering, damage and a link that takes
// little.

namespace rocio::test {
namespace {

using namespace std::chrono_literals;

struct mix {
    const char* name;
    std::vector<opcode> ops;
};

const mix mixes[] = {
    {"writes", {opcode::rdma_write}},
    {"writes_with_immediate", {opcode::rdma_write_with_immediate}},
    {"reads", {opcode::rdma_read}},
    {"reads_and_sends", {opcode::rdma_read, opcode::send, opcode::send_with_immediate}},
    {"everything",
     {opcode::send, opcode::rdma_write, opcode::rdma_read, opcode::rdma_read, opcode::send_with_immediate,
      opcode::rdma_write_with_immediate, opcode::rdma_write}},
};

struct network_case {
    mix operations;
    mtu path_mtu;
    std::uint64_t seed;
};

void PrintTo(const network_case& c, std::ostream* out) {
    *out << c.operations.name << ", " << bytes(c.path_mtu) << " bytes, seed " << c.seed;
}

std::vector<network_case> all_cases(std::uint64_t seeds) {
    std::vector<network_case> all;
    for (const mix& m : mixes)
        for (const mtu path_mtu : {mtu::b256, mtu::b1024, mtu::b4096})
            for (std::uint64_t seed = 1; seed <= seeds; ++seed) all.push_back({m, path_mtu, seed});
    return all;
}

traffic_plan plan_of(const network_case& c, std::uint32_t messages) {
    const std::size_t m = bytes(c.path_mtu);
    traffic_plan plan;
    plan.messages = messages;
    plan.max_size = 40 * m + 3;
    plan.size_of = [m](std::uint32_t n) {
        const std::size_t sizes[] = {0, 1, m, 3 * m + 5, m + 1, 40 * m + 3, 7, 2 * m, m - 1, 10 * m};
        return sizes[n % std::size(sizes)];
    };
    plan.op_of = [ops = c.operations.ops](std::uint32_t n) { return ops[n % ops.size()]; };
    return plan;
}

rc_traffic::settings settings_of(const network_case& c, double faults, std::uint32_t messages) {
    rc_traffic::settings s;
    s.seed = c.seed;
    s.faults = network_faults::each(faults);
    s.endpoint.path_mtu = c.path_mtu;
    s.left = plan_of(c, messages);
    s.right = plan_of(c, messages / 2);
    return s;
}

class rdma_network : public testing::TestWithParam<network_case> {};

TEST_P(rdma_network, repeats_nothing_where_nothing_is_lost) {
    rc_traffic traffic(settings_of(GetParam(), 0, 70));
    traffic.run();
    EXPECT_TRUE(traffic.complete()) << traffic.describe();
    EXPECT_EQ(traffic.left().retransmitted_packets + traffic.right().retransmitted_packets, 0U);
    EXPECT_EQ(traffic.left().timeouts + traffic.right().timeouts, 0U);
    EXPECT_EQ(traffic.right().sequence_naks_sent + traffic.right().duplicates_received, 0U);
}

TEST_P(rdma_network, carries_everything_with_two_percent_of_every_fault) {
    rc_traffic traffic(settings_of(GetParam(), 0.02, 70));
    traffic.run();
    EXPECT_TRUE(traffic.complete()) << traffic.describe();
    EXPECT_GT(traffic.network().dropped, 0U);
    EXPECT_GT(traffic.left().retransmitted_packets + traffic.right().retransmitted_packets, 0U);
}

TEST_P(rdma_network, carries_everything_with_fifteen_percent_of_every_fault_when_it_never_gives_up) {
    auto s = settings_of(GetParam(), 0.15, 40);
    s.endpoint.unlimited_retry = true;
    rc_traffic traffic(s);
    traffic.run();
    EXPECT_TRUE(traffic.complete()) << traffic.describe();
}

TEST_P(rdma_network, works_through_windows_of_few_packets_and_late_receives) {
    auto s = settings_of(GetParam(), 0.01, 40);
    s.endpoint.window = {3 * bytes(GetParam().path_mtu), [](std::uint32_t d) { return d; }, 16};
    s.endpoint.response_window = {5 * bytes(GetParam().path_mtu), [](std::uint32_t d) { return d; }, 16};
    s.endpoint.initiator_depth = 2;
    s.left.receives = s.right.receives = 2;
    s.left.receive_delay = 300us;
    rc_traffic traffic(s);
    traffic.run();
    EXPECT_TRUE(traffic.complete()) << traffic.describe();
}

INSTANTIATE_TEST_SUITE_P(sweep, rdma_network, testing::ValuesIn(all_cases(3)));

struct long_case {
    opcode op;
    double faults;
};

class rdma_long_message : public testing::TestWithParam<long_case> {};

TEST_P(rdma_long_message, of_sixteen_mebibytes_is_whole) {
    constexpr std::size_t size = 16U << 20;
    rc_traffic::settings s;
    s.seed = 2;
    s.faults = network_faults::each(GetParam().faults);
    s.endpoint.path_mtu = mtu::b4096;
    s.left.messages = 2;
    s.left.max_size = size;
    s.left.size_of = [](std::uint32_t n) { return size - n; };
    s.left.op_of = [](std::uint32_t) { return GetParam().op; };
    s.left.sends = s.left.receives = 2;
    rc_traffic traffic(s);
    traffic.run();
    EXPECT_TRUE(traffic.complete()) << traffic.describe();
}

INSTANTIATE_TEST_SUITE_P(ops, rdma_long_message,
                         testing::Values(long_case{opcode::rdma_write, 0},
                                         long_case{opcode::rdma_write, 0.01}, long_case{opcode::rdma_read, 0},
                                         long_case{opcode::rdma_read, 0.01}));

TEST(rdma_gibibyte, is_accepted_and_one_byte_more_refused) {
    auto e = rts_endpoint();
    constexpr std::uint32_t length = 1U << 30;
    std::vector<std::byte> address_only(1);
    send_request r;
    r.op = opcode::rdma_write;
    r.buffer = {address_only.data(), length, {}};
    r.remote_key = rkey{1};
    EXPECT_EQ(e->post(r).accepted, 1U);
    r.buffer.size = length + 1;
    EXPECT_EQ(e->post(r).reason, errc::message_too_long);
    r.op = opcode::rdma_read;
    EXPECT_EQ(e->post(r).reason, errc::message_too_long);
}

} // namespace
} // namespace rocio::test

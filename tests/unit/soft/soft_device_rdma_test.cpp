#include "simulated_pair.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace rocio {
namespace {

using test::holds_message;
using test::open_to_peer;
using test::simulated_pair;

constexpr std::uint32_t slot_bytes = 20'000;
const std::vector<std::uint32_t> sizes{0, 1, 3, 4'095, 4'096, 4'097, 8'192, 12'289, slot_bytes};

class SoftRdma : public ::testing::Test {
  protected:
    /// The only completion of a's sends.
    work_completion only_sent() {
        EXPECT_TRUE(net.run_until([&] { return !net.a.sent().empty(); }));
        if (net.a.sent().size() != 1) {
            ADD_FAILURE() << net.a.sent().size() << " completions";
            return {};
        }
        return net.a.sent().front();
    }

    simulated_pair net{std::nullopt, open_to_peer({.slot_bytes = slot_bytes})};
};

TEST_F(SoftRdma, WritesGoWhereTheyAreSentAndCompleteNothingThere) {
    for (std::uint32_t i = 0; i < sizes.size(); ++i) {
        test::fill_message(net.a.slot(128 + i), i);
        ASSERT_EQ(net.a.post(net.a.make_rdma(opcode::rdma_write, 128 + i, sizes[i], net.b, 30 + i)),
                  errc::success);
    }
    ASSERT_TRUE(net.run_until([&] { return net.a.sent().size() == sizes.size(); }));
    for (std::uint32_t i = 0; i < sizes.size(); ++i) {
        EXPECT_EQ(net.a.sent()[i].status, errc::success);
        EXPECT_EQ(net.a.sent()[i].op, completion_opcode::rdma_write);
        EXPECT_TRUE(holds_message(net.b.slot(30 + i).first(sizes[i]), i));
        const auto behind = net.b.slot(30 + i).subspan(sizes[i]);
        EXPECT_TRUE(std::ranges::all_of(behind, [](std::byte b) { return b == std::byte{0}; }));
    }
    EXPECT_TRUE(net.b.received().empty());
    EXPECT_EQ(net.b.counters().messages_received, sizes.size());
}

TEST_F(SoftRdma, WritesWithImmediateTakeAReceiveAndTellTheirLength) {
    net.b.post_receives(0, static_cast<std::uint32_t>(sizes.size()));
    for (std::uint32_t i = 0; i < sizes.size(); ++i) {
        test::fill_message(net.a.slot(128 + i), i);
        ASSERT_EQ(net.a.post(net.a.make_rdma(opcode::rdma_write_with_immediate, 128 + i, sizes[i], net.b,
                                             30 + i, 0x80000000 + i)),
                  errc::success);
    }
    ASSERT_TRUE(net.run_until([&] { return net.a.sent().size() == sizes.size(); }));
    ASSERT_EQ(net.b.received().size(), sizes.size());
    for (std::uint32_t i = 0; i < sizes.size(); ++i) {
        const auto& c = net.b.received()[i];
        EXPECT_EQ(c.op, completion_opcode::receive_rdma_write_with_immediate);
        EXPECT_EQ(c.id.slot, i);
        EXPECT_EQ(c.byte_len, sizes[i]);
        EXPECT_EQ(c.immediate, 0x80000000 + i);
        EXPECT_TRUE(holds_message(net.b.slot(30 + i).first(sizes[i]), i));
        EXPECT_EQ(net.b.slot(i)[0], std::byte{0}) << "the receive's own buffer";
    }
}

TEST_F(SoftRdma, ReadsBringTheBytesAndTellTheirLength) {
    for (std::uint32_t i = 0; i < sizes.size(); ++i) {
        test::fill_message(net.b.slot(30 + i), i);
        ASSERT_EQ(net.a.post(net.a.make_rdma(opcode::rdma_read, 128 + i, sizes[i], net.b, 30 + i)),
                  errc::success);
    }
    ASSERT_TRUE(net.run_until([&] { return net.a.sent().size() == sizes.size(); }));
    for (std::uint32_t i = 0; i < sizes.size(); ++i) {
        EXPECT_EQ(net.a.sent()[i].op, completion_opcode::rdma_read);
        EXPECT_EQ(net.a.sent()[i].byte_len, sizes[i]);
        EXPECT_TRUE(holds_message(net.a.slot(128 + i).first(sizes[i]), i));
    }
    EXPECT_TRUE(net.settle());
    EXPECT_EQ(net.a.counters().retransmits, 0U);
}

TEST_F(SoftRdma, OperationsOfOneQueuePairKeepTheirOrder) {
    net.b.post_receives(0, 1);
    test::fill_message(net.a.slot(128), 1);
    ASSERT_EQ(net.a.post(net.a.make_rdma(opcode::rdma_write, 128, 5'000, net.b, 40)), errc::success);
    ASSERT_EQ(net.a.post(net.a.make_rdma(opcode::rdma_read, 129, 5'000, net.b, 40)), errc::success);
    ASSERT_EQ(net.a.post_send(130, 10), errc::success);
    ASSERT_TRUE(net.run_until([&] { return net.a.sent().size() == 3; }));
    EXPECT_TRUE(holds_message(net.a.slot(129).first(5'000), 1)) << "the READ saw the WRITE before it";
    for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(net.a.sent()[i].id.slot, 128 + i);
}

TEST_F(SoftRdma, AnImmediateWaitsForItsReceive) {
    test::fill_message(net.a.slot(128), 1);
    ASSERT_EQ(net.a.post(net.a.make_rdma(opcode::rdma_write_with_immediate, 128, 100, net.b, 40, 7)),
              errc::success);
    ASSERT_TRUE(net.run_until([&] { return net.a.counters().rnr_naks_received == 3; }));
    EXPECT_EQ(net.b.slot(40)[0], std::byte{0});
    net.b.post_receives(0, 1);
    ASSERT_TRUE(net.run_until([&] { return !net.b.received().empty(); }));
    EXPECT_TRUE(holds_message(net.b.slot(40).first(100), 1));
}

TEST_F(SoftRdma, AWrongKeyEndsBothSidesAndNamesTheCause) {
    auto bad = net.a.make_rdma(opcode::rdma_write, 128, 100, net.b, 40);
    bad.remote_key.value ^= 0x100;
    ASSERT_EQ(net.a.post(bad), errc::success);
    EXPECT_EQ(only_sent().status, errc::remote_access_error);
    device_event event;
    ASSERT_TRUE(net.b.device().next_event(event));
    EXPECT_EQ(event.kind, device_event_kind::queue_pair_access_error);
    EXPECT_EQ(event.queue_pair, net.b.qp().number());
    ASSERT_TRUE(net.a.device().next_event(event));
    EXPECT_EQ(event.kind, device_event_kind::queue_pair_fatal);
    EXPECT_EQ(net.b.qp().state(), queue_pair_state::error);
}

TEST_F(SoftRdma, EveryRequestPostedAfterARefusalIsFlushed) {
    auto bad = net.a.make_rdma(opcode::rdma_read, 128, 100, net.b, 255);
    bad.remote_address += slot_bytes; // behind the region
    ASSERT_EQ(net.a.post(bad), errc::success);
    for (std::uint32_t i = 1; i < 6; ++i) ASSERT_EQ(net.a.post_send(128 + i, 10), errc::success);
    ASSERT_TRUE(net.run_until([&] { return net.a.sent().size() == 6; }));
    EXPECT_EQ(net.a.sent()[0].status, errc::remote_access_error);
    for (std::uint32_t i = 1; i < 6; ++i) EXPECT_EQ(net.a.sent()[i].status, errc::work_request_flushed);
}

TEST_F(SoftRdma, ReadsLongerThanTheSocketHoldsNeedNoRepetition) {
    simulated_pair wide(std::nullopt, open_to_peer({.slots = 129, .slot_bytes = 1 << 20}));
    test::fill_message(wide.b.slot(3), 9);
    ASSERT_EQ(wide.a.post(wide.a.make_rdma(opcode::rdma_read, 128, 1 << 20, wide.b, 3)), errc::success);
    ASSERT_TRUE(wide.run_until([&] { return !wide.a.sent().empty(); }));
    EXPECT_TRUE(holds_message(wide.a.slot(128), 9));
    EXPECT_EQ(wide.a.counters().retransmits, 0U);
}

struct grants {
    const char* name;
    memory_access queue_pair, region;
    opcode op;
    errc status;
};

class SoftRights : public ::testing::TestWithParam<grants> {};

TEST_P(SoftRights, OfQueuePairAndRegionAreBothNeeded) {
    const grants& g = GetParam();
    auto options = open_to_peer();
    options.granted = g.queue_pair;
    options.rights = memory_access::local_write | g.region;
    simulated_pair net(std::nullopt, options);
    ASSERT_EQ(net.a.post(net.a.make_rdma(g.op, 128, 100, net.b, 40)), errc::success);
    ASSERT_TRUE(net.run_until([&] { return !net.a.sent().empty(); }));
    EXPECT_EQ(net.a.sent()[0].status, g.status);
    EXPECT_EQ(net.b.qp().state() == queue_pair_state::error, g.status != errc::success);
}

constexpr auto none = memory_access::local_read;
constexpr auto writes = memory_access::remote_write;
constexpr auto reads = memory_access::remote_read;

INSTANTIATE_TEST_SUITE_P(
    SoftRdma, SoftRights,
    ::testing::Values(
        grants{"write", writes, writes, opcode::rdma_write, errc::success},
        grants{"read", reads, reads, opcode::rdma_read, errc::success},
        grants{"write_not_by_queue_pair", reads, writes, opcode::rdma_write, errc::remote_invalid_request},
        grants{"write_not_by_region", writes, reads, opcode::rdma_write, errc::remote_access_error},
        grants{"read_not_by_queue_pair", writes, reads, opcode::rdma_read, errc::remote_invalid_request},
        grants{"read_not_by_region", reads, writes, opcode::rdma_read, errc::remote_access_error},
        grants{"nothing_by_default", none, none, opcode::rdma_write, errc::remote_invalid_request}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(SoftRegion, OfASendOnlyServerCannotBeReachedByDefault) {
    simulated_pair net;
    ASSERT_EQ(net.a.post(net.a.make_rdma(opcode::rdma_write, 128, 100, net.b, 40)), errc::success);
    ASSERT_TRUE(net.run_until([&] { return !net.a.sent().empty(); }));
    EXPECT_EQ(net.a.sent()[0].status, errc::remote_invalid_request);
    EXPECT_EQ(net.b.slot(40)[0], std::byte{0});
}

class SoftRdmaFaults : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(SoftRdmaFaults, CostTimeAndNothingElse) {
    const fault_plan plan{
        .drop = 0.03, .duplicate = 0.03, .reorder = 0.03, .corrupt = 0.03, .seed = GetParam()};
    simulated_pair net(plan, open_to_peer({.slot_bytes = slot_bytes}));
    constexpr std::uint32_t messages = 90;
    net.b.post_receives(0, 100);
    for (std::uint32_t i = 0; i < messages; ++i) {
        test::fill_message(net.a.slot(128 + i), i);
        test::fill_message(net.b.slot(128 + i), 500 + i);
        const std::uint32_t size = sizes[i % sizes.size()];
        const opcode op = i % 3 == 0   ? opcode::rdma_write
                          : i % 3 == 1 ? opcode::rdma_write_with_immediate
                                       : opcode::rdma_read;
        ASSERT_EQ(net.a.post(net.a.make_rdma(op, 128 + i, size, net.b, 128 + i, i)), errc::success);
    }
    ASSERT_TRUE(net.run_until([&] { return net.a.sent().size() == messages; }));
    for (std::uint32_t i = 0; i < messages; ++i) {
        ASSERT_EQ(net.a.sent()[i].status, errc::success) << i;
        const std::uint32_t size = sizes[i % sizes.size()];
        const bool read = i % 3 == 2;
        EXPECT_TRUE(holds_message((read ? net.a : net.b).slot(128 + i).first(size), read ? 500 + i : i)) << i;
    }
    EXPECT_EQ(net.b.received().size(), messages / 3);
    EXPECT_GT(net.a.counters().retransmits, 0U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SoftRdmaFaults, ::testing::Range<std::uint64_t>(1, 6));

} // namespace
} // namespace rocio

#include "verbs/work_request_chain.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>

#include <endian.h>

namespace rocio::verbs {
namespace {

std::size_t length_of(const ibv_send_wr* first) {
    std::size_t n = 0;
    for (; first != nullptr; first = first->next) ++n;
    return n;
}

send_request numbered(std::uint32_t slot, std::byte* data = nullptr, std::uint32_t size = 0) {
    send_request out;
    out.id = {1, 2, slot};
    out.buffer = {data, size, {0x77}};
    return out;
}

TEST(SendChain, HandsOverExactlyTheFilledRequestsInOrder) {
    send_chain chain(8);
    for (std::uint32_t i = 0; i < 5; ++i) fill(chain, i, numbered(i));
    int result = -1;
    const auto accepted = chain.post(5, result, [](ibv_send_wr* first, ibv_send_wr**) {
        EXPECT_EQ(length_of(first), 5U);
        for (std::uint32_t i = 0; first != nullptr; first = first->next, ++i)
            EXPECT_EQ(wr_id::from_bits(first->wr_id), (wr_id{1, 2, i}));
        return 0;
    });
    EXPECT_EQ(accepted, 5U);
    EXPECT_EQ(result, 0);
}

TEST(SendChain, IsWholeAgainAfterEveryPost) {
    send_chain chain(4);
    int result = 0;
    for (const std::size_t count : {1U, 4U, 2U, 3U, 4U}) {
        const auto accepted = chain.post(count, result, [&](ibv_send_wr* first, ibv_send_wr**) {
            EXPECT_EQ(length_of(first), count);
            return 0;
        });
        EXPECT_EQ(accepted, count);
    }
}

TEST(SendChain, OfOneIsHandedOverWithoutAnEndPutIntoIt) {
    send_chain chain(1);
    fill(chain, 0, numbered(5));
    EXPECT_EQ(chain.post_all([](ibv_send_wr* first, ibv_send_wr** bad) {
        EXPECT_EQ(length_of(first), 1U);
        EXPECT_EQ(wr_id::from_bits(first->wr_id), (wr_id{1, 2, 5}));
        *bad = first;
        return ENOMEM;
    }),
              ENOMEM);
}

TEST(SendChain, WhatStandsBeforeTheBadOneWasAccepted) {
    send_chain chain(8);
    for (std::size_t fails = 0; fails < 8; ++fails) {
        int result = 0;
        const auto accepted = chain.post(8, result, [&](ibv_send_wr* first, ibv_send_wr** bad) {
            for (std::size_t i = 0; i < fails; ++i) first = first->next;
            *bad = first;
            return ENOMEM;
        });
        EXPECT_EQ(accepted, fails);
        EXPECT_EQ(result, ENOMEM);
    }
}

TEST(SendChain, AProviderThatNamesNoneTookNone) {
    send_chain chain(4);
    int result = 0;
    EXPECT_EQ(chain.post(3, result, [](ibv_send_wr*, ibv_send_wr**) { return -1; }), 0U);
    EXPECT_EQ(result, -1);
}

TEST(SendChain, EveryOperationHasItsOpcode) {
    send_chain chain(1);
    struct row {
        opcode from;
        ibv_wr_opcode to;
    };
    for (const auto& r :
         {row{opcode::send, IBV_WR_SEND}, row{opcode::send_with_immediate, IBV_WR_SEND_WITH_IMM},
          row{opcode::rdma_write, IBV_WR_RDMA_WRITE},
          row{opcode::rdma_write_with_immediate, IBV_WR_RDMA_WRITE_WITH_IMM},
          row{opcode::rdma_read, IBV_WR_RDMA_READ}}) {
        auto request = numbered(0);
        request.op = r.from;
        fill(chain, 0, request);
        EXPECT_EQ(chain[0].opcode, r.to);
    }
}

TEST(SendChain, ImmediateGoesToNetworkOrderAndRemotePlaceIsKept) {
    send_chain chain(1);
    auto request = numbered(0);
    request.op = opcode::rdma_write_with_immediate;
    request.immediate = 0x80000001;
    request.remote_address = 0x1122334455667788;
    request.remote_key = {0xCAFE};
    fill(chain, 0, request);
    EXPECT_EQ(chain[0].imm_data, htobe32(0x80000001));
    EXPECT_EQ(chain[0].wr.rdma.remote_addr, 0x1122334455667788U);
    EXPECT_EQ(chain[0].wr.rdma.rkey, 0xCAFEU);
}

TEST(SendChain, FlagsFollowTheRequestAndLeaveNoTraceInTheNext) {
    send_chain chain(1);
    std::array<std::byte, 3> bytes{};
    auto request = numbered(0);
    request.solicited = request.inlined = true;
    request.inline_data = bytes;
    fill(chain, 0, request);
    EXPECT_EQ(chain[0].send_flags, unsigned{IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE});
    ASSERT_EQ(chain[0].num_sge, 1);
    EXPECT_EQ(chain[0].sg_list->addr, reinterpret_cast<std::uintptr_t>(bytes.data()));
    EXPECT_EQ(chain[0].sg_list->length, 3U);

    auto quiet = numbered(1);
    quiet.signalled = false;
    fill(chain, 0, quiet);
    EXPECT_EQ(chain[0].send_flags, 0U);
    EXPECT_EQ(chain[0].num_sge, 0) << "an empty element is none";
    EXPECT_EQ(chain[0].imm_data, 0U);
}

TEST(SendChain, TheBufferIsNamedByItsKey) {
    send_chain chain(2);
    std::array<std::byte, 100> bytes{};
    fill(chain, 1, numbered(0, bytes.data(), 100));
    ASSERT_EQ(chain[1].num_sge, 1);
    EXPECT_EQ(chain[1].sg_list->addr, reinterpret_cast<std::uintptr_t>(bytes.data()));
    EXPECT_EQ(chain[1].sg_list->length, 100U);
    EXPECT_EQ(chain[1].sg_list->lkey, 0x77U);
    EXPECT_NE(chain[0].sg_list, chain[1].sg_list);
}

TEST(ReceiveChain, FillsIdAndBuffer) {
    receive_chain chain(2);
    std::array<std::byte, 10> bytes{};
    fill(chain, 0, receive_request{{9, 8, 7}, {bytes.data(), 10, {0x55}}});
    fill(chain, 1, receive_request{{9, 8, 6}, {}});
    EXPECT_EQ(wr_id::from_bits(chain[0].wr_id), (wr_id{9, 8, 7}));
    EXPECT_EQ(chain[0].num_sge, 1);
    EXPECT_EQ(chain[0].sg_list->lkey, 0x55U);
    EXPECT_EQ(chain[1].num_sge, 0);
    int result = 0;
    const auto accepted = chain.post(2, result, [](ibv_recv_wr* first, ibv_recv_wr** bad) {
        *bad = first->next;
        return -ENOMEM;
    });
    EXPECT_EQ(accepted, 1U);
}

} // namespace
} // namespace rocio::verbs

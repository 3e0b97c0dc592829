#include "test_bytes.hpp"
#include "test_devices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace rocio::test {
namespace {

constexpr wr_id send_id{7, 3, 0x80000001};
constexpr wr_id receive_id{8, 4, 2};

class VerbsTraffic : public ::testing::TestWithParam<queue_pair_type> {
  protected:
    bool is_rc() const { return GetParam() == queue_pair_type::rc; }
    verbs_pair pair_{GetParam()};
    seam_end& a_ = pair_.a;
    seam_end& b_ = pair_.b;

    send_request from_a(opcode op, std::size_t bytes) {
        send_request out;
        out.id = send_id;
        out.op = op;
        out.buffer = a_.buffer(0, bytes);
        return out;
    }
    send_request rdma(opcode op, std::size_t bytes, std::size_t remote_offset) {
        send_request out = from_a(op, bytes);
        out.remote_address = b_.remote_address(remote_offset);
        out.remote_key = b_.region().remote_key();
        return out;
    }
    void expect_accepted(const send_request& request) {
        const auto outcome = a_.send(request);
        ASSERT_EQ(outcome.accepted, 1U) << make_error_code(outcome.reason).message();
    }
    void expect_sent(completion_opcode op) {
        const auto done = a_.await();
        EXPECT_EQ(done.status, errc::success);
        EXPECT_EQ(done.id, send_id);
        EXPECT_EQ(done.op, op);
        EXPECT_EQ(done.queue_pair, a_.qp().number());
    }
};

TEST_P(VerbsTraffic, SendArrivesInThePostedBuffer) {
    a_.write(0, "hello over verbs");
    ASSERT_EQ(b_.receive({receive_id, b_.buffer(512, 64)}).accepted, 1U);
    expect_accepted(from_a(opcode::send, 16));

    const auto got = b_.await();
    EXPECT_EQ(got.status, errc::success);
    EXPECT_EQ(got.id, receive_id);
    EXPECT_EQ(got.op, completion_opcode::receive);
    EXPECT_EQ(got.byte_len, 16U);
    EXPECT_FALSE(got.has_immediate);
    EXPECT_EQ(got.queue_pair, b_.qp().number());
    EXPECT_EQ(b_.text(512, 16), "hello over verbs");
    expect_sent(completion_opcode::send);
}

TEST_P(VerbsTraffic, ImmediateArrivesInHostOrder) {
    for (const std::uint32_t value : {0x01020304U, 0x80000001U, 0U, 0xFFFFFFFFU}) {
        ASSERT_EQ(b_.receive({receive_id, b_.buffer(0, 64)}).accepted, 1U);
        auto request = from_a(opcode::send_with_immediate, 8);
        request.immediate = value;
        expect_accepted(request);
        const auto got = b_.await();
        EXPECT_TRUE(got.has_immediate);
        EXPECT_EQ(got.immediate, value);
        EXPECT_EQ(got.byte_len, 8U);
        expect_sent(completion_opcode::send);
    }
}

TEST_P(VerbsTraffic, MessagesOfEverySizeAroundThePathMtuArriveWhole) {
    for (const std::uint32_t size : {0U, 1U, 3U, 4U, 1023U, 1024U, 1025U, 2048U, 2049U, 20000U}) {
        SCOPED_TRACE(size);
        fill_message(a_.bytes(0, size), size);
        ASSERT_EQ(b_.receive({receive_id, b_.buffer(0, 32 * 1024)}).accepted, 1U);
        expect_accepted(from_a(opcode::send, size));
        EXPECT_EQ(b_.await().byte_len, size);
        EXPECT_EQ(first_difference(b_.bytes(0, size), size), size);
        expect_sent(completion_opcode::send);
    }
}

TEST_P(VerbsTraffic, WriteLandsWithoutAReceiveBeforeTheSendBehindIt) {
    a_.write(0, "written");
    ASSERT_EQ(b_.receive({receive_id, b_.buffer(0, 64)}).accepted, 1U);
    expect_accepted(rdma(opcode::rdma_write, 7, 3000));
    expect_accepted(from_a(opcode::send, 7));
    EXPECT_EQ(b_.await().op, completion_opcode::receive);
    EXPECT_EQ(b_.text(3000, 7), "written");
    expect_sent(completion_opcode::rdma_write);
    expect_sent(completion_opcode::send);
}

TEST_P(VerbsTraffic, WriteWithImmediateTakesAReceiveAndTellsTheWrittenLength) {
    for (const std::uint32_t size : {0U, 1U, 1024U, 3000U}) {
        SCOPED_TRACE(size);
        fill_message(a_.bytes(0, size), size + 1);
        b_.write(0, "untouched");
        ASSERT_EQ(b_.receive({receive_id, b_.buffer(0, 9)}).accepted, 1U);
        auto request = rdma(opcode::rdma_write_with_immediate, size, 4096);
        request.immediate = 0xA0B0C0D0;
        expect_accepted(request);

        const auto got = b_.await();
        EXPECT_EQ(got.op, completion_opcode::receive_rdma_write_with_immediate);
        EXPECT_EQ(got.id, receive_id);
        EXPECT_EQ(got.immediate, 0xA0B0C0D0U);
        EXPECT_EQ(got.byte_len, size);
        EXPECT_EQ(first_difference(b_.bytes(4096, size), size + 1), size);
        EXPECT_EQ(b_.text(0, 9), "untouched");
        expect_sent(completion_opcode::rdma_write);
    }
}

TEST_P(VerbsTraffic, ReadWorksOnRcOnly) {
    fill_message(b_.bytes(8192, 5000), 9);
    const auto request = rdma(opcode::rdma_read, 5000, 8192);
    const auto outcome = a_.send(request);
    if (!is_rc()) {
        EXPECT_EQ(outcome.accepted, 0U);
        EXPECT_EQ(outcome.reason, errc::not_supported);
        return;
    }
    ASSERT_EQ(outcome.accepted, 1U);
    expect_sent(completion_opcode::rdma_read);
    EXPECT_EQ(first_difference(a_.bytes(0, 5000), 9), 5000U);
}

TEST_P(VerbsTraffic, AChainIsOneSpanAndKeepsItsOrder) {
    constexpr std::uint32_t count = 40;
    std::vector<receive_request> receives;
    std::vector<send_request> sends;
    for (std::uint32_t i = 0; i < count; ++i) {
        receives.push_back({{1, 1, i}, b_.buffer(i * 64, 64)});
        fill_message(a_.bytes(i * 64, 64), i);
        send_request one;
        one.id = {2, 2, i};
        one.op = opcode::send_with_immediate;
        one.immediate = i;
        one.signalled = i + 1 == count;
        one.buffer = a_.buffer(i * 64, 64);
        sends.push_back(one);
    }
    EXPECT_EQ(b_.qp().post_receive(receives).accepted, count);
    EXPECT_EQ(a_.qp().post_send(sends).accepted, count);
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto got = b_.await();
        EXPECT_EQ(got.id, (wr_id{1, 1, i}));
        EXPECT_EQ(got.immediate, i);
        EXPECT_EQ(first_difference(b_.bytes(i * 64, 64), i), 64U);
    }
    // The unsignalled ones complete silently.
    EXPECT_EQ(a_.await().id, (wr_id{2, 2, count - 1}));
    EXPECT_TRUE(a_.poll_once().empty());
}

TEST_P(VerbsTraffic, SolicitedAndPlainMessagesBothRaiseTheEvent) {
    for (const bool solicited : {false, true}) {
        ASSERT_EQ(b_.receive({receive_id, b_.buffer(0, 64)}).accepted, 1U);
        ASSERT_EQ(b_.cq().arm(), errc::success);
        auto request = from_a(opcode::send, 8);
        request.solicited = solicited;
        expect_accepted(request);
        EXPECT_TRUE(readable(b_.dev().event_fd()));
        b_.dev().drain_events();
        EXPECT_EQ(b_.await().status, errc::success);
        expect_sent(completion_opcode::send);
    }
}

INSTANTIATE_TEST_SUITE_P(Types, VerbsTraffic, ::testing::Values(queue_pair_type::rc, queue_pair_type::uc),
                         [](const auto& i) { return i.param == queue_pair_type::rc ? "RC" : "UC"; });

TEST(VerbsInline, BytesAreTakenBeforePostSendReturns) {
    seam_end_options options;
    options.max_inline = 64;
    verbs_pair pair{options, options};
    ASSERT_EQ(pair.b.receive({receive_id, pair.b.buffer(0, 64)}).accepted, 1U);

    std::vector<std::byte> text = message_bytes(5, 0, 64);
    send_request request;
    request.id = send_id;
    request.inlined = true;
    request.inline_data = text;
    ASSERT_EQ(pair.a.send(request).accepted, 1U);
    std::fill(text.begin(), text.end(), std::byte{0});

    EXPECT_EQ(pair.b.await().byte_len, 64U);
    EXPECT_EQ(first_difference(pair.b.bytes(0, 64), 5), 64U);
    EXPECT_EQ(pair.a.await().id, send_id);
}

TEST(VerbsIova, PeersAddressTheRegionFromTheGivenAddress) {
    seam_end_options with_iova;
    with_iova.iova = 0x10000;
    verbs_pair pair{{}, with_iova};
    ASSERT_EQ(pair.b.region().iova(), 0x10000U);
    fill_message(pair.a.bytes(0, 2000), 4);
    send_request request;
    request.op = opcode::rdma_write;
    request.buffer = pair.a.buffer(0, 2000);
    request.remote_address = 0x10000 + 100;
    request.remote_key = pair.b.region().remote_key();
    ASSERT_EQ(pair.a.send(request).accepted, 1U);
    EXPECT_EQ(pair.a.await().status, errc::success);
    EXPECT_EQ(first_difference(pair.b.bytes(100, 2000), 4), 2000U);
}

} // namespace
} // namespace rocio::test

// RDMA: what the device is asked for, what never reaches it, and what a write with immediate gives.

#include "queue_pair_fixture.hpp"
#include "recorder.hpp"

namespace rocio::test {
namespace {

constexpr remote_region theirs{0x7000'0000'0000, 4096, rkey{0xABCD}};

class queue_pair_rdma : public queue_pair_fixture {
  protected:
    /// The only request the device got.
    posted_send posted() {
        const auto log = dev->send_log();
        EXPECT_EQ(log.size(), 1U);
        return log.empty() ? posted_send{} : log.front();
    }
    void complete() {
        ASSERT_TRUE(dev->complete_send(0));
        run();
    }
};

TEST_F(queue_pair_rdma, write_names_both_memories) {
    auto qp = connected();
    recorder<> done;
    qp.async_write(text("payload"), theirs.buffer(96, 7), done.handler());
    const auto seen = posted();
    EXPECT_EQ(seen.request.op, opcode::rdma_write);
    EXPECT_EQ(seen.request.remote_address, 0x7000'0000'0060U);
    EXPECT_EQ(seen.request.remote_key, rkey{0xABCD});
    EXPECT_THAT(seen.bytes, ::testing::ElementsAreArray(bytes_of("payload")));
    complete();
    EXPECT_FALSE(done.ec());
}

TEST_F(queue_pair_rdma, write_takes_bytes_without_registration) {
    auto qp = connected();
    recorder<> done;
    const std::string small = "few";
    qp.async_write(inline_bytes(bytes_of(small)), theirs.buffer(), done.handler());
    EXPECT_TRUE(posted().request.inlined);
    EXPECT_EQ(posted().request.op, opcode::rdma_write);
    complete();
    EXPECT_FALSE(done.ec());
}

TEST_F(queue_pair_rdma, write_with_immediate_carries_the_number) {
    auto qp = connected();
    recorder<> done;
    qp.async_write_with_immediate(text("x"), theirs.buffer(4095, 1), 0xCAFE0001, done.handler());
    EXPECT_EQ(posted().request.op, opcode::rdma_write_with_immediate);
    EXPECT_EQ(posted().request.immediate, 0xCAFE0001U);
    EXPECT_EQ(posted().request.remote_address, theirs.address + 4095);
    complete();
    EXPECT_FALSE(done.ec());
}

TEST_F(queue_pair_rdma, read_names_where_to_put_it) {
    auto qp = connected();
    recorder<> done;
    qp.async_read(memory.buffer(128, 64), theirs.buffer(0, 64), done.handler());
    EXPECT_EQ(posted().request.op, opcode::rdma_read);
    EXPECT_EQ(posted().request.buffer.data, memory.bytes().data() + 128);
    EXPECT_EQ(posted().request.buffer.key, memory.buffer().key);
    complete();
    EXPECT_FALSE(done.ec());
}

TEST_F(queue_pair_rdma, more_than_the_peers_buffer_is_refused_before_the_device) {
    auto qp = connected();
    recorder<> write, immediate, read, inlined;
    const auto short_one = theirs.buffer(0, 63);
    qp.async_write(memory.buffer(0, 64), short_one, write.handler());
    qp.async_write_with_immediate(memory.buffer(0, 64), short_one, 1, immediate.handler());
    qp.async_read(memory.buffer(0, 64), short_one, read.handler());
    const std::string four = "four";
    qp.async_write(inline_bytes(bytes_of(four)), theirs.buffer(0, 3), inlined.handler());
    EXPECT_EQ(write.calls(), 0) << "completed inside the initiating function";
    run();
    for (const auto* r : {&write, &immediate, &read, &inlined}) EXPECT_EQ(r->ec(), errc::not_in_region);
    EXPECT_TRUE(dev->send_log().empty());
    EXPECT_EQ(qp.state(), queue_pair_state::ready_to_send);
}

TEST_F(queue_pair_rdma, refusal_of_the_peer_ends_the_connection) {
    auto qp = connected();
    recorder<> write, next;
    qp.async_write(memory.buffer(0, 64), theirs.buffer(), write.handler());
    qp.async_read(memory.buffer(0, 64), theirs.buffer(), next.handler());
    ASSERT_TRUE(dev->complete_send(0, errc::remote_access_error));
    run();
    EXPECT_EQ(write.ec(), errc::remote_access_error);
    EXPECT_EQ(next.ec(), errc::work_request_flushed);
    EXPECT_EQ(qp.close_reason(), errc::remote_access_error);
}

TEST_F(queue_pair_rdma, receive_tells_a_write_from_a_message) {
    auto qp = connected();
    recorder<> ping;
    recorder<received_message> message;
    qp.async_send(text("x"), ping.handler());
    qp.async_receive(memory.buffer(0, 64), message.handler());
    auto id = posted().request.id;
    id.slot = queue_pair_config{}.send_depth; // the first receive
    dev->inject({.id = id,
                 .op = completion_opcode::receive_rdma_write_with_immediate,
                 .has_immediate = true,
                 .immediate = 77,
                 .byte_len = 3000});
    complete();
    EXPECT_TRUE(message.result().by_write);
    EXPECT_EQ(message.result().size, 3000U);
    EXPECT_EQ(message.result().immediate, 77U);
}

TEST_F(queue_pair_rdma, region_is_told_to_the_peer_and_the_peers_is_kept) {
    queue_pair_config config;
    config.region = theirs;
    queue_pair qp(context, dev, config);
    EXPECT_EQ(qp.peer().region.length, 0U);
    local_parameters ours;
    ASSERT_FALSE(qp.as_connectable()->prepare(ours));
    EXPECT_EQ(ours.region.address, theirs.address);
    EXPECT_EQ(ours.region.length, theirs.length);
    EXPECT_EQ(ours.region.key, theirs.key);
    peer_parameters peer;
    static_cast<endpoint_parameters&>(peer) = ours;
    peer.queue_pair = qpn{script_peer};
    ASSERT_FALSE(qp.as_connectable()->establish(peer));
    EXPECT_EQ(qp.peer().region.key, theirs.key);
    EXPECT_EQ(qp.peer().queue_pair, qpn{script_peer});
}

} // namespace
} // namespace rocio::test

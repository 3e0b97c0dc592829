#include "test_bytes.hpp"
#include "test_devices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>

namespace rocio::test {
namespace {

using ::testing::AnyOf;

/// Queue pairs of one opened device that complete into one queue, each connected to one of the peer.
class shared_queue {
  public:
    static constexpr std::uint32_t depth = 8;

    shared_queue(const std::string& name, std::uint32_t count, std::uint32_t completions)
        : device_(test_devices::open(name)), address_(seam_end::first_address(*device_)), memory_(64 * 1024) {
        throw_if(device_->create_completion_queue(completions, queue_));
        throw_if(device_->register_memory(memory_, {memory_access::local_write, {}}, region_));
        pairs_.resize(count);
        for (auto& pair : pairs_) {
            device_queue_pair_config config;
            config.completions = queue_.get();
            config.send_depth = config.receive_depth = depth;
            throw_if(device_->create_queue_pair(config, pair));
            throw_if(pair->to_init({1, address_.index, memory_access::local_read}));
        }
    }

    void connect(const shared_queue& peer) {
        for (std::size_t i = 0; i < pairs_.size(); ++i) {
            connect_attributes to;
            to.local.path_mtu = to.peer.path_mtu = mtu::b1024;
            to.local.send_psn = psn{pairs_[i]->number().value()};
            to.peer.send_psn = psn{peer.pairs_[i]->number().value()};
            to.peer.address = peer.address_.value;
            to.peer.queue_pair = peer.pairs_[i]->number();
            throw_if(pairs_[i]->to_ready_to_receive(to));
            throw_if(pairs_[i]->to_ready_to_send(to));
        }
    }

    device_queue_pair& pair(std::size_t i) { return *pairs_[i]; }
    registered_buffer buffer(std::size_t i, std::uint32_t bytes) {
        return {memory_.data() + i * 64, bytes, region_->local_key()};
    }
    void post_receive(std::uint32_t owner) {
        const receive_request request{{static_cast<std::uint16_t>(owner), 1, 0}, buffer(owner, 64)};
        EXPECT_EQ(pair(owner).post_receive({&request, 1}).accepted, 1U);
    }
    void post_send(std::uint32_t owner, std::uint32_t immediate) {
        send_request request;
        request.id = {static_cast<std::uint16_t>(owner), 2, 0};
        request.op = opcode::send_with_immediate;
        request.immediate = immediate;
        request.buffer = buffer(owner, 32);
        EXPECT_EQ(pair(owner).post_send({&request, 1}).accepted, 1U);
    }
    std::vector<work_completion> await(std::size_t count) {
        std::vector<work_completion> out;
        while (out.size() < count) {
            EXPECT_EQ(queue_->arm(), errc::success);
            work_completion found[7]; // not a divisor of anything here
            errc error = errc::success;
            const auto n = queue_->poll(found, error);
            EXPECT_EQ(error, errc::success);
            out.insert(out.end(), found, found + n);
            if (n == 0 && !readable(device_->event_fd())) break;
            device_->drain_events();
        }
        EXPECT_EQ(out.size(), count);
        return out;
    }

  private:
    std::shared_ptr<verbs_device> device_;
    gid_table_entry address_;
    std::vector<std::byte> memory_;
    std::unique_ptr<device_completion_queue> queue_;
    std::unique_ptr<device_memory_region> region_;
    std::vector<std::unique_ptr<device_queue_pair>> pairs_;
};

TEST(VerbsQueues, OneCompletionQueueServesManyQueuePairs) {
    constexpr std::uint32_t count = 32;
    const auto devices = test_devices::from_environment();
    shared_queue a(devices.first, count, 2 * count * shared_queue::depth);
    shared_queue b(devices.second, count, 2 * count * shared_queue::depth);
    a.connect(b);
    b.connect(a);
    for (std::uint32_t i = 0; i < count; ++i) b.post_receive(i);
    for (std::uint32_t i = 0; i < count; ++i) a.post_send(i, 1000 + i);

    std::map<std::uint16_t, work_completion> received;
    for (const auto& done : b.await(count)) received[done.id.owner] = done;
    ASSERT_EQ(received.size(), count);
    for (const auto& [owner, done] : received) {
        EXPECT_EQ(done.status, errc::success);
        EXPECT_EQ(done.immediate, 1000U + owner);
        EXPECT_EQ(done.queue_pair, b.pair(owner).number());
    }
    for (const auto& done : a.await(count)) EXPECT_EQ(done.queue_pair, a.pair(done.id.owner).number());
}

TEST(VerbsQueues, OneFailedQueuePairLeavesItsNeighboursAlone) {
    const auto devices = test_devices::from_environment();
    shared_queue a(devices.first, 2, 64), b(devices.second, 2, 64);
    a.connect(b);
    b.connect(a);
    b.post_receive(0);
    b.post_receive(1);
    ASSERT_FALSE(b.pair(0).to_error());
    EXPECT_EQ(b.await(1).front().status, errc::work_request_flushed);
    a.post_send(1, 7);
    const auto got = b.await(1).front();
    EXPECT_EQ(got.status, errc::success);
    EXPECT_EQ(got.id.owner, 1U);
    EXPECT_EQ(b.pair(0).state(), queue_pair_state::error);
    EXPECT_EQ(b.pair(1).state(), queue_pair_state::ready_to_send);
}

TEST(VerbsQueues, ASpanLongerThanAChainIsPostedWholeAndInOrder) {
    constexpr std::uint32_t count = 700;
    seam_end_options deep;
    deep.depth = 1024;
    deep.completions = 2048;
    verbs_pair pair{deep, deep};
    std::vector<receive_request> receives;
    std::vector<send_request> sends;
    for (std::uint32_t i = 0; i < count; ++i) {
        receives.push_back({{1, 1, i}, pair.b.buffer(i * 16, 16)});
        send_request one;
        one.id = {2, 2, i};
        one.op = opcode::send_with_immediate;
        one.immediate = i;
        one.buffer = pair.a.buffer(i * 16, 16);
        fill_message(pair.a.bytes(i * 16, 16), i);
        sends.push_back(one);
    }
    EXPECT_EQ(pair.b.qp().post_receive(receives).accepted, count);
    EXPECT_EQ(pair.a.qp().post_send(sends).accepted, count);
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto got = pair.b.await();
        ASSERT_EQ(got.status, errc::success);
        ASSERT_EQ(got.id, (wr_id{1, 1, i}));
        ASSERT_EQ(got.immediate, i);
        ASSERT_EQ(first_difference(pair.b.bytes(i * 16, 16), i), 16U);
    }
    for (std::uint32_t i = 0; i < count; ++i) ASSERT_EQ(pair.a.await().id, (wr_id{2, 2, i}));
}

TEST(VerbsQueues, ARefusalInsideALongSpanKeepsWhatStandsBeforeIt) {
    seam_end_options deep;
    deep.depth = 512;
    deep.completions = 1024;
    verbs_pair pair{deep, deep};
    std::vector<send_request> sends(400);
    for (auto& one : sends) one.buffer = pair.a.buffer(0, 16);
    const std::vector<std::byte> too_long(pair.a.qp().capacity().max_inline + 1);
    sends[300].inlined = true;
    sends[300].inline_data = too_long;
    pair.b.post_receives(300, 16);
    const auto outcome = pair.a.qp().post_send(sends);
    EXPECT_EQ(outcome.accepted, 300U);
    EXPECT_EQ(outcome.reason, errc::inline_too_long);
    for (int i = 0; i < 300; ++i) ASSERT_EQ(pair.b.await().status, errc::success);
}

TEST(VerbsQueues, BothDirectionsAtOnce) {
    verbs_pair pair;
    constexpr std::uint32_t rounds = 50;
    for (std::uint32_t round = 0; round < rounds; ++round) {
        for (auto* end : {&pair.a, &pair.b}) {
            EXPECT_EQ(end->receive({{1, 1, round}, end->buffer(8192, 4096)}).accepted, 1U);
            fill_message(end->bytes(0, 3000), round + (end == &pair.a ? 0 : 1000));
        }
        for (auto* end : {&pair.a, &pair.b}) {
            send_request request;
            request.id = {2, 2, round};
            request.buffer = end->buffer(0, 3000);
            EXPECT_EQ(end->send(request).accepted, 1U);
        }
        for (auto* end : {&pair.a, &pair.b}) {
            for (int i = 0; i < 2; ++i) EXPECT_EQ(end->await().status, errc::success);
            const std::uint32_t sent = round + (end == &pair.a ? 1000 : 0);
            EXPECT_EQ(first_difference(end->bytes(8192, 3000), sent), 3000U);
        }
    }
}

TEST(VerbsQueues, OpensOfOneDeviceWorkSideBySideOnTheirOwnThreads) {
    const auto run = [] {
        verbs_pair pair;
        for (int i = 0; i < 100; ++i) {
            pair.b.post_receives(1);
            send_request request;
            request.buffer = pair.a.buffer(0, 16);
            EXPECT_EQ(pair.a.send(request).accepted, 1U);
            EXPECT_EQ(pair.b.await_by_event().status, errc::success);
            EXPECT_EQ(pair.a.await().status, errc::success);
        }
    };
    std::thread other(run);
    run();
    other.join();
}

TEST(VerbsQueues, SnapshotsAndTablesMayBeAskedFromAnotherThread) {
    verbs_pair pair;
    std::atomic<bool> stop{false};
    std::thread asker([&] {
        while (!stop) {
            EXPECT_EQ(pair.a.dev().snapshot().port_state, "active");
            EXPECT_GT(pair.a.dev().limits().max_queue_pairs, 0U);
        }
    });
    for (int i = 0; i < 50; ++i) {
        pair.b.post_receives(1);
        send_request request;
        request.buffer = pair.a.buffer(0, 16);
        EXPECT_EQ(pair.a.send(request).accepted, 1U);
        EXPECT_EQ(pair.b.await().status, errc::success);
        EXPECT_EQ(pair.a.await().status, errc::success);
    }
    stop = true;
    asker.join();
}

TEST(VerbsQueues, AReceiveThatIsTooSmallFailsBothSides) {
    for (const auto type : {queue_pair_type::rc, queue_pair_type::uc}) {
        verbs_pair pair{type};
        ASSERT_EQ(pair.b.receive({{1, 1, 9}, pair.b.buffer(0, 8)}).accepted, 1U);
        ASSERT_EQ(pair.b.receive({{1, 1, 10}, pair.b.buffer(8, 64)}).accepted, 1U);
        send_request request;
        request.buffer = pair.a.buffer(0, 64);
        ASSERT_EQ(pair.a.send(request).accepted, 1U);
        // NICs say length, rdma_rxe says operation (capture rc_nak_recv_too_small).
        const auto got = pair.b.await();
        EXPECT_THAT(got.status, AnyOf(errc::local_length_error, errc::local_operation_error));
        EXPECT_EQ(got.id, (wr_id{1, 1, 9}));
        EXPECT_EQ(got.byte_len, 0U);
        EXPECT_EQ(pair.b.await().status, errc::work_request_flushed);
        EXPECT_EQ(pair.b.qp().state(), queue_pair_state::error);
        EXPECT_EQ(first_difference(pair.b.bytes(8, 64), 0), 0U) << "the second buffer stays as it was";
        const auto sent = pair.a.await();
        if (type == queue_pair_type::uc) {
            EXPECT_EQ(sent.status, errc::success) << "UC is not told";
        } else {
            EXPECT_THAT(sent.status, AnyOf(errc::remote_invalid_request, errc::remote_operation_error));
        }
    }
}

TEST(VerbsQueues, AWrongLocalKeyIsAProtectionError) {
    verbs_pair pair;
    send_request request;
    request.id = {3, 3, 3};
    request.buffer = pair.a.buffer(0, 64);
    request.buffer.key.value ^= 0x7700;
    pair.b.post_receives(1);
    ASSERT_EQ(pair.a.send(request).accepted, 1U);
    const auto got = pair.a.await();
    EXPECT_EQ(got.id, (wr_id{3, 3, 3}));
    EXPECT_THAT(got.status, AnyOf(errc::local_protection_error, errc::local_operation_error));
}

TEST(VerbsQueues, ARegionWithoutTheRightRefusesThePeer) {
    seam_end_options read_only;
    read_only.access = memory_access::local_write | memory_access::remote_read;
    verbs_pair pair{{}, read_only};
    send_request request;
    request.op = opcode::rdma_write;
    request.buffer = pair.a.buffer(0, 16);
    request.remote_address = pair.b.remote_address(0);
    request.remote_key = pair.b.region().remote_key();
    fill_message(pair.a.bytes(0, 16), 1);
    ASSERT_EQ(pair.a.send(request).accepted, 1U);
    EXPECT_THAT(pair.a.await().status, AnyOf(errc::remote_access_error, errc::remote_invalid_request));
    EXPECT_EQ(pair.b.text(0, 16), std::string(16, '\0'));
}

TEST(VerbsQueues, UcWithoutAReceiveLosesTheMessageAndGoesOn) {
    verbs_pair pair{queue_pair_type::uc};
    for (std::uint32_t i = 0; i < 3; ++i) {
        send_request request;
        request.op = opcode::send_with_immediate;
        request.immediate = i;
        request.buffer = pair.a.buffer(0, 16);
        ASSERT_EQ(pair.a.send(request).accepted, 1U);
        EXPECT_EQ(pair.a.await().status, errc::success);
    }
    // A packet may still be under way when its send is complete, so one of the three may find a receive.
    pair.b.post_receives(4);
    send_request last;
    last.op = opcode::send_with_immediate;
    last.immediate = 99;
    last.buffer = pair.a.buffer(0, 16);
    ASSERT_EQ(pair.a.send(last).accepted, 1U);
    auto got = pair.b.await();
    while (got.status == errc::success && got.immediate < 3) got = pair.b.await();
    EXPECT_EQ(got.status, errc::success);
    EXPECT_EQ(got.immediate, 99U);
    EXPECT_EQ(pair.b.qp().state(), queue_pair_state::ready_to_send);
}

TEST(VerbsQueues, AQueuePairMadeAnewAfterAFailureConnectsAgain) {
    verbs_pair pair;
    for (int round = 0; round < 5; ++round) {
        for (auto* end : {&pair.a, &pair.b}) {
            end->post_receives(2);
            ASSERT_FALSE(end->qp().to_error());
            for (int i = 0; i < 2; ++i) EXPECT_EQ(end->await().status, errc::work_request_flushed);
            end->destroy_queue_pair();
            end->add_queue_pair();
        }
        connect_ends(pair.a, pair.b);
        pair.b.post_receives(1);
        send_request request;
        request.buffer = pair.a.buffer(0, 16);
        ASSERT_EQ(pair.a.send(request).accepted, 1U);
        EXPECT_EQ(pair.b.await().status, errc::success);
        EXPECT_EQ(pair.a.await().status, errc::success);
    }
}

} // namespace
} // namespace rocio::test

#include "simulated_pair.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace rocio {
namespace {

using test::simulated_pair;
using test::v4;

/// Long use leaves nothing behind: connections come and go, receivers are late, completion queues are shared.
TEST(Churn, AThousandConnectionsLeaveNothingBehind) {
    simulated_pair net;
    std::set<std::uint32_t> numbers;
    for (std::uint32_t round = 0; round < 1'000; ++round) {
        for (test::soft_end* e : {&net.a, &net.b}) {
            e->destroy_queue_pair();
            e->add_queue_pair();
            e->received().clear();
            e->sent().clear();
        }
        EXPECT_TRUE(numbers.insert(net.a.qp().number().value()).second) << "number used again";
        test::connect_ends(net.a, net.b);
        net.b.post_receives(0, 1);
        test::fill_message(net.a.slot(200).first(100), round);
        ASSERT_EQ(net.a.post_send(200, 100, round), errc::success);
        if (round % 3 == 0) continue; // destroyed before anything has left
        ASSERT_TRUE(net.run_until([&] { return !net.a.sent().empty() && !net.b.received().empty(); }))
            << round;
        ASSERT_TRUE(test::holds_message(net.b.slot(0).first(100), round));
    }
    net.a.destroy_queue_pair();
    net.b.destroy_queue_pair();
    EXPECT_TRUE(net.settle());
    EXPECT_EQ(net.a.counter("queue_pairs"), 0U);
    EXPECT_EQ(net.b.counter("queue_pairs"), 0U);
    EXPECT_EQ(net.a.counter("memory_regions"), 1U);
}

TEST(Churn, ThousandsOfLateReceiversCostTimeButNoMessage) {
    simulated_pair net;
    constexpr std::uint32_t messages = 2'000;
    for (std::uint32_t i = 0; i < messages; ++i) {
        test::fill_message(net.a.slot(200).first(300), i);
        ASSERT_EQ(net.a.post_send(200, 300, i), errc::success);
        const std::uint64_t naks = net.a.counters().rnr_naks_received;
        ASSERT_TRUE(net.run_until([&] { return net.a.counters().rnr_naks_received > naks; }))
            << "message " << i;
        net.b.post_receives(i % 128, 1);
        ASSERT_TRUE(net.run_until([&] { return net.a.sent().size() == i + 1; })) << "message " << i;
        ASSERT_EQ(net.b.received().back().immediate, i);
        ASSERT_TRUE(test::holds_message(net.b.slot(i % 128).first(300), i));
    }
    EXPECT_EQ(net.a.counters().rnr_naks_received, net.b.counters().rnr_naks_sent);
    EXPECT_TRUE(net.settle());
}

TEST(Churn, QueuePairsThatShareACompletionQueueAreToldApart) {
    soft::simulated_network network;
    const device::time_point now = device::time_point{} + std::chrono::hours(1);
    test::soft_end sender(soft_device::over(network.attach(v4(10, 0, 0, 1))));
    const auto device = soft_device::over(network.attach(v4(10, 0, 0, 2)));
    std::vector<std::byte> memory(4'096);
    std::unique_ptr<device_memory_region> region;
    ASSERT_FALSE(device->register_memory(memory, {}, region));
    std::unique_ptr<device_completion_queue> shared;
    ASSERT_FALSE(device->create_completion_queue(64, shared));

    std::vector<std::unique_ptr<device_queue_pair>> receivers(8);
    std::map<std::uint32_t, std::uint32_t> index_of;
    std::vector<std::unique_ptr<test::soft_end>> senders;
    for (std::uint32_t i = 0; i < receivers.size(); ++i) {
        device_queue_pair_config config;
        config.completions = shared.get();
        ASSERT_FALSE(device->create_queue_pair(config, receivers[i]));
        ASSERT_FALSE(receivers[i]->to_init({}));
        index_of[receivers[i]->number().value()] = i;
        senders.push_back(std::make_unique<test::soft_end>(
            soft_device::over(network.attach(v4(10, 0, 1, static_cast<std::uint8_t>(i))))));
        peer_parameters self;
        self.address = v4(10, 0, 0, 2);
        self.queue_pair = receivers[i]->number();
        self.send_psn = psn{1};
        senders[i]->connect(senders[i]->towards(self));
        connect_attributes a;
        a.peer = senders[i]->as_peer();
        a.local.send_psn = psn{1};
        ASSERT_FALSE(receivers[i]->to_ready_to_receive(a));
        const receive_request r{{7, 9, 1'000 + i}, {memory.data(), 256, region->local_key()}};
        ASSERT_EQ(receivers[i]->post_receive({&r, 1}).accepted, 1U);
        ASSERT_EQ(senders[i]->post_send(128, 10 + i, i), errc::success);
        senders[i]->turn(now);
    }
    device->progress(now);
    std::vector<work_completion> all(64);
    errc error = errc::success;
    all.resize(shared->poll(all, error));
    ASSERT_EQ(all.size(), receivers.size());
    for (const auto& c : all) {
        ASSERT_EQ(index_of.count(c.queue_pair.value()), 1U);
        const std::uint32_t i = index_of[c.queue_pair.value()];
        EXPECT_EQ(c.id, (wr_id{7, 9, 1'000 + i}));
        EXPECT_EQ(c.byte_len, 10 + i);
        EXPECT_EQ(c.immediate, i);
    }
}

} // namespace
} // namespace rocio

// What the snapshot of a ring counts: bytes sent, and how long slots were held.

#include "line_sink.hpp"
#include "ring_batch_fixture.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>

namespace rocio::test {
namespace {

using namespace std::chrono_literals;

class RingCounts : public RingBatch {
  protected:
    RingCounts() {
        config.name = "answers";
        config.mode = ring_mode::duplex;
        config.slots = 4;
    }
    ring_transceiver& connected() {
        ring.emplace(context, config);
        ring->setup();
        peer_parameters peer;
        peer.address = gid::parse("10.0.0.2").value();
        peer.queue_pair = qpn{0xABCDEF};
        peer.send_psn = psn{9};
        peer.region = {0, 256, rkey{0x77}};
        ring->connect(peer);
        return *ring;
    }
    void peer_sends(std::string_view text) {
        ASSERT_TRUE(dev->complete_receive(0, std::as_bytes(std::span(text))));
    }
    std::uint32_t next() {
        std::optional<std::uint32_t> got;
        run_until([&] {
            (void)ring->poll([&](std::uint32_t slot) { got = slot; });
            return got.has_value();
        });
        return *got;
    }
};

TEST_F(RingCounts, memory_that_cannot_be_had_as_asked_is_a_warning) {
    const auto sink = std::make_shared<line_sink>();
    engine().set_log_sink(sink);
    config.memory = {.numa_node = 4711, .prefault = true};
    const auto memory = connected().snapshot().memory;
    engine().set_log_sink(nullptr);
    EXPECT_TRUE(memory.prefaulted);
    ASSERT_EQ(memory.warnings.size(), 1U);
    ASSERT_EQ(sink->lines().size(), 1U);
    EXPECT_EQ(sink->lines()[0].room, "ring");
    EXPECT_EQ(sink->lines()[0].text, "answers: " + memory.warnings[0]);
}

TEST_F(RingCounts, bytes_of_the_messages_that_were_sent) {
    auto& r = connected();
    ASSERT_FALSE(r.publish(0, 10));
    ASSERT_FALSE(r.publish(1, 33));
    run_until([&] { return dev->posted_sends() == 2; });
    EXPECT_EQ(r.snapshot().bytes_sent, 0U) << "not before the device is done with them";
    ASSERT_TRUE(dev->complete_send(0));
    ASSERT_TRUE(dev->complete_send(0));
    run_until([&] { return r.snapshot().sent == 2; });
    EXPECT_EQ(r.snapshot().bytes_sent, 43U);
}

TEST_F(RingCounts, a_send_that_failed_has_sent_nothing) {
    auto& r = connected();
    ASSERT_FALSE(r.publish(0, 10));
    run_until([&] { return dev->posted_sends() == 1; });
    ASSERT_TRUE(dev->complete_send(0, errc::local_operation_error));
    run_until([&] { return r.snapshot().send_errors == 1; });
    EXPECT_EQ(r.snapshot().bytes_sent, 0U);
}

TEST_F(RingCounts, how_long_a_slot_was_held) {
    for (const auto policy : {polling_policy::park(), polling_policy::spin()}) {
        engine().set_policy(policy);
        dev = std::make_shared<scripted_device>();
        config.device = dev;
        auto& r = connected();
        peer_sends("a");
        const auto slot = next();
        EXPECT_EQ(r.snapshot().held.count, 0U) << "it is held still";
        std::this_thread::sleep_for(3ms);
        r.release(slot);
        run_until([&] { return r.snapshot().rx_held == 0; });
        const auto held = r.snapshot().held;
        EXPECT_EQ(held.count, 1U) << policy.name();
        EXPECT_GE(held.max, 3ms) << policy.name();
    }
}

TEST_F(RingCounts, nothing_is_measured_when_not_wanted) {
    config.measure_held = false;
    auto& r = connected();
    peer_sends("a");
    r.release(next());
    run_until([&] { return r.snapshot().rx_held == 0; });
    EXPECT_EQ(r.snapshot().received, 1U);
    EXPECT_EQ(r.snapshot().held.count, 0U);
}

TEST_F(RingCounts, the_unified_mode_measures_nothing) {
    config.mode = ring_mode::unified;
    auto& r = connected();
    peer_sends("a");
    std::uint32_t slot = 0;
    const auto limit = std::chrono::steady_clock::now() + patience;
    while (!r.rx_poll(slot)) ASSERT_LT(std::chrono::steady_clock::now(), limit);
    EXPECT_EQ(r.snapshot().received, 1U);
    EXPECT_EQ(r.snapshot().held.count, 0U);
}

TEST_F(RingCounts, a_queue_pair_is_told_from_it) {
    ring.emplace(context, config);
    EXPECT_EQ(queue_pair_of(ring->snapshot()).state, "none") << "before setup()";
    ring->setup();
    EXPECT_EQ(queue_pair_of(ring->snapshot()).state, "init");
    ring.reset();
    auto& r = connected();
    const auto q = queue_pair_of(r.snapshot());
    EXPECT_EQ(q.owner, "answers");
    EXPECT_EQ(q.device, "scripted");
    EXPECT_EQ(q.type, "uc");
    EXPECT_EQ(q.state, "ready to send");
    EXPECT_EQ(q.number, r.local().queue_pair.value());
    EXPECT_EQ(q.send_psn, 0U);
    EXPECT_EQ(q.receive_psn, 9U);
    EXPECT_EQ(q.peer_address, "10.0.0.2");
    EXPECT_EQ(q.peer_number, 0xABCDEFU);
    r.stop();
    EXPECT_EQ(queue_pair_of(r.snapshot()).state, "none");
}

} // namespace
} // namespace rocio::test

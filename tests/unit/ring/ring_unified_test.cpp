// Batches of completions that a ring in unified mode finds when it is polled.

#include "ring_batch_fixture.hpp"

#include <atomic>
#include <thread>

namespace rocio::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class UnifiedBatch : public RingBatch {
  protected:
    UnifiedBatch() { config.mode = ring_mode::unified; }
    /// Answers that no device copies.
    void use_large_answers() { config.slot_size = config.frame_size = 512; }
    static numbers polled(ring_transceiver& from) {
        numbers all;
        for (std::uint32_t slot = 0; from.rx_poll(slot);) all.push_back(slot);
        return all;
    }
};

TEST_F(UnifiedBatch, requests_come_in_order_and_their_receives_are_posted) {
    auto& r = connected();
    writes({0, 1, 2, 5, 3});
    EXPECT_THAT(polled(r), ElementsAre(0, 1, 2, 5, 3));
    EXPECT_EQ(r.snapshot().receives_posted, slots);
    EXPECT_THAT(posted_again(), ElementsAre(0, 1, 2, 3, 4));
}

TEST_F(UnifiedBatch, a_request_over_one_that_nobody_took_is_counted) {
    auto& r = connected();
    writes({0, 1, 0, 2});
    EXPECT_THAT(polled(r), ElementsAre(0, 1, 2));
    EXPECT_EQ(r.snapshot().overwritten, 1U);
    EXPECT_EQ(r.snapshot().received, 4U);
}

TEST_F(UnifiedBatch, a_request_waits_for_its_send_slot) {
    use_large_answers();
    auto& r = connected();
    writes({0});
    EXPECT_THAT(polled(r), ElementsAre(0));
    ASSERT_TRUE(r.tx_publish(0));
    writes({0, 1});
    EXPECT_THAT(polled(r), IsEmpty()) << "and those behind it";
    ASSERT_TRUE(dev->complete_send(0));
    EXPECT_THAT(polled(r), ElementsAre(0, 1));
}

TEST_F(UnifiedBatch, a_request_that_was_found_waits_for_an_answer_sent_since) {
    use_large_answers();
    auto& r = connected();
    writes({0, 1, 2, 3});
    std::uint32_t slot = 7;
    ASSERT_TRUE(r.rx_poll(slot));
    ASSERT_TRUE(r.tx_publish(2)) << "whoever asked for it";
    EXPECT_THAT(polled(r), ElementsAre(1)) << "not 2, whose slot is being sent";
    ASSERT_TRUE(dev->complete_send(0));
    EXPECT_THAT(polled(r), ElementsAre(2, 3));
}

TEST_F(UnifiedBatch, a_request_behind_others_waits_for_an_answer_sent_before) {
    use_large_answers();
    auto& r = connected();
    ASSERT_TRUE(r.tx_publish(2)) << "whoever asked for it";
    writes({0, 1, 2, 3});
    EXPECT_THAT(polled(r), ElementsAre(0, 1));
    ASSERT_TRUE(dev->complete_send(0));
    EXPECT_THAT(polled(r), ElementsAre(2, 3));
}

TEST_F(UnifiedBatch, a_request_waits_while_its_flag_is_set) {
    auto& r = connected();
    writes({0, 1, 2});
    std::uint32_t slot = 7;
    ASSERT_TRUE(r.rx_poll(slot));
    r.tx_flags()[1] = 1;
    EXPECT_THAT(polled(r), IsEmpty());
    r.tx_flags()[1] = 0;
    EXPECT_THAT(polled(r), ElementsAre(1, 2));
}

TEST_F(UnifiedBatch, a_request_over_one_that_waits_for_its_send_slot_is_counted) {
    use_large_answers();
    auto& r = connected();
    writes({0, 1, 2});
    std::uint32_t slot = 7;
    ASSERT_TRUE(r.rx_poll(slot));
    EXPECT_EQ(slot, 0U);
    ASSERT_TRUE(r.tx_publish(1)) << "whoever asked for it";
    writes({1, 0});
    EXPECT_THAT(polled(r), IsEmpty());
    EXPECT_EQ(r.snapshot().overwritten, 1U) << "0 was taken, 1 was not";
    ASSERT_TRUE(dev->complete_send(0));
    EXPECT_THAT(polled(r), ElementsAre(1, 2, 0));
}

TEST_F(UnifiedBatch, requests_left_at_the_end_of_a_session_are_gone_with_the_next) {
    auto& r = connected();
    writes({0, 1, 2, 5});
    std::uint32_t slot = 7;
    ASSERT_TRUE(r.rx_poll(slot));
    r.connect(some_peer());
    EXPECT_TRUE(r.is_connected());
    ASSERT_TRUE(dev->fail_receive(0, errc::local_protection_error));
    EXPECT_THAT(polled(r), ElementsAre(1, 2, 5)) << "until the sweep that finds the failure";
    EXPECT_FALSE(r.is_connected());
    EXPECT_FALSE(r.rx_poll(slot));
    r.connect(some_peer());
    EXPECT_FALSE(r.rx_poll(slot));
    ASSERT_TRUE(dev->complete_write(1, 1));
    EXPECT_THAT(polled(r), ElementsAre(1));
    EXPECT_EQ(r.snapshot().overwritten, 0U);
}

TEST_F(UnifiedBatch, after_the_session_no_request_is_given_by_either_name) {
    auto& r = connected();
    writes({0, 1, 2});
    std::uint32_t slot = 7;
    ASSERT_TRUE(r.rx_poll(slot));
    r.stop();
    EXPECT_FALSE(r.rx_poll(slot));
    EXPECT_EQ(r.poll([](std::uint32_t) {}), 0U);
}

TEST_F(UnifiedBatch, slots_are_polled_by_either_name) {
    auto& r = connected();
    writes({0, 1, 2});
    std::uint32_t slot = 7;
    ASSERT_TRUE(r.rx_poll(slot));
    EXPECT_THAT(taken(), ElementsAre(1, 2));
    EXPECT_FALSE(r.rx_poll(slot));
}

TEST_F(UnifiedBatch, what_others_on_the_queue_get_is_theirs) {
    auto& r = connected();
    ring_transceiver other(context, config);
    other.connect(some_peer());
    ASSERT_EQ(dev->live_completion_queues(), 1U);
    ASSERT_TRUE(other.tx_publish(3));
    writes({0, 1});
    ASSERT_TRUE(dev->complete_write(1, 2));
    ASSERT_TRUE(dev->complete_write(1, 3));
    ASSERT_TRUE(dev->complete_send(1));
    writes({2, 3});
    ASSERT_TRUE(dev->complete_write(1, 4));
    EXPECT_THAT(polled(r), ElementsAre(0, 1, 2, 3));
    EXPECT_EQ(dev->queued(), 0U);
    EXPECT_EQ(other.snapshot().received, 3U);
    EXPECT_EQ(other.snapshot().sent, 1U);
    EXPECT_THAT(polled(other), ElementsAre(2, 3, 4));
    EXPECT_EQ(engine().snapshot().stale_completions, 0U);
}

TEST_F(UnifiedBatch, a_small_answer_is_copied_and_leaves_its_slot_at_once) {
    auto& r = connected();
    writes({0});
    EXPECT_THAT(polled(r), ElementsAre(0));
    r.tx_slot(0)[1] = std::byte{0x5A};
    ASSERT_TRUE(r.tx_publish(0, 2));
    ASSERT_EQ(dev->send_log().size(), 1U);
    EXPECT_TRUE(dev->send_log()[0].request.inlined);
    EXPECT_THAT(dev->send_log()[0].bytes, ElementsAre(std::byte{0}, std::byte{0x5A}));
    writes({0, 1});
    EXPECT_THAT(polled(r), ElementsAre(0, 1));
    EXPECT_EQ(r.snapshot().sent, 1U);
    EXPECT_EQ(r.snapshot().bytes_sent, 2U);
    EXPECT_EQ(r.snapshot().tx_in_flight, 0U);
}

TEST_F(UnifiedBatch, an_answer_as_long_as_is_copied_and_one_byte_more) {
    use_large_answers();
    auto& r = connected();
    ASSERT_TRUE(r.tx_publish(0, 256));
    ASSERT_TRUE(r.tx_publish(1, 257));
    EXPECT_TRUE(dev->send_log()[0].request.inlined);
    EXPECT_FALSE(dev->send_log()[1].request.inlined);
    EXPECT_EQ(dev->send_log()[1].bytes.size(), 257U);
    EXPECT_EQ(r.snapshot().tx_in_flight, 1U);
    EXPECT_FALSE(r.tx_publish(2, 0));
    EXPECT_FALSE(r.tx_publish(2, 513));
    EXPECT_FALSE(r.tx_publish(slots, 64));
    EXPECT_EQ(dev->send_log().size(), 2U);
}

TEST_F(UnifiedBatch, of_as_many_copies_as_half_of_the_slots_one_is_signalled) {
    auto& r = connected();
    std::vector<bool> signalled;
    for (std::uint32_t i = 0; i < 9; ++i) {
        ASSERT_TRUE(r.tx_publish(0));
        signalled.push_back(dev->send_log().back().request.signalled);
        ASSERT_TRUE(dev->complete_send(0));
        EXPECT_EQ(r.snapshot().sent, i + 1U);
    }
    EXPECT_THAT(signalled, ElementsAre(true, false, false, false, true, false, false, false, true));
    EXPECT_THAT(polled(r), IsEmpty());
    EXPECT_EQ(engine().snapshot().stale_completions, 0U);
}

/// Calls `f` on another thread once the ring has looked at the device three times in vain.
class UnifiedWait : public UnifiedBatch {
  protected:
    template <class F>
    void when_it_waits(F f) {
        const auto polls = dev->polls();
        other = std::thread([this, polls, f] {
            while (dev->polls() < polls + 3) std::this_thread::yield();
            f();
        });
    }
    /// And none of them waits; a wait would last for ever, so then the ring is stopped.
    void publish_as_many_as_may_be(ring_transceiver& r) {
        std::atomic<bool> done{false};
        const auto polls = dev->polls();
        std::thread rescue([&] {
            while (!done && dev->polls() < polls + 1000) std::this_thread::yield();
            if (!done) r.stop();
        });
        for (std::uint32_t i = 0; i < most_copies; ++i) EXPECT_TRUE(r.tx_publish(i % slots));
        done = true;
        rescue.join();
        EXPECT_EQ(dev->polls(), polls);
    }
    void TearDown() override {
        if (other.joinable()) other.join();
        UnifiedBatch::TearDown();
    }
    /// As many as the device may hold.
    static constexpr std::uint32_t most_copies = 12;

    std::thread other;
};

TEST_F(UnifiedWait, a_copy_waits_while_the_device_holds_as_many_as_it_may) {
    auto& r = connected();
    for (std::uint32_t i = 0; i < most_copies; ++i) ASSERT_TRUE(r.tx_publish(i % slots));
    when_it_waits([this] { EXPECT_TRUE(dev->complete_send(0)); });
    EXPECT_TRUE(r.tx_publish(0));
    EXPECT_TRUE(dev->send_log().back().request.signalled);
    EXPECT_EQ(dev->posted_sends(), most_copies);
    EXPECT_EQ(r.snapshot().sent, most_copies + 1U);
    EXPECT_EQ(r.snapshot().bytes_sent, (most_copies + 1U) * 64U);
}

TEST_F(UnifiedWait, copies_do_not_take_the_places_of_others) {
    use_large_answers();
    auto& r = connected();
    for (std::uint32_t i = 0; i < most_copies; ++i) ASSERT_TRUE(r.tx_publish(i % slots, 64));
    for (std::uint32_t slot = 0; slot < slots; ++slot) ASSERT_TRUE(r.tx_publish(slot));
    EXPECT_EQ(r.snapshot().tx_in_flight, slots);
    EXPECT_EQ(dev->posted_sends(), most_copies + slots);
    when_it_waits([this] {
        for (std::uint32_t i = 0; i <= most_copies; ++i) EXPECT_TRUE(dev->complete_send(0));
    });
    EXPECT_TRUE(r.tx_publish(0));
}

TEST_F(UnifiedWait, copies_that_are_gone_between_requests_make_room) {
    auto& r = connected();
    for (std::uint32_t i = 0; i < most_copies; ++i) ASSERT_TRUE(r.tx_publish(i % slots));
    writes({0});
    for (std::uint32_t i = 0; i < most_copies; ++i) ASSERT_TRUE(dev->complete_send(0));
    writes({1});
    EXPECT_THAT(polled(r), ElementsAre(0, 1));
    publish_as_many_as_may_be(r);
}

TEST_F(UnifiedWait, copies_of_a_former_session_take_no_places) {
    auto& r = connected();
    publish_as_many_as_may_be(r);
    ASSERT_TRUE(dev->fail_receive(0, errc::local_protection_error));
    EXPECT_THAT(polled(r), IsEmpty());
    EXPECT_FALSE(r.is_connected());
    r.connect(some_peer());
    publish_as_many_as_may_be(r);
}

TEST_F(UnifiedWait, whoever_stops_the_ring_ends_the_wait) {
    auto& r = connected();
    for (std::uint32_t i = 0; i < most_copies; ++i) ASSERT_TRUE(r.tx_publish(i % slots));
    when_it_waits([&r] { r.stop(); });
    EXPECT_FALSE(r.tx_publish(0));
    EXPECT_EQ(r.last_error().code, errc::stopped);
}

TEST_F(UnifiedWait, so_for_one_whose_slot_is_being_sent) {
    use_large_answers();
    auto& r = connected();
    ASSERT_TRUE(r.tx_publish(0));
    when_it_waits([&r] {
        EXPECT_TRUE(r.is_connected());
        r.stop();
    });
    EXPECT_FALSE(r.tx_publish(0));
}

TEST_F(UnifiedBatch, copies_that_were_flushed_are_not_sent) {
    auto& r = connected();
    ASSERT_TRUE(r.tx_publish(0, 1));
    ASSERT_TRUE(r.tx_publish(0, 64));
    ASSERT_TRUE(dev->complete_send(0));
    r.stop();
    EXPECT_EQ(r.snapshot().sent, 1U);
    EXPECT_EQ(r.snapshot().bytes_sent, 65U) << "the bytes that the device took";
}

TEST_F(UnifiedBatch, copies_that_are_gone_do_not_tear_requests_apart) {
    auto& r = connected();
    writes({0, 1});
    EXPECT_THAT(polled(r), ElementsAre(0, 1));
    for (const auto slot : {0U, 1U, 0U, 1U, 0U}) ASSERT_TRUE(r.tx_publish(slot));
    writes({2, 3});
    ASSERT_TRUE(dev->complete_send(0));
    writes({4});
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(dev->complete_send(0));
    writes({5, 7, 6});
    EXPECT_THAT(polled(r), ElementsAre(2, 3, 4, 5, 7, 6));
    EXPECT_THAT(posted_again(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
    EXPECT_EQ(engine().snapshot().stale_completions, 0U);
    EXPECT_EQ(r.snapshot().received, 8U);
}

TEST_F(UnifiedBatch, a_copy_that_fails_ends_the_session_and_is_not_sent) {
    auto& r = connected();
    ASSERT_TRUE(r.tx_publish(0));
    ASSERT_TRUE(r.tx_publish(1));
    ASSERT_TRUE(dev->complete_send(0));
    ASSERT_TRUE(dev->complete_send(0, errc::local_operation_error));
    std::uint32_t slot = 7;
    EXPECT_FALSE(r.rx_poll(slot));
    EXPECT_EQ(r.last_error().code, errc::local_operation_error);
    EXPECT_EQ(r.snapshot().sent, 1U);
    EXPECT_EQ(r.snapshot().send_errors, 1U);
    EXPECT_FALSE(r.tx_publish(0));
    r.connect(some_peer());
    EXPECT_TRUE(r.tx_publish(0));
}

TEST_F(UnifiedBatch, a_device_that_refuses_a_copy_ends_the_session) {
    auto& r = connected();
    ASSERT_TRUE(r.tx_publish(0));
    ASSERT_TRUE(dev->complete_send(0));
    dev->fail_call(device_call::post_send, 1, errc::device_fatal);
    EXPECT_FALSE(r.tx_publish(1));
    EXPECT_EQ(r.last_error().code, errc::device_fatal);
    EXPECT_EQ(r.snapshot().sent, 1U);
}

TEST_F(UnifiedBatch, a_device_without_room_for_copies_sends_from_the_slots) {
    dev->fail_call(device_call::create_queue_pair, 1, errc::limit_exceeded);
    auto& r = connected();
    writes({0});
    EXPECT_THAT(polled(r), ElementsAre(0));
    ASSERT_TRUE(r.tx_publish(0));
    EXPECT_FALSE(dev->send_log().back().request.inlined);
    writes({0});
    EXPECT_THAT(polled(r), IsEmpty());
}

TEST_F(UnifiedBatch, an_error_in_the_middle_ends_the_session) {
    auto& r = connected();
    writes({0, 1});
    ASSERT_TRUE(dev->fail_receive(0, errc::local_protection_error));
    dev->inject(write_of(any_id(3), 3));
    EXPECT_THAT(polled(r), ElementsAre(0)) << "what the call found, and no more";
    EXPECT_EQ(r.last_error().code, errc::local_protection_error);
    EXPECT_EQ(r.snapshot().received, 2U);
    EXPECT_FALSE(r.tx_publish(0));
}

TEST_F(UnifiedBatch, a_queue_that_breaks_ends_the_session) {
    auto& r = connected();
    dev->fail_polls(errc::device_fatal);
    std::uint32_t slot = 0;
    EXPECT_FALSE(r.rx_poll(slot));
    EXPECT_EQ(r.last_error().code, errc::device_fatal);
    EXPECT_FALSE(r.is_connected());
}

} // namespace
} // namespace rocio::test

// Batches of completions that a ring in unified mode finds when it is polled.

#include "ring_batch_fixture.hpp"

namespace rocio::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class UnifiedBatch : public RingBatch {
  protected:
    UnifiedBatch() { config.mode = ring_mode::unified; }
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
    auto& r = connected();
    writes({0});
    EXPECT_THAT(polled(r), ElementsAre(0));
    ASSERT_TRUE(r.tx_publish(0));
    writes({0, 1});
    EXPECT_THAT(polled(r), IsEmpty()) << "and those behind it";
    ASSERT_TRUE(dev->complete_send(0));
    EXPECT_THAT(polled(r), ElementsAre(0, 1));
}

TEST_F(UnifiedBatch, a_request_over_one_that_waits_for_its_send_slot_is_counted) {
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

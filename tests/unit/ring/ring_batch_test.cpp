// Batches of completions, which a ring takes in runs: what is unusual in the middle of one costs only itself.

#include "ring_batch_fixture.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace rocio::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(RingBatch, every_slot_has_its_own_address_and_counts) {
    auto& r = connected();
    writes({0, 1, 2, 3, 4, 5, 6, 7});
    EXPECT_THAT(taken(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
    for (std::uint32_t slot = 0; slot < slots; ++slot)
        EXPECT_EQ(r.rx_flags()[slot], reinterpret_cast<std::uintptr_t>(r.rx_slot(slot).data()));
    const auto s = r.snapshot();
    EXPECT_EQ(s.received, slots);
    EXPECT_EQ(s.rx_held, slots);
    EXPECT_EQ(s.receives_posted, 0U);
    release({0, 1, 2, 3, 4, 5, 6, 7});
    EXPECT_EQ(r.snapshot().rx_held, 0U);
    EXPECT_THAT(posted_again(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
    EXPECT_EQ(r.snapshot().held.count, slots);
}

TEST_F(RingBatch, slots_beside_their_receives) {
    (void)connected();
    writes({3, 4, 5, 6, 7, 0, 1});
    EXPECT_THAT(taken(), ElementsAre(3, 4, 5, 6, 7, 0, 1));
    release({4, 7, 0});
    EXPECT_THAT(posted_again(), ElementsAre(1, 4, 5)) << "the receives that brought those";
}

TEST_F(RingBatch, slots_in_no_order) {
    (void)connected();
    writes({5, 1, 6, 2, 0, 7});
    EXPECT_THAT(taken(), ElementsAre(5, 1, 6, 2, 0, 7));
    release({0, 1, 2, 5, 6, 7});
    EXPECT_THAT(posted_again(), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_F(RingBatch, sends_are_where_their_receive_was) {
    (void)connected();
    sends(5);
    ASSERT_TRUE(dev->complete_receive(0, {}, 4711U)) << "an immediate of a SEND says nothing";
    EXPECT_THAT(taken(), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_F(RingBatch, a_slot_that_is_held_is_written_again_and_told_of_again) {
    auto& r = connected();
    writes({0, 1, 2, 3});
    EXPECT_THAT(taken(), ElementsAre(0, 1, 2, 3));
    release({0, 2, 3});
    writes({0, 1, 2, 3});
    EXPECT_THAT(taken(), ElementsAre(0, 2, 3)) << "1 is held still";
    EXPECT_EQ(r.snapshot().overwritten, 1U);
    EXPECT_EQ(r.snapshot().received, 8U);
    r.release(1);
    numbers again;
    run_until([&] {
        (void)r.poll([&](std::uint32_t slot) { again.push_back(slot); });
        return !again.empty();
    });
    EXPECT_THAT(again, ElementsAre(1));
    r.release(1);
    run_until([&] { return r.snapshot().rx_held == 3; });
    EXPECT_EQ(r.snapshot().overwritten, 1U);
}

TEST_F(RingBatch, a_slot_twice_in_one_batch) {
    auto& r = connected();
    writes({0, 1, 1, 2});
    EXPECT_THAT(taken(), ElementsAre(0, 1, 2));
    EXPECT_EQ(r.snapshot().overwritten, 1U);
    EXPECT_EQ(r.snapshot().receives_posted, slots - 3) << "that of the second is posted again";
}

/// Between the look at the flags and the completions of one sweep.
TEST_F(RingBatch, slots_released_and_written_again_before_a_look_are_filled_anew) {
    auto& r = connected();
    writes({0, 1, 2, 3});
    EXPECT_THAT(taken(), ElementsAre(0, 1, 2, 3));
    writes({3}); // waits in it
    EXPECT_THAT(taken(), IsEmpty());
    EXPECT_EQ(r.snapshot().overwritten, 1U);
    bool done = false;
    dev->on_progress([&](device::time_point) {
        if (std::exchange(done, true)) return false;
        for (const std::uint32_t slot : {1, 2, 3}) r.release(slot);
        writes({2, 1, 3});
        return true;
    });
    engine().wake();
    run_until([&] { return done; });
    EXPECT_THAT(taken(), ElementsAre(2, 1, 3));
    dev->on_progress({});
    EXPECT_EQ(r.snapshot().overwritten, 2U) << "what waited in 3 was never told of";
    EXPECT_EQ(r.snapshot().rx_held, 4U);
    EXPECT_EQ(r.snapshot().receives_posted, slots - 4);
    release({0, 1, 2, 3});
    EXPECT_EQ(r.snapshot().rx_held, 0U);
}

TEST_F(RingBatch, another_operation_in_the_middle_costs_only_itself) {
    auto& r = connected();
    writes({0, 1});
    auto other = write_of(any_id(2), 2);
    other.op = completion_opcode::rdma_read;
    dev->inject(other);
    other.op = completion_opcode::receive_rdma_write_with_immediate;
    other.has_immediate = false;
    dev->inject(other);
    writes({2, 3});
    EXPECT_THAT(taken(), ElementsAre(0, 1, 2, 3));
    EXPECT_EQ(r.snapshot().unexpected, 2U);
    EXPECT_EQ(r.snapshot().received, 4U);
}

TEST_F(RingBatch, an_immediate_that_fits_no_slot_costs_only_itself) {
    auto peer = some_peer();
    peer.immediates = {0xFFF, 12, 20};
    auto& r = connected(peer);
    writes({0xABC00000, 0xABC01001, 0xABC02008, 0xABC03002, 0xABC04003});
    EXPECT_THAT(taken(), ElementsAre(0, 1, 2, 3));
    EXPECT_EQ(r.snapshot().bad_immediate, 1U);
    EXPECT_EQ(r.snapshot().received, 4U);
    release({0, 1, 2, 3});
    EXPECT_EQ(r.snapshot().receives_posted, slots);
}

TEST_F(RingBatch, without_a_layout_the_lowest_bits_are_the_slot) {
    auto& r = connected();
    writes({0xFFFFFFF8, 0x19, 0x12});
    EXPECT_THAT(taken(), ElementsAre(0, 1, 2));
    EXPECT_EQ(r.snapshot().bad_immediate, 0U);
}

TEST_F(RingBatch, an_error_in_the_middle_ends_the_session_and_nothing_behind_it_counts) {
    auto& r = connected();
    writes({0, 1});
    ASSERT_TRUE(dev->fail_receive(0, errc::local_length_error));
    dev->inject(write_of(any_id(3), 3));
    run_until([&] { return !r.is_connected(); });
    numbers all;
    (void)r.poll([&](std::uint32_t slot) { all.push_back(slot); });
    EXPECT_THAT(all, ElementsAre(0, 1));
    EXPECT_EQ(r.last_error().code, errc::local_length_error);
    EXPECT_EQ(r.snapshot().received, 2U);
    EXPECT_EQ(r.rx_flags()[3], 0U);
    EXPECT_GE(engine().snapshot().stale_completions, 1U);
}

TEST_F(RingBatch, completions_of_no_receive_write_nowhere) {
    auto& r = connected();
    writes({0, 1});
    dev->inject(write_of(any_id(slots), 2));
    dev->inject(write_of(any_id(0x7FFFFFFF), 3));
    dev->inject(write_of(any_id(0x80000001), 3)); // a send's, of a ring that sends nothing
    writes({2});
    EXPECT_THAT(taken(), ElementsAre(0, 1, 2));
    EXPECT_EQ(engine().snapshot().stale_completions, 3U);
    EXPECT_EQ(r.snapshot().received, 3U);
}

TEST_F(RingBatch, completions_of_an_earlier_queue_pair_are_stale) {
    auto& r = connected();
    auto earlier = any_id(1), nobody = any_id(2);
    --earlier.generation;
    nobody.owner += 7;
    dev->inject(write_of(earlier, 1));
    writes({0, 1});
    dev->inject(write_of(nobody, 2));
    dev->inject(write_of(earlier, 2));
    writes({2});
    EXPECT_THAT(taken(), ElementsAre(0, 1, 2));
    EXPECT_EQ(r.snapshot().received, 3U);
    EXPECT_EQ(engine().snapshot().stale_completions, 3U);
}

TEST_F(RingBatch, two_on_one_queue_get_what_is_theirs_also_when_one_has_gone) {
    auto& r = connected();
    std::optional<ring_transceiver> other(std::in_place, context, config);
    other->connect(some_peer());
    ASSERT_EQ(dev->live_completion_queues(), 1U);
    writes({0, 1});
    ASSERT_TRUE(dev->complete_write(1, 5));
    writes({2});
    EXPECT_THAT(taken(), ElementsAre(0, 1, 2));
    EXPECT_EQ(other->snapshot().received, 1U);
    EXPECT_EQ(other->rx_flags()[5], reinterpret_cast<std::uintptr_t>(other->rx_slot(5).data()));
    other.reset();
    writes({3, 4});
    EXPECT_THAT(taken(), ElementsAre(3, 4));
    EXPECT_EQ(r.snapshot().received, 5U);
}

TEST_F(RingBatch, a_second_session_is_as_the_first) {
    auto& r = connected();
    writes({0, 1, 2});
    EXPECT_THAT(taken(), ElementsAre(0, 1, 2));
    ASSERT_TRUE(dev->fail_receive(0, errc::local_length_error));
    run_until([&] { return !r.is_connected(); });
    r.release(0);
    r.release(2);
    r.connect(some_peer());
    EXPECT_EQ(r.snapshot().rx_held, 1U) << "1 is its reader's still";
    EXPECT_EQ(r.snapshot().receives_posted, slots - 1);
    ASSERT_TRUE(dev->complete_write(1, 0));
    ASSERT_TRUE(dev->complete_write(1, 1));
    ASSERT_TRUE(dev->complete_write(1, 2));
    EXPECT_THAT(taken(), ElementsAre(0, 2));
    EXPECT_EQ(r.snapshot().overwritten, 1U);
    for (const std::uint32_t slot : {0, 1, 2}) r.release(slot);
    run_until([&] { return r.snapshot().rx_held == 1; }); // what came into 1 is told of now
    EXPECT_THAT(taken(), ElementsAre(1));
    r.release(1);
    run_until([&] { return r.snapshot().receives_posted == slots; });
}

TEST_F(RingBatch, more_completions_than_receives_are_stale) {
    auto& r = connected();
    writes({0, 1, 2, 3, 4, 5, 6, 7});
    for (std::uint32_t slot = 0; slot < 3; ++slot) dev->inject(write_of(any_id(slot), slot));
    EXPECT_EQ(taken().size(), slots);
    EXPECT_EQ(r.snapshot().received, slots);
    EXPECT_EQ(engine().snapshot().stale_completions, 3U);
}

TEST_F(RingBatch, receives_posted_at_once) {
    config.rearm = ring_rearm::on_publish;
    auto& r = connected();
    writes({0, 1, 2});
    EXPECT_THAT(taken(), ElementsAre(0, 1, 2));
    run_until([&] { return r.snapshot().receives_posted == slots; });
    EXPECT_THAT(posted_again(), ElementsAre(0, 1, 2));
    for (std::uint32_t slot = 0; slot < 3; ++slot) r.release(slot);
    run_until([&] { return r.snapshot().rx_held == 0; });
    EXPECT_EQ(posted_again().size(), 3U) << "not once more when they are released";
}

TEST_F(RingBatch, leases_come_before_the_queue) {
    auto& r = connected();
    std::vector<ring_slot> leases;
    for (int i = 0; i < 2; ++i) {
        r.async_receive([&](error_code ec, ring_slot slot) {
            ASSERT_FALSE(ec);
            leases.push_back(std::move(slot));
        });
    }
    writes({0, 1, 2, 3});
    run_until([&] { return leases.size() == 2; });
    EXPECT_EQ(leases[0].index(), 0U);
    EXPECT_EQ(leases[1].index(), 1U);
    EXPECT_THAT(taken(), ElementsAre(2, 3));
}

TEST_F(RingBatch, a_lease_hears_of_the_message_that_came_over_it) {
    auto& r = connected();
    std::optional<ring_slot> lease;
    r.async_receive([&](error_code, ring_slot slot) { lease = std::move(slot); });
    writes({0, 1});
    run_until([&] { return lease.has_value(); });
    EXPECT_FALSE(lease->overwritten());
    EXPECT_THAT(taken(), ElementsAre(1));
    writes({0});
    EXPECT_THAT(taken(), IsEmpty());
    EXPECT_TRUE(lease->overwritten());
}

TEST_F(RingBatch, a_lease_whose_slot_somebody_else_released_hears_of_it_too) {
    auto& r = connected();
    std::optional<ring_slot> lease;
    r.async_receive([&](error_code, ring_slot slot) { lease = std::move(slot); });
    writes({0});
    run_until([&] { return lease.has_value(); });
    release({0});
    writes({0, 1});
    EXPECT_THAT(taken(), ElementsAre(0, 1));
    EXPECT_TRUE(lease->overwritten());
}

/// Two came at once; the second is written over before it is taken, and taken before the next sweep.
TEST_F(RingBatch, what_was_written_over_before_it_was_taken_is_told_of_again) {
    auto& r = connected();
    std::vector<ring_slot> leases;
    const auto take_one = [&] {
        const auto before = leases.size();
        r.async_receive([&](error_code, ring_slot slot) { leases.push_back(std::move(slot)); });
        run_until([&] { return leases.size() > before; });
        return leases.back().index();
    };
    writes({0, 1});
    EXPECT_EQ(take_one(), 0U);
    writes({1});
    run_until([&] { return r.snapshot().overwritten == 1; });
    EXPECT_EQ(take_one(), 1U);
    leases.pop_back();
    run_until([&] { return r.rx_flags()[1] != 0; });
    EXPECT_THAT(taken(), ElementsAre(1));
}

TEST_F(RingBatch, all_who_wait_hear_of_a_batch) {
    auto& r = connected();
    int told = 0;
    for (int i = 0; i < 3; ++i) r.async_wait(ring_wait::received, [&](error_code ec) { told += ec ? 0 : 1; });
    writes({0, 1, 2});
    run_until([&] { return told == 3; });
    EXPECT_THAT(taken(), ElementsAre(0, 1, 2));
}

TEST_F(RingBatch, sends_that_are_done_up_to_the_one_that_failed) {
    config.mode = ring_mode::duplex;
    auto& r = connected();
    for (std::uint32_t slot = 0; slot < 4; ++slot) ASSERT_FALSE(r.publish(slot, 10 + slot));
    run_until([&] { return dev->posted_sends() == 4; });
    ASSERT_TRUE(dev->complete_send(0));
    writes({0});
    ASSERT_TRUE(dev->complete_send(0));
    ASSERT_TRUE(dev->complete_send(0, errc::local_operation_error));
    run_until([&] { return !r.is_connected(); });
    const auto s = r.snapshot();
    EXPECT_EQ(s.sent, 2U);
    EXPECT_EQ(s.bytes_sent, 21U);
    EXPECT_EQ(s.received, 1U);
    EXPECT_EQ(s.send_errors, 1U);
    EXPECT_TRUE(r.tx_free(0) && r.tx_free(1) && r.tx_free(3));
}

TEST_F(RingBatch, a_message_forwarded_twice_loses_no_receive) {
    config.mode = ring_mode::forward;
    auto& r = connected();
    writes({0});
    run_until([&] { return dev->posted_sends() == 1; });
    writes({0}); // into the slot that is on its way back
    run_until([&] { return r.snapshot().overwritten == 1; });
    ASSERT_TRUE(dev->complete_send(0));
    run_until([&] { return r.snapshot().receives_posted == slots; });
    EXPECT_EQ(r.snapshot().sent, 1U);
}

} // namespace
} // namespace rocio::test

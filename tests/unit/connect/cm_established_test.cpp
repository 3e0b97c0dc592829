// The standing connection, its end by either side, and what comes late.

#include "cm_fixture.hpp"

namespace rocio::test {
namespace {

class CmEstablished : public CmFixture {
  protected:
    void SetUp() override { peer_accepts(); }

    void stand(const cm_config& config = {}) {
        qp.emplace(*context, dev);
        cm_ended out;
        async_connect(*qp, cm_connector(*context, dev, nine(), config), out.handler());
        run_until(out);
        ASSERT_FALSE(out.ec) << qp->last_error().message();
        id = cm->newest();
        qp->async_wait_closed(closed.handler());
        settle();
    }
    /// A handshake alone, up to the standing connection.
    void stand_alone(const cm_config& config) {
        how.emplace(*context, dev, nine(), config);
        cm_ended exchanged, ready;
        how->async_exchange(side(), exchanged.handler());
        run_until(exchanged);
        how->async_ready(ready.handler());
        run_until(ready);
        ASSERT_FALSE(ready.ec);
        id = cm->newest();
    }

    std::optional<queue_pair> qp;
    std::optional<cm_connector> how;
    cm_ended closed;
    cm_id id = cm_id::none;
};

TEST_F(CmEstablished, PeerThatDisconnectsClosesTheQueuePair) {
    stand();
    cm->raise(id, cm_event_kind::disconnected);
    run();
    EXPECT_EQ(closed.ec, errc::peer_closed);
    EXPECT_EQ(qp->last_error().text, "10.0.0.9:4000 ended the connection");
    EXPECT_EQ(qp->state(), queue_pair_state::error);
    EXPECT_EQ(cm->count("disconnect"), 1U) << "our goodbye confirms the peer's";
    expect_no_ids();
}

TEST_F(CmEstablished, NeighbourThatMovesDoesNotEndTheConnection) {
    stand();
    for (const auto kind :
         {cm_event_kind::unreachable, cm_event_kind::address_change, cm_event_kind::time_wait_exit,
          cm_event_kind::established, cm_event_kind::connect_response})
        cm->raise(id, kind);
    settle();
    EXPECT_FALSE(closed.done);
    EXPECT_EQ(cm->untaken_events(), 0U);
    EXPECT_EQ(qp->state(), queue_pair_state::ready_to_send);
    qp->close();
    run();
    expect_no_ids();
}

TEST_F(CmEstablished, RejectionThatComesLateMeansThatThePeerNeverHadIt) {
    stand();
    cm->raise(id, cm_event_kind::rejected);
    run();
    EXPECT_EQ(closed.ec, errc::peer_lost);
    expect_no_ids();
}

TEST_F(CmEstablished, RemovedDeviceIsFatal) {
    stand();
    cm->raise(id, cm_event_kind::device_removal);
    run();
    EXPECT_EQ(closed.ec, errc::device_fatal);
    expect_no_ids();
}

TEST_F(CmEstablished, EventsBetweenReadyAndTheWatchAreNotLost) {
    cm->answer(cm_call::establish, {cm_event{.kind = cm_event_kind::disconnected}});
    stand();
    run();
    EXPECT_EQ(closed.ec, errc::peer_closed);
    expect_no_ids();
}

TEST_F(CmEstablished, DataBeforeTheConnectionStandsAreDeliveredOnce) {
    memory_region memory(dev, 4096);
    qp.emplace(*context, dev);
    int received = 0;
    std::vector<std::string> order;
    qp->async_receive(memory.buffer(0, 64), [&](const error_code& ec, received_message m) {
        EXPECT_FALSE(ec);
        EXPECT_EQ(m.size, 5U);
        ++received;
        order.emplace_back("received");
    });
    cm->before(cm_call::establish, [&] { EXPECT_TRUE(dev->complete_receive(0, bytes("early"))); });
    cm_ended out;
    async_connect(*qp, cm_connector(*context, dev, nine()), out.handler());
    run_until([&] { return out.done && received > 0; });
    EXPECT_FALSE(out.ec);
    settle();
    EXPECT_EQ(received, 1);
    qp->close();
    run();
    EXPECT_EQ(received, 1);
}

// ---- Our goodbye

TEST_F(CmEstablished, CloseSaysGoodbyeAndLeavesNothing) {
    stand();
    qp->close();
    run();
    EXPECT_EQ(closed.ec, asio::error::operation_aborted);
    EXPECT_EQ(cm->count("disconnect"), 1U);
    expect_no_ids();
}

TEST_F(CmEstablished, DestructionSaysGoodbyeToo) {
    stand();
    qp.reset();
    run();
    EXPECT_EQ(cm->count("disconnect"), 1U);
    expect_no_ids();
}

TEST_F(CmEstablished, TwoThatLeaveAtOnceBothLeave) {
    stand();
    cm->raise(id, cm_event_kind::disconnected);
    qp->close();
    run();
    EXPECT_TRUE(closed.done);
    expect_no_ids();
}

TEST_F(CmEstablished, SilentPeerIsLeftAtTheReleaseDeadline) {
    cm->be_silent_after(cm_call::disconnect);
    cm_config config;
    config.release_deadline = 30ms;
    stand_alone(config);
    cm_ended out;
    const auto before = std::chrono::steady_clock::now();
    how->async_release(out.handler());
    settle();
    EXPECT_FALSE(out.done) << "waits for the peer's word";
    run_until(out);
    EXPECT_FALSE(out.ec);
    EXPECT_GE(std::chrono::steady_clock::now() - before, 30ms);
    EXPECT_EQ(cm->live_ids(), 0U);
}

TEST_F(CmEstablished, GoodbyeEndsWithThePeersWord) {
    cm->be_silent_after(cm_call::disconnect);
    cm_config config;
    config.release_deadline = 1h;
    stand_alone(config);
    cm_ended out;
    how->async_release(out.handler());
    settle();
    for (const auto kind : {cm_event_kind::established, cm_event_kind::address_change}) cm->raise(id, kind);
    settle();
    EXPECT_FALSE(out.done);
    EXPECT_EQ(cm->live_ids(), 1U);
    cm->raise(id, cm_event_kind::disconnected);
    run_until(out);
    EXPECT_EQ(cm->live_ids(), 0U);
}

TEST_F(CmEstablished, TimeWaitIsWaitedForOnlyWhenAsked) {
    cm->answer(cm_call::disconnect, {cm_event{.kind = cm_event_kind::disconnected}});
    for (const bool asked : {false, true}) {
        cm_config config;
        config.release_deadline = 1h;
        config.time_wait_deadline = asked ? std::chrono::milliseconds(1h) : 0ms;
        stand_alone(config);
        cm_ended out;
        how->async_release(out.handler());
        settle();
        EXPECT_EQ(out.done, !asked);
        if (!asked) continue;
        EXPECT_EQ(cm->live_ids(), 1U);
        cm->raise(id, cm_event_kind::disconnected);
        settle();
        EXPECT_FALSE(out.done);
        cm->raise(id, cm_event_kind::time_wait_exit);
        run_until(out);
        EXPECT_EQ(cm->live_ids(), 0U);
    }
}

TEST_F(CmEstablished, TimeWaitThatNeverEndsHasADeadline) {
    cm->answer(cm_call::disconnect, {cm_event{.kind = cm_event_kind::disconnected}});
    cm_config config;
    config.time_wait_deadline = 30ms;
    stand_alone(config);
    cm_ended out;
    how->async_release(out.handler());
    settle();
    EXPECT_FALSE(out.done);
    run_until(out);
    EXPECT_FALSE(out.ec);
    EXPECT_EQ(cm->live_ids(), 0U);
}

TEST_F(CmEstablished, TimeWaitThatComesWithoutTheGoodbyeIsEnough) {
    cm->answer(cm_call::disconnect, {cm_event{.kind = cm_event_kind::time_wait_exit}});
    cm_config config;
    config.release_deadline = config.time_wait_deadline = 1h;
    stand_alone(config);
    cm_ended out;
    how->async_release(out.handler());
    run_until(out);
    EXPECT_EQ(cm->live_ids(), 0U);
}

TEST_F(CmEstablished, FailedDisconnectEndsTheReleaseAtOnce) {
    cm->fail(cm_call::disconnect, system_error(EINVAL));
    cm_config config;
    config.release_deadline = config.time_wait_deadline = 1h;
    stand_alone(config);
    cm_ended out;
    how->async_release(out.handler());
    run_until(out);
    EXPECT_FALSE(out.ec);
    EXPECT_EQ(cm->live_ids(), 0U);
}

TEST_F(CmEstablished, ReleasesThatComeTogetherAllEnd) {
    cm->be_silent_after(cm_call::disconnect);
    cm_config config;
    config.release_deadline = 20ms;
    stand_alone(config);
    cm_ended first, second, third;
    how->async_release(first.handler());
    how->async_release(second.handler());
    settle();
    how->async_release(third.handler());
    run_until([&] { return first.done && second.done && third.done; });
    EXPECT_EQ(cm->count("disconnect"), 1U);
    EXPECT_EQ(cm->count("destroy"), 1U);
}

TEST_F(CmEstablished, ObjectThatGoesDuringItsReleaseDoesNotWait) {
    cm->be_silent_after(cm_call::disconnect);
    cm_config config;
    config.release_deadline = 1h;
    stand_alone(config);
    cm_ended out;
    how->async_release(out.handler());
    settle();
    how.reset();
    run();
    EXPECT_TRUE(out.done);
    expect_no_ids();
}

TEST_F(CmEstablished, ContextThatGoesDuringAReleaseLeavesNothing) {
    cm->be_silent_after(cm_call::disconnect);
    stand_alone({});
    cm_ended out;
    how->async_release(out.handler());
    settle();
    how.reset();
    context.reset();
    EXPECT_FALSE(out.done);
    expect_no_ids();
}

TEST_F(CmEstablished, ObjectThatGoesWithoutARelease) {
    stand_alone({});
    how.reset();
    run();
    EXPECT_EQ(cm->count("destroy"), 1U);
    expect_no_ids();
}

TEST_F(CmEstablished, LateEventsAfterTheReleaseFindNobody) {
    stand_alone({});
    cm_ended out;
    how->async_release(out.handler());
    run_until(out);
    const auto error = how->last_error();
    for (int kind = 0; kind <= static_cast<int>(cm_event_kind::time_wait_exit); ++kind)
        cm->raise(id, static_cast<cm_event_kind>(kind));
    cm_ended lost;
    how->async_wait_lost(lost.handler());
    run_until(lost);
    EXPECT_EQ(lost.ec, asio::error::operation_aborted);
    EXPECT_EQ(how->last_error().code, error.code);
    EXPECT_EQ(cm->count("destroy"), 1U);
}

TEST_F(CmEstablished, WaitMayBeCancelledAndBeginAgain) {
    stand_alone({});
    asio::cancellation_signal signal;
    for (int round = 0; round < 3; ++round) {
        cm_ended lost;
        how->async_wait_lost(asio::bind_cancellation_slot(signal.slot(), lost.handler()));
        settle();
        EXPECT_FALSE(lost.done);
        signal.emit(asio::cancellation_type::total);
        run_until(lost);
        EXPECT_EQ(lost.ec, asio::error::operation_aborted);
    }
    cm->raise(id, cm_event_kind::disconnected);
    cm_ended lost;
    how->async_wait_lost(lost.handler());
    run_until(lost);
    EXPECT_EQ(lost.ec, errc::peer_closed);
    EXPECT_EQ(cm->live_ids(), 0U);
    cm_ended again;
    how->async_wait_lost(again.handler());
    run_until(again);
    EXPECT_EQ(again.ec, errc::invalid_state) << "there is no connection any more";
}

TEST_F(CmEstablished, ManyEventsNobodyWaitsForDoNotPileUp) {
    stand_alone({});
    for (int n = 0; n < 1000; ++n) cm->raise(id, cm_event_kind::address_change);
    cm->raise(id, cm_event_kind::disconnected);
    cm_ended lost;
    how->async_wait_lost(lost.handler());
    run_until(lost);
    EXPECT_EQ(lost.ec, errc::peer_closed);
}

TEST_F(CmEstablished, QueuePairConnectsAgainAndAgain) {
    stand();
    const auto first = dev->connection(0)->local.send_psn;
    EXPECT_EQ(first, numbers().send_psn);
    for (std::size_t round = 1; round < 20; ++round) {
        qp->close();
        run();
        closed = {};
        cm_ended out;
        async_connect(*qp, cm_connector(*context, dev, nine()), out.handler());
        run_until(out);
        ASSERT_FALSE(out.ec) << qp->last_error().message();
        EXPECT_EQ(cm->live_ids(), 1U);
        EXPECT_EQ(cm->live_managers(), 1U);
    }
    qp->close();
    run();
    expect_no_ids();
}

TEST_F(CmEstablished, ConnectionsLeaveNoDescriptors) {
    stand();
    qp->close();
    run();
    const auto before = open_descriptors();
    for (int round = 0; round < 20; ++round) {
        cm_ended out;
        closed = {};
        async_connect(*qp, cm_connector(*context, dev, nine()), out.handler());
        run_until(out);
        qp->close();
        run();
    }
    EXPECT_EQ(open_descriptors(), before);
}

} // namespace
} // namespace rocio::test

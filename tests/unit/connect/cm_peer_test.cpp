// The listening side of one connection, from its request on.

#include "cm_acceptor_fixture.hpp"

namespace rocio::test {
namespace {

using CmPeer = CmAcceptorFixture;

TEST_F(CmPeer, QueuePairIsReadyBeforeThePeerIsAnswered) {
    listen();
    memory_region memory(dev, 4096);
    queue_pair qp(*context, dev);
    qp.async_receive(memory.buffer(0, 64), [](const error_code&, received_message) {});
    auto peer = request_and_accept();
    EXPECT_EQ(cm->count("accept"), 0U);
    std::size_t posted = 0, to_send = 0;
    cm->before(cm_call::accept, [&] {
        posted = dev->posted_receives(0);
        to_send = dev->calls(device_call::to_ready_to_send);
    });
    cm_ended out;
    async_connect(qp, std::move(peer), out.handler());
    run_until(out);
    EXPECT_FALSE(out.ec) << qp.last_error().message();
    EXPECT_EQ(posted, 1U);
    EXPECT_EQ(to_send, 1U);
    EXPECT_THAT(cm->log(), ElementsAre("create_manager", "listen", "numbers", "accept"));
    const auto used = dev->connection(0).value();
    EXPECT_EQ(used.local.send_psn, numbers().send_psn);
    EXPECT_EQ(used.local.min_rnr_timer.code(), 12);
    EXPECT_EQ(used.peer.queue_pair, qpn(77));
    EXPECT_EQ(cm->last("accept").offer.queue_pair, dev->number_of(0));
    qp.close();
    settle();
    EXPECT_EQ(cm->count("disconnect"), 1U);
}

TEST_F(CmPeer, PeerTellsWhoAsksAndWhatItSent) {
    listen();
    auto peer = request_and_accept(bytes("something of its own"));
    EXPECT_EQ(peer.remote_endpoint().address().to_string(), "10.0.0.99");
    ASSERT_EQ(peer.private_data().size(), 56U);
    EXPECT_EQ(peer.private_data()[0], std::byte{'s'});
    EXPECT_EQ(peer.private_data()[55], std::byte{0});
    EXPECT_FALSE(exchange(peer).ec) << "another program's data are no reason to turn it away";
    release(peer);
}

TEST_F(CmPeer, AnswerHasRoomFor196BytesOfOurOwn) {
    cm_acceptor_config config;
    config.handshake.private_data.emplace(196, std::byte{0x42});
    listen(config);
    auto peer = request_and_accept();
    EXPECT_FALSE(exchange(peer).ec);
    EXPECT_FALSE(ready(peer).ec);
    EXPECT_EQ(cm->last("accept").data, *config.handshake.private_data);
    release(peer);
}

TEST_F(CmPeer, RequestThatDoesNotFitIsRejectedWithItsSentence) {
    cm_acceptor_config config;
    config.handshake.largest_message = 4096;
    listen(config);
    auto peer = request_and_accept(cm_greeting::encode(cm_greeting::greeting{.max_payload = 64}));
    EXPECT_EQ(exchange(peer).ec, errc::geometry_mismatch);
    EXPECT_THAT(refusal(), HasSubstr("listening side sends messages of up to 4096 bytes"));
    EXPECT_THAT(peer.last_error().text, HasSubstr("takes at most 64"));
    release(peer);
    EXPECT_EQ(cm->count("reject"), 1U) << "once is enough";
    EXPECT_EQ(cm->live_ids(), 1U) << "the listener";
}

TEST_F(CmPeer, RejectTellsTheSentence) {
    listen();
    auto peer = request_and_accept();
    cm_ended out;
    peer.async_reject("not on Sundays\n", out.handler());
    run_until(out);
    EXPECT_FALSE(out.ec);
    EXPECT_EQ(refusal(), "not on Sundays?");
    EXPECT_EQ(exchange(peer).ec, errc::invalid_state);
    EXPECT_EQ(cm->live_ids(), 1U);
}

TEST_F(CmPeer, RejectComesInsteadOfTheExchange) {
    listen();
    auto peer = request_and_accept();
    EXPECT_FALSE(exchange(peer).ec);
    cm_ended out;
    peer.async_reject("too late", out.handler());
    run_until(out);
    EXPECT_EQ(out.ec, errc::invalid_state);
    release(peer);
    EXPECT_THAT(refusal(), HasSubstr("gave the handshake up"));
}

TEST_F(CmPeer, PeerThatIsDroppedIsTurnedAwayByItsEnd) {
    listen();
    { auto peer = request_and_accept(); }
    settle();
    EXPECT_EQ(cm->live_ids(), 1U);
}

// ---- Something happens while the connection is made

class CmAccepting : public CmPeer, public ::testing::WithParamInterface<cm_event_kind> {};

TEST_P(CmAccepting, WhileThePeerIsToConfirm) {
    cm->answer(cm_call::accept, {cm_event{.kind = GetParam(), .reason = asio::error::host_unreachable}});
    listen();
    queue_pair qp(*context, dev);
    cm_ended out;
    async_connect(qp, request_and_accept(), out.handler());
    run_until(out);
    EXPECT_TRUE(out.ec);
    EXPECT_FALSE(qp.last_error().text.empty());
    EXPECT_EQ(out.ec == errc::device_fatal, GetParam() == cm_event_kind::device_removal);
    settle();
    EXPECT_EQ(cm->live_ids(), 1U);
    cm->answer(cm_call::accept, cm_event_kind::established);
    auto next = request_and_accept();
    EXPECT_FALSE(exchange(next).ec) << "the listener goes on";
    release(next);
}

TEST_P(CmAccepting, BetweenTheExchangeAndReady) {
    listen();
    keep_watching();
    auto peer = request_and_accept();
    const auto id = cm->newest();
    EXPECT_FALSE(exchange(peer).ec);
    cm->raise({.kind = GetParam(), .id = id, .reason = asio::error::host_unreachable});
    settle();
    const auto out = ready(peer);
    EXPECT_TRUE(out.ec);
    EXPECT_NE(out.ec, errc::invalid_state) << "it was the peer, not the program";
    EXPECT_EQ(cm->count("accept"), 1U) << "only the watcher's";
    release(peer);
    EXPECT_EQ(cm->live_ids(), 2U);
}

TEST_P(CmAccepting, BetweenTheAcceptAndTheExchange) {
    listen();
    keep_watching();
    auto peer = request_and_accept();
    const auto id = cm->newest();
    cm->raise({.kind = GetParam(), .id = id, .reason = asio::error::host_unreachable});
    settle();
    const auto out = exchange(peer);
    EXPECT_TRUE(out.ec);
    EXPECT_NE(out.ec, errc::invalid_state);
    release(peer);
    EXPECT_EQ(cm->live_ids(), 2U);
}

TEST_P(CmAccepting, BetweenTheAcceptAndTheReject) {
    listen();
    keep_watching();
    auto peer = request_and_accept();
    cm->raise(cm->newest(), GetParam());
    settle();
    cm_ended out;
    peer.async_reject("anyway", out.handler());
    run_until(out);
    EXPECT_FALSE(out.ec) << "that the other side is gone is no error";
    release(peer);
    EXPECT_EQ(cm->live_ids(), 2U);
}

INSTANTIATE_TEST_SUITE_P(Events, CmAccepting,
                         ::testing::Values(cm_event_kind::rejected, cm_event_kind::unreachable,
                                           cm_event_kind::disconnected, cm_event_kind::connect_error,
                                           cm_event_kind::device_removal),
                         [](const auto& p) { return "event" + std::to_string(static_cast<int>(p.param)); });

TEST_F(CmPeer, FailedAcceptIsToldAndTheListenerGoesOn) {
    listen();
    cm->fail(cm_call::accept, system_error(EINVAL, "rdma_accept: Invalid argument"));
    auto peer = request_and_accept();
    EXPECT_FALSE(exchange(peer).ec);
    EXPECT_EQ(ready(peer).ec, boost::system::errc::invalid_argument);
    EXPECT_EQ(peer.last_error().text, "rdma_accept: Invalid argument");
    release(peer);
    auto next = request_and_accept();
    EXPECT_FALSE(exchange(next).ec);
    EXPECT_FALSE(ready(next).ec);
    release(next);
    EXPECT_EQ(cm->live_ids(), 1U);
}

TEST_F(CmPeer, BadRequestDoesNotDisturbItsNeighbours) {
    listen();
    for (int n = 0; n < 3; ++n) cm->request();
    int served = 0, failed = 0;
    std::vector<queue_pair> pairs;
    for (int n = 0; n < 3; ++n) {
        auto peer = accept();
        if (n == 1) {
            dev->fail_call(device_call::create_queue_pair, 1, errc::limit_exceeded);
            cm->fail(cm_call::reject, system_error(EINVAL));
        }
        try {
            pairs.emplace_back(*context, dev);
        } catch (const exception& e) {
            ++failed;
            cm_ended out;
            peer.async_reject(e.what(), out.handler());
            run_until(out);
            EXPECT_FALSE(out.ec);
            continue;
        }
        cm_ended out;
        async_connect(pairs.back(), std::move(peer), out.handler());
        run_until(out);
        if (!out.ec) ++served;
    }
    EXPECT_EQ(served, 2);
    EXPECT_EQ(failed, 1);
    EXPECT_EQ(cm->live_ids(), 3U);
    pairs.clear();
    settle();
    EXPECT_EQ(cm->live_ids(), 1U);
}

} // namespace
} // namespace rocio::test

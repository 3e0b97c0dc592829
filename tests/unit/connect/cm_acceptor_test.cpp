// The acceptor: the order of the requests, their limits, and its end.

#include "cm_acceptor_fixture.hpp"

namespace rocio::test {
namespace {

using CmAcceptor = CmAcceptorFixture;

TEST_F(CmAcceptor, RequestsAreGivenInTheirOrder) {
    listen();
    std::vector<cm_ended> ends(4);
    for (auto& e : ends) acceptor->async_accept(e.handler());
    settle();
    for (int n = 0; n < 4; ++n) cm->request(bytes(std::to_string(n)));
    run_until([&] { return std::ranges::all_of(ends, [](const auto& e) { return e.done; }); });
    for (int n = 0; n < 4; ++n) {
        ASSERT_FALSE(ends[static_cast<std::size_t>(n)].ec);
        EXPECT_EQ(ends[static_cast<std::size_t>(n)].caller->private_data()[0],
                  std::byte(static_cast<unsigned char>('0' + n)));
    }
}

TEST_F(CmAcceptor, WhoWaitsLongerIsServedFirst) {
    listen();
    for (int round = 0; round < 50; ++round) {
        cm_ended first, second;
        acceptor->async_accept(first.handler());
        settle();
        cm->request();
        // The later one begins at every moment on the request's way to the first.
        context->restart();
        for (int n = 0; n < round % 10; ++n) context->poll_one();
        acceptor->async_accept(second.handler());
        settle();
        EXPECT_TRUE(first.done) << "round " << round;
        EXPECT_FALSE(second.done) << "round " << round;
        cm->request();
        run_until(second);
    }
}

TEST_F(CmAcceptor, CancelledWaiterLeavesTheRequestToTheNext) {
    listen();
    asio::cancellation_signal signal;
    for (const auto type : {asio::cancellation_type::terminal, asio::cancellation_type::total}) {
        for (const bool request_first : {false, true}) {
            cm_ended first, second;
            acceptor->async_accept(asio::bind_cancellation_slot(signal.slot(), first.handler()));
            acceptor->async_accept(second.handler());
            settle();
            if (request_first) cm->request();
            signal.emit(type);
            if (!request_first) cm->request();
            run_until([&] { return first.done && second.done; });
            EXPECT_EQ(first.ec, asio::error::operation_aborted);
            EXPECT_FALSE(second.ec);
        }
    }
    settle();
    EXPECT_EQ(acceptor->snapshot().accepted, 4U);
}

TEST_F(CmAcceptor, RequestsBeforeTheFirstAcceptWaitInTheSystem) {
    listen();
    cm->request();
    settle();
    EXPECT_EQ(cm->untaken_events(), 1U);
    EXPECT_EQ(acceptor->snapshot().requests, 0U);
    auto peer = accept();
    EXPECT_EQ(acceptor->snapshot().requests, 1U);
    EXPECT_EQ(acceptor->snapshot().accepted, 1U);
    EXPECT_EQ(acceptor->snapshot().waiting, 0U);
}

TEST_F(CmAcceptor, TakesNoEventsWhileNothingIsOutstanding) {
    listen();
    auto peer = request_and_accept();
    settle();
    EXPECT_TRUE(context->stopped()) << "an idle acceptor keeps no context running";
    cm->request();
    settle();
    EXPECT_EQ(cm->untaken_events(), 1U);
}

// ---- Requests that wait

TEST_F(CmAcceptor, OneTooManyIsRejectedAndCounted) {
    const auto log = std::make_shared<kept_log>();
    cm_acceptor_config config;
    config.max_waiting = 2;
    config.log = log;
    listen(config);
    keep_watching();
    for (int n = 0; n < 3; ++n) cm->request();
    settle();
    const auto seen = acceptor->snapshot();
    EXPECT_EQ(seen.requests, 4U);
    EXPECT_EQ(seen.accepted, 1U);
    EXPECT_EQ(seen.waiting, 2U);
    EXPECT_EQ(seen.busy, 1U);
    EXPECT_EQ(seen.given_up, 0U);
    EXPECT_THAT(seen.last_turned_away, HasSubstr("10.0.0.99:"));
    EXPECT_EQ(refusal(), "too many connections at once");
    EXPECT_THAT(log->lines, ElementsAre(AllOf(HasSubstr("rejected 10.0.0.99:"), HasSubstr("too many"))));
    EXPECT_THAT(log->lines[0], ::testing::StartsWith(std::to_string(static_cast<int>(log_level::warning))));
    auto one = accept();
    auto two = accept();
    EXPECT_EQ(acceptor->snapshot().waiting, 0U);
    EXPECT_EQ(acceptor->snapshot().accepted, 3U);
}

TEST_F(CmAcceptor, PatienceEnds) {
    cm_acceptor_config config;
    config.patience = 20ms;
    listen(config);
    keep_watching();
    cm->request();
    settle();
    EXPECT_EQ(acceptor->snapshot().waiting, 1U);
    pass(25ms);
    cm_ended out;
    acceptor->async_accept(out.handler());
    settle();
    EXPECT_FALSE(out.done);
    EXPECT_EQ(refusal(), "nobody took its request up in time");
    EXPECT_EQ(acceptor->snapshot().given_up, 1U);
    EXPECT_EQ(acceptor->snapshot().waiting, 0U);
    cm->request();
    run_until(out);
    EXPECT_FALSE(out.ec);
}

TEST_F(CmAcceptor, PatienceEndsWithoutAnybodyAccepting) {
    cm_acceptor_config config;
    config.patience = 20ms;
    listen(config);
    keep_watching();
    cm->request();
    settle();
    run_until([&] { return acceptor->snapshot().given_up == 1; });
    EXPECT_EQ(acceptor->snapshot().waiting, 0U);
    EXPECT_EQ(cm->live_ids(), 2U);
}

TEST_F(CmAcceptor, WhoGaveUpMeanwhileIsLeftOut) {
    listen();
    keep_watching();
    const auto first = cm->request(bytes("a"));
    cm->request(bytes("b"));
    settle();
    cm->raise(first, cm_event_kind::rejected);
    settle();
    auto peer = accept();
    EXPECT_EQ(peer.private_data()[0], std::byte{'b'});
    EXPECT_EQ(acceptor->snapshot().given_up, 1U);
    EXPECT_EQ(cm->live_ids(), 3U);
}

TEST_F(CmAcceptor, WhoGaveUpWhileNobodyListenedIsLeftOutToo) {
    listen();
    cm_ended taken;
    acceptor->async_accept(taken.handler());
    settle();
    cm->request(bytes("a"));
    const auto second = cm->request(bytes("b"));
    run_until(taken);
    settle();
    EXPECT_EQ(acceptor->snapshot().waiting, 1U);
    cm->raise(second, cm_event_kind::rejected);
    cm->request(bytes("c"));
    auto peer = accept();
    EXPECT_EQ(peer.private_data()[0], std::byte{'c'});
    EXPECT_EQ(acceptor->snapshot().given_up, 1U);
}

TEST_F(CmAcceptor, FloodIsTakenInTurns) {
    cm_acceptor_config config;
    config.max_waiting = 1000;
    listen(config);
    for (int n = 0; n < 500; ++n) cm->request();
    std::vector<cm_peer> peers;
    for (int n = 0; n < 500; ++n) peers.push_back(accept());
    EXPECT_EQ(acceptor->snapshot().accepted, 500U);
    EXPECT_EQ(acceptor->snapshot().busy, 0U);
    EXPECT_EQ(cm->live_ids(), 501U);
    peers.clear();
    settle();
    EXPECT_EQ(cm->live_ids(), 1U);
}

// ---- Its end

TEST_F(CmAcceptor, CancelEndsTheWaitersAndNothingElse) {
    listen();
    cm_ended first, second, later;
    acceptor->async_accept(first.handler());
    acceptor->async_accept(second.handler());
    acceptor->cancel();
    acceptor->async_accept(later.handler());
    settle();
    EXPECT_EQ(first.ec, asio::error::operation_aborted);
    EXPECT_EQ(second.ec, asio::error::operation_aborted);
    EXPECT_FALSE(later.done) << "it began after the cancel()";
    cm->request();
    run_until(later);
    EXPECT_FALSE(later.ec);
}

TEST_F(CmAcceptor, CloseEndsTheWaitersAndFreesTheAddress) {
    listen();
    const auto where = acceptor->local_endpoint();
    cm_ended waiting, late;
    acceptor->async_accept(waiting.handler());
    settle();
    acceptor->close();
    acceptor->async_accept(late.handler());
    run();
    EXPECT_EQ(waiting.ec, asio::error::operation_aborted);
    EXPECT_EQ(late.ec, asio::error::bad_descriptor);
    EXPECT_EQ(cm->live_ids(), 0U);
    acceptor->close();
    run();
    cm_acceptor_config config;
    config.endpoint = where;
    listen(config);
    EXPECT_EQ(acceptor->local_endpoint(), where);
}

TEST_F(CmAcceptor, CloseRejectsTheRequestsThatWait) {
    listen();
    keep_watching();
    cm->request();
    cm->request();
    settle();
    acceptor->close();
    settle();
    EXPECT_EQ(cm->count("reject"), 2U);
    EXPECT_EQ(refusal(), "the listener was closed");
    EXPECT_EQ(acceptor->snapshot().waiting, 0U);
    EXPECT_EQ(cm->live_ids(), 1U) << "the connection that stands";
    EXPECT_FALSE(watched.done);
}

TEST_F(CmAcceptor, PeersOutliveTheirAcceptor) {
    listen();
    keep_watching();
    auto peer = request_and_accept();
    acceptor.reset();
    settle();
    EXPECT_FALSE(exchange(peer).ec);
    EXPECT_FALSE(ready(peer).ec);
    cm_ended lost;
    peer.async_wait_lost(lost.handler());
    settle();
    EXPECT_FALSE(lost.done);
    EXPECT_FALSE(watched.done);
    cm->raise(cm->newest(), cm_event_kind::disconnected);
    run_until(lost);
    EXPECT_EQ(lost.ec, errc::peer_closed);
    release(*watcher);
    EXPECT_EQ(cm->live_ids(), 0U);
}

TEST_F(CmAcceptor, EachPeerGetsItsOwnEvents) {
    listen();
    std::vector<cm_peer> peers;
    std::vector<cm_id> ids;
    std::vector<cm_ended> lost(5);
    for (std::size_t n = 0; n < lost.size(); ++n) {
        peers.push_back(request_and_accept());
        ids.push_back(cm->newest());
        ASSERT_FALSE(exchange(peers[n]).ec);
        ASSERT_FALSE(ready(peers[n]).ec);
        peers[n].async_wait_lost(lost[n].handler());
    }
    for (const std::size_t n : {3U, 0U, 4U, 1U, 2U}) {
        settle();
        EXPECT_FALSE(lost[n].done);
        cm->raise(ids[n], cm_event_kind::disconnected);
        run_until(lost[n]);
        EXPECT_EQ(lost[n].ec, errc::peer_closed);
    }
}

TEST_F(CmAcceptor, DestructionEndsTheWaiters) {
    listen();
    cm_ended waiting;
    acceptor->async_accept(waiting.handler());
    acceptor.reset();
    run();
    EXPECT_EQ(waiting.ec, asio::error::operation_aborted);
    expect_no_ids();
}

TEST_F(CmAcceptor, DestructionWithARequestUnderWay) {
    for (int steps = 0; steps < 12; ++steps) {
        listen();
        cm_ended waiting;
        acceptor->async_accept(waiting.handler());
        settle();
        cm->request();
        context->restart();
        for (int n = 0; n < steps; ++n) context->poll_one();
        acceptor.reset();
        settle();
        EXPECT_TRUE(waiting.done);
        waiting.caller.reset();
        run();
        expect_no_ids();
    }
}

TEST_F(CmAcceptor, DyingContextFreesEverything) {
    for (int steps = 0; steps < 12; ++steps) {
        context.emplace();
        listen();
        cm_ended waiting;
        acceptor->async_accept([&, kept = std::make_shared<int>(1)](const error_code& ec, cm_peer peer) {
            waiting.handler()(ec, std::move(peer));
        });
        settle();
        cm->request();
        context->restart();
        for (int n = 0; n < steps; ++n) context->poll_one();
        acceptor.reset();
        waiting.caller.reset();
        context.reset();
        expect_no_ids();
    }
}

TEST_F(CmAcceptor, RemovedDeviceEndsItForGood) {
    listen();
    const auto listener = cm->newest();
    cm_ended waiting, again;
    acceptor->async_accept(waiting.handler());
    settle();
    cm->raise(listener, cm_event_kind::device_removal);
    run_until(waiting);
    EXPECT_EQ(waiting.ec, errc::device_fatal);
    acceptor->async_accept(again.handler());
    run_until(again);
    EXPECT_EQ(again.ec, errc::device_fatal);
}

TEST_F(CmAcceptor, StrangeEventsOfTheListenerAreIgnored) {
    listen();
    const auto listener = cm->newest();
    cm_ended waiting;
    acceptor->async_accept(waiting.handler());
    settle();
    for (int kind = 0; kind <= static_cast<int>(cm_event_kind::time_wait_exit); ++kind) {
        const auto k = static_cast<cm_event_kind>(kind);
        if (k != cm_event_kind::connect_request && k != cm_event_kind::device_removal) cm->raise(listener, k);
    }
    settle();
    EXPECT_FALSE(waiting.done);
    cm->request();
    run_until(waiting);
    EXPECT_FALSE(waiting.ec);
}

TEST_F(CmAcceptor, MovedAcceptorGoesOn) {
    listen();
    cm_ended waiting;
    acceptor->async_accept(waiting.handler());
    cm_acceptor moved(std::move(*acceptor));
    acceptor.reset();
    settle();
    cm->request();
    run_until(waiting);
    EXPECT_FALSE(waiting.ec);
    moved = cm_acceptor(*context, dev);
    settle();
    EXPECT_EQ(cm->live_ids(), 2U) << "the new listener and the peer";
}

TEST_F(CmAcceptor, AnEmptyPeerAnswersInvalidState) {
    cm_peer none(context->get_executor());
    std::vector<error_code> seen;
    const auto note = [&](const error_code& ec, auto&&...) { seen.push_back(ec); };
    none.async_exchange({}, note);
    none.async_ready(note);
    none.async_wait_lost(note);
    none.async_reject("x", note);
    none.async_release(note);
    run();
    EXPECT_THAT(seen, ElementsAre(errc::invalid_state, errc::invalid_state, errc::invalid_state,
                                  errc::invalid_state, error_code()));
    EXPECT_EQ(none.last_error().code, errc::invalid_state);
    EXPECT_THAT(none.private_data(), IsEmpty());
    EXPECT_EQ(none.remote_endpoint(), asio::ip::tcp::endpoint());
}

} // namespace
} // namespace rocio::test

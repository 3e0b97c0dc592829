// Wherever a handshake waits: its deadline, its cancellation, its release, its end and the end of its
// context.

#include "cm_fixture.hpp"

namespace rocio::test {
namespace {

/// What the handshake waits for.
enum class point { address, route, answer, confirmation, loss };

struct suspension {
    point where;
    const char* name;
    const char* waits_for;
};

class CmSuspended : public CmFixture, public ::testing::WithParamInterface<suspension> {
  protected:
    point where() const { return GetParam().where; }
    bool listens() const { return where() == point::confirmation; }

    /// Runs up to the point; `pending` is what waits there.
    void reach_point(const cm_config& config = {}) {
        peer_accepts();
        const std::map<point, cm_call> silent{{point::address, cm_call::resolve_address},
                                              {point::route, cm_call::resolve_route},
                                              {point::answer, cm_call::connect},
                                              {point::confirmation, cm_call::accept}};
        if (silent.contains(where())) cm->be_silent_after(silent.at(where()));
        if (listens()) return listen_to_point(config);
        connector.emplace(*context, dev, nine(), config);
        if (where() == point::loss) return connect_to_point();
        start([&](auto h) { connector->async_exchange(side(), bound(std::move(h))); });
    }

    template <class Operation>
    void start(Operation operation) {
        asio::post(*context, [this, operation] {
            const initiation_scope inside;
            operation(pending.handler());
        });
        settle();
        ASSERT_FALSE(pending.done) << "does not wait";
        ASSERT_FALSE(context->stopped());
    }

    template <class Handler>
    auto bound(Handler handler) {
        return asio::bind_cancellation_slot(signal.slot(), std::move(handler));
    }

    template <class Act>
    void with_handshake(Act act) {
        if (connector)
            act(*connector);
        else
            act(*peer);
    }

    void release() {
        cm_ended out;
        with_handshake([&](auto& how) { how.async_release(out.handler()); });
        run_until(out);
        EXPECT_FALSE(out.ec);
    }
    void drop() {
        connector.reset();
        peer.reset();
        acceptor.reset();
    }

    cm_ended pending;
    std::optional<cm_connector> connector;
    std::optional<cm_acceptor> acceptor;
    std::optional<cm_peer> peer;
    asio::cancellation_signal signal;

  private:
    void listen_to_point(const cm_config& config) {
        cm_acceptor_config listening;
        listening.handshake = config;
        acceptor.emplace(*context, dev, listening);
        cm_ended accepted, exchanged;
        acceptor->async_accept(accepted.handler());
        cm->request();
        run_until(accepted);
        peer.emplace(std::move(*accepted.caller));
        peer->async_exchange(side(), exchanged.handler());
        run_until(exchanged);
        ASSERT_FALSE(exchanged.ec);
        start([&](auto h) { peer->async_ready(bound(std::move(h))); });
    }
    void connect_to_point() {
        cm_ended exchanged, ready;
        connector->async_exchange(side(), exchanged.handler());
        run_until(exchanged);
        connector->async_ready(ready.handler());
        run_until(ready);
        ASSERT_FALSE(ready.ec);
        start([&](auto h) { connector->async_wait_lost(bound(std::move(h))); });
    }
};

TEST_P(CmSuspended, IsCancelled) {
    for (const auto type : {asio::cancellation_type::terminal, asio::cancellation_type::total}) {
        reach_point();
        signal.emit(type);
        run_until(pending);
        EXPECT_EQ(pending.ec, asio::error::operation_aborted);
        release();
        if (acceptor) acceptor->close();
        run();
        EXPECT_EQ(cm->live_ids(), 0U);
        drop();
        pending = {};
    }
}

TEST_P(CmSuspended, IsNotCancelledByAPartialCancellation) {
    reach_point();
    signal.emit(asio::cancellation_type::partial);
    settle();
    EXPECT_FALSE(pending.done);
    drop();
    run();
}

TEST_P(CmSuspended, IsEndedByTheRelease) {
    reach_point();
    release();
    EXPECT_TRUE(pending.done);
    EXPECT_EQ(pending.ec, asio::error::operation_aborted);
    if (acceptor) acceptor->close();
    run();
    EXPECT_EQ(cm->live_ids(), 0U);
    drop();
    run();
    expect_no_ids();
}

TEST_P(CmSuspended, IsEndedByTheEndOfItsObject) {
    reach_point();
    drop();
    EXPECT_FALSE(pending.done);
    run();
    EXPECT_TRUE(pending.done);
    EXPECT_EQ(pending.ec, asio::error::operation_aborted);
    expect_no_ids();
}

TEST_P(CmSuspended, ContinuesWhenItsObjectMoves) {
    reach_point();
    with_handshake([&](auto& how) {
        auto moved = std::move(how);
        settle();
        EXPECT_FALSE(pending.done);
        how = std::move(moved);
    });
    settle();
    EXPECT_FALSE(pending.done);
    drop();
    run();
}

TEST_P(CmSuspended, AssignmentEndsWhatWasThere) {
    reach_point();
    with_handshake([&](auto& how) {
        using type = std::remove_reference_t<decltype(how)>;
        if constexpr (std::is_same_v<type, cm_connector>)
            how = cm_connector(*context, dev, nine());
        else
            how = cm_peer(context->get_executor());
    });
    run_until(pending);
    EXPECT_EQ(pending.ec, asio::error::operation_aborted);
    drop();
    run();
}

TEST_P(CmSuspended, HandlerOfADyingContextIsFreedAndNotCalled) {
    reach_point();
    drop();
    context.reset();
    EXPECT_FALSE(pending.done);
    expect_no_ids();
}

TEST_P(CmSuspended, SignalMayComeAfterTheEndOfTheContext) {
    reach_point();
    drop();
    context.reset();
    signal.emit(asio::cancellation_type::terminal);
    EXPECT_FALSE(pending.done);
}

TEST_P(CmSuspended, RemovedDeviceEndsItForGood) {
    reach_point();
    cm->raise(cm->newest(), cm_event_kind::device_removal);
    run_until(pending);
    EXPECT_EQ(pending.ec, errc::device_fatal);
    with_handshake([&](auto& how) { EXPECT_THAT(how.last_error().text, HasSubstr("removed")); });
    drop();
    run();
    expect_no_ids();
}

TEST_P(CmSuspended, EventAndCancellationAtOnceEndItOnce) {
    reach_point();
    cm->raise(cm->newest(), cm_event_kind::disconnected);
    signal.emit(asio::cancellation_type::terminal);
    run_until(pending);
    EXPECT_TRUE(pending.ec == asio::error::operation_aborted || pending.ec == errc::peer_closed)
        << pending.ec.message();
    drop();
    run();
    expect_no_ids();
}

TEST_P(CmSuspended, EventAndEndOfTheObjectAtOnceEndItOnce) {
    reach_point();
    cm->raise(cm->newest(), cm_event_kind::rejected);
    drop();
    run();
    EXPECT_TRUE(pending.done);
    expect_no_ids();
}

INSTANTIATE_TEST_SUITE_P(Points, CmSuspended,
                         ::testing::Values(suspension{point::address, "address", "be found"},
                                           suspension{point::route, "route", "be found a route to"},
                                           suspension{point::answer, "answer", "answer our request"},
                                           suspension{point::confirmation, "confirmation",
                                                      "confirm the connection"},
                                           suspension{point::loss, "loss", ""}),
                         [](const auto& p) { return std::string(p.param.name); });

// ---- Deadlines

class CmSuspendedStep : public CmSuspended {
  protected:
    void expect_timeout(const char* deadline, const char* value) {
        run_until(pending);
        EXPECT_EQ(pending.ec, errc::handshake_timed_out);
        with_handshake([&](auto& how) {
            EXPECT_THAT(how.last_error().text, AllOf(HasSubstr(deadline), HasSubstr(value),
                                                     HasSubstr(GetParam().waits_for), HasSubstr("10.0.0.")));
        });
        release();
        if (acceptor) acceptor->close();
        run();
        EXPECT_EQ(cm->live_ids(), 0U);
    }
};

TEST_P(CmSuspendedStep, HasItsDeadline) {
    cm_config config;
    config.resolve_deadline = config.connect_deadline = config.ready_deadline = 30ms;
    reach_point(config);
    const std::map<point, const char*> names{{point::address, "(resolve_deadline)"},
                                             {point::route, "(resolve_deadline)"},
                                             {point::answer, "(connect_deadline)"},
                                             {point::confirmation, "(ready_deadline)"}};
    expect_timeout(names.at(where()), "waited 30 ms");
}

TEST_P(CmSuspendedStep, EndsWithTheDeadlineOfAllSteps) {
    cm_config config;
    config.total_deadline = 40ms;
    reach_point(config);
    expect_timeout("(total_deadline)", "waited 40 ms");
}

TEST_P(CmSuspendedStep, LateEventsAfterTheDeadlineAreOfNoMeaning) {
    cm_config config;
    config.total_deadline = 20ms;
    reach_point(config);
    const auto id = cm->newest();
    run_until(pending);
    release();
    for (int kind = 0; kind <= static_cast<int>(cm_event_kind::time_wait_exit); ++kind)
        cm->raise(id, static_cast<cm_event_kind>(kind));
    settle();
    EXPECT_EQ(pending.ec, errc::handshake_timed_out);
    if (acceptor) acceptor->close();
    run();
}

INSTANTIATE_TEST_SUITE_P(Points, CmSuspendedStep,
                         ::testing::Values(suspension{point::address, "address", "be found"},
                                           suspension{point::route, "route", "be found a route to"},
                                           suspension{point::answer, "answer", "answer our request"},
                                           suspension{point::confirmation, "confirmation",
                                                      "confirm the connection"}),
                         [](const auto& p) { return std::string(p.param.name); });

// ---- Through a queue pair

class CmConnectCancelled : public CmFixture, public ::testing::WithParamInterface<cm_call> {
  protected:
    void begin() {
        peer_accepts();
        cm->be_silent_after(GetParam());
        qp.emplace(*context, dev);
        async_connect(*qp, cm_connector(*context, dev, nine()),
                      asio::bind_cancellation_slot(signal.slot(), connected.handler()));
        settle();
        ASSERT_FALSE(connected.done);
        ASSERT_EQ(cm->live_ids(), 1U);
    }
    asio::cancellation_signal signal;
    cm_ended connected;
    std::optional<queue_pair> qp;
};

TEST_P(CmConnectCancelled, UndoesTheAttempt) {
    begin();
    signal.emit(asio::cancellation_type::total);
    run();
    EXPECT_TRUE(connected.done);
    EXPECT_EQ(connected.ec, asio::error::operation_aborted);
    EXPECT_EQ(qp->state(), queue_pair_state::error);
    expect_no_ids();
}

TEST_P(CmConnectCancelled, ByTheEndOfTheQueuePair) {
    begin();
    qp.reset();
    run();
    EXPECT_EQ(connected.ec, asio::error::operation_aborted);
    expect_no_ids();
    EXPECT_EQ(dev->live_queue_pairs(), 0U);
}

TEST_P(CmConnectCancelled, ByTheEndOfTheContext) {
    begin();
    qp.reset();
    context.reset();
    EXPECT_FALSE(connected.done);
    expect_no_ids();
}

INSTANTIATE_TEST_SUITE_P(Calls, CmConnectCancelled,
                         ::testing::Values(cm_call::resolve_address, cm_call::resolve_route,
                                           cm_call::connect),
                         [](const auto& p) { return "call" + std::to_string(static_cast<int>(p.param)); });

} // namespace
} // namespace rocio::test

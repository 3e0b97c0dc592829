#include "tcp_fixture.hpp"

namespace rocio::test {
namespace {

class TcpRelease : public TcpFixture {
  protected:
    void release(tcp_connector& c) {
        ended e;
        c.async_release(into(e));
        run_until(e);
        EXPECT_FALSE(e.ec);
    }
};

TEST_F(TcpRelease, GoodbyeIsSeenAsPeerClosedAndAnswered) {
    auto ends = connect();
    ended lost, released, released_too;
    ends->listening->async_wait_lost(into(lost));
    ends->connecting->async_release(into(released));
    run_until(lost);
    EXPECT_EQ(lost.ec, errc::peer_closed);
    ends->listening->async_release(into(released_too));
    run();
    EXPECT_TRUE(released.done);
    EXPECT_TRUE(released_too.done);
}

TEST_F(TcpRelease, EndsTheWaitThatIsOutstanding) {
    auto a = stand_raw();
    a->connector.async_wait_lost(into(a->lost));
    settle();
    ended released;
    a->connector.async_release(into(released));
    run_until(a->lost);
    EXPECT_EQ(a->lost.ec, asio::error::operation_aborted);
    const auto bye = a->peer.receive();
    ASSERT_TRUE(bye);
    EXPECT_EQ(bye->kind, message_kind::bye);
    EXPECT_FALSE(a->peer.receive());
    a->peer.close();
    run_until(released);
}

TEST_F(TcpRelease, DoesNotWaitForAPeerThatIsDeaf) {
    tcp_rendezvous_config config;
    config.release_deadline = 100ms;
    auto a = stand_raw(config);
    release(a->connector);
    a->peer.wait_until_closed();
}

TEST_F(TcpRelease, IsHarmlessBeforeTheFirstStepAndAgain) {
    tcp_connector unused(*context, {asio::ip::make_address("127.40.0.9"), 9});
    for (int n = 0; n < 3; ++n) release(unused);
    ended exchange;
    unused.async_exchange(side(1), into(exchange));
    run_until(exchange);
    EXPECT_EQ(exchange.ec, errc::invalid_state);
}

TEST_F(TcpRelease, TwoAtOnceBothEnd) {
    auto a = stand_raw();
    ended first, second;
    a->connector.async_release(into(first));
    a->connector.async_release(into(second));
    a->peer.wait_until_closed();
    a->peer.close();
    run_until(first);
    run_until(second);
}

TEST_F(TcpRelease, EndsAnExchangeAndTellsThePeer) {
    auto a = ask_raw();
    ended released;
    a->connector.async_release(into(released));
    run_until(a->exchange);
    EXPECT_EQ(a->exchange.ec, asio::error::operation_aborted);
    const auto bye = a->peer.receive();
    ASSERT_TRUE(bye);
    EXPECT_EQ(bye->kind, message_kind::bye);
    a->peer.close();
    run_until(released);
}

TEST_F(TcpRelease, AfterAFailureItCloses) {
    tcp_rendezvous_config config;
    config.exchange_deadline = 50ms;
    auto a = ask_raw(config);
    run_until(a->exchange);
    EXPECT_EQ(a->exchange.ec, errc::handshake_timed_out);
    ended released;
    a->connector.async_release(into(released));
    const auto bye = a->peer.receive();
    ASSERT_TRUE(bye) << "a peer that was only slow learns that we gave up";
    EXPECT_EQ(bye->kind, message_kind::bye);
    a->peer.close();
    run_until(released);
}

TEST_F(TcpRelease, AfterALostPeerItIsShort) {
    auto a = stand_raw();
    a->connector.async_wait_lost(into(a->lost));
    a->peer.reset();
    run_until(a->lost);
    release(a->connector);
    run();
}

TEST_F(TcpRelease, WaitAfterwardsEndsAtOnce) {
    auto a = stand_raw();
    a->peer.close();
    release(a->connector);
    a->connector.async_wait_lost(into(a->lost));
    run_until(a->lost);
    EXPECT_EQ(a->lost.ec, asio::error::operation_aborted);
}

TEST_F(TcpRelease, ByeThatCrossesSignsOfLifeStillCountsAsBye) {
    for (int round = 0; round < 50; ++round) {
        auto a = stand_raw({}, 10ms);
        a->connector.async_wait_lost(into(a->lost));
        settle();
        a->peer.send(message_kind::ping);
        a->peer.send(message_kind::bye);
        a->peer.close(); // With our signs of life unread: the system resets the connection.
        run_until(a->lost);
        ASSERT_EQ(a->lost.ec, errc::peer_closed) << round << ": " << a->connector.last_error().message();
    }
}

// ---- Order of the steps

TEST_F(TcpRelease, StepsOutOfTurnAreInvalidAndHarmless) {
    auto a = ask_raw();
    ended ready, lost, again;
    a->connector.async_ready(into(ready));
    a->connector.async_wait_lost(into(lost));
    a->connector.async_exchange(side(1), into(again));
    run_until(ready);
    run_until(lost);
    run_until(again);
    EXPECT_EQ(ready.ec, errc::invalid_state);
    EXPECT_EQ(lost.ec, errc::invalid_state);
    EXPECT_EQ(again.ec, errc::invalid_state);
    EXPECT_THAT(a->connector.last_error().text, HasSubstr("make a new one"));
    a->peer.send(accept_message());
    run_until(a->exchange);
    EXPECT_FALSE(a->exchange.ec);
}

TEST_F(TcpRelease, OneWaitAtATime) {
    auto a = stand_raw();
    ended second;
    a->connector.async_wait_lost(into(a->lost));
    a->connector.async_wait_lost(into(second));
    run_until(second);
    EXPECT_EQ(second.ec, errc::invalid_state);
    EXPECT_FALSE(a->lost.done);
    a->peer.send(message_kind::bye);
    run_until(a->lost);
    EXPECT_EQ(a->lost.ec, errc::peer_closed);
}

TEST_F(TcpRelease, RefusalComesInsteadOfAnExchange) {
    auto ends = meet();
    ended answered, refused;
    ends->listening->async_exchange(side(200), into(answered));
    run_until(answered);
    ends->listening->async_refuse("too late", into(refused));
    run_until(refused);
    EXPECT_EQ(refused.ec, errc::invalid_state);
    run_until(ends->asked);
    EXPECT_FALSE(ends->asked.ec);
}

TEST_F(TcpRelease, NothingIsLeftOpen) {
    settle(); // The context's own descriptors.
    connect()->drop();
    run();
    const auto before = open_descriptors();
    for (int round = 0; round < 20; ++round) {
        auto ends = connect();
        ended lost, released, released_too;
        ends->connecting->async_wait_lost(into(lost));
        settle();
        ends->listening->async_release(into(released));
        run_until(lost);
        ends->connecting->async_release(into(released_too));
        run();
        EXPECT_EQ(lost.ec, errc::peer_closed);
    }
    EXPECT_EQ(open_descriptors(), before);
}

} // namespace
} // namespace rocio::test

#include "listener_fixture.hpp"

namespace rocio::test {
namespace {

TEST_F(TcpListener, ListensOnAFreePortOfLoopbackByDefault) {
    tcp_listener listener(*context);
    EXPECT_TRUE(listener.local_endpoint().address().is_loopback());
    EXPECT_NE(listener.local_endpoint().port(), 0);
}

TEST_F(TcpListener, AddressInUseIsAnErrorThatNamesTheAddress) {
    tcp_listener first(*context, listening());
    tcp_listener_config config;
    config.endpoint = first.local_endpoint();
    try {
        tcp_listener second(*context, config);
        FAIL() << "two listeners on one port";
    } catch (const exception& e) {
        EXPECT_EQ(e.code(), asio::error::address_in_use);
        EXPECT_THAT(e.what(), HasSubstr("cannot listen at 127.40.0.1:"));
    }
}

TEST_F(TcpListener, ServesManyPeersAtOnce) {
    tcp_listener listener(*context, listening());
    constexpr std::uint32_t count = 40;
    std::vector<std::unique_ptr<tcp_connector>> connectors;
    std::vector<ended> asked(count), answered(count);
    std::vector<accepted> peers(count);
    for (std::uint32_t n = 0; n < count; ++n) {
        auto& c =
            connectors.emplace_back(std::make_unique<tcp_connector>(*context, listener.local_endpoint()));
        c->async_exchange(side(1000 + n), into(asked[n]));
        listener.async_accept(into(peers[n]));
    }
    run_until([&] { return std::ranges::all_of(peers, &accepted::done); });
    for (std::uint32_t n = 0; n < count; ++n)
        peers[n].peer->async_exchange(side(2000 + n), into(answered[n]));
    run_until([&] { return std::ranges::all_of(asked, &ended::done); });
    std::vector<std::uint32_t> seen;
    for (auto& a : answered) seen.push_back(a.peer.queue_pair.value());
    std::ranges::sort(seen);
    for (std::uint32_t n = 0; n < count; ++n) {
        EXPECT_EQ(seen[n], 1000 + n);
        EXPECT_FALSE(asked[n].ec) << connectors[n]->last_error().message();
    }
    EXPECT_EQ(listener.snapshot().accepted, count);
}

// ---- Hellos that cannot be taken

struct bad_hello {
    const char* name;
    std::size_t offset;
    std::uint8_t value;
    errc code;
};

class TcpBadHello : public TcpListener, public ::testing::WithParamInterface<bad_hello> {};

TEST_P(TcpBadHello, IsRefusedAndKnownOnBothSidesAndTheListenerGoesOn) {
    auto config = listening();
    const auto log = std::make_shared<kept_log>();
    config.log = log;
    tcp_listener listener(*context, config);
    accepted next;
    listener.async_accept(into(next));
    auto bytes = rendezvous::encode(hello_message());
    bytes[GetParam().offset] = std::byte(GetParam().value);
    auto bad = dial(listener);
    bad->send(bytes);
    const auto no = bad->receive();
    ASSERT_TRUE(no);
    ASSERT_EQ(no->kind, message_kind::refuse);
    EXPECT_EQ(rendezvous::error_of(no->why.reason), GetParam().code);
    bad->wait_until_closed();

    const auto seen = listener.snapshot();
    EXPECT_EQ(seen.refused, 1U);
    EXPECT_EQ(seen.last_refusal.code, GetParam().code);
    EXPECT_EQ(no->why.text, seen.last_refusal.text.substr(0, 256));
    EXPECT_THAT(seen.last_refused_peer, HasSubstr("127.0.0.1:"));
    ASSERT_EQ(log->above_debug(), 1U);
    EXPECT_THAT(log->lines.back().second, HasSubstr(seen.last_refusal.text));
    EXPECT_FALSE(next.done);
    auto good = dial_with_hello(listener);
    run_until_done(next);
    EXPECT_FALSE(next.ec);
}

INSTANTIATE_TEST_SUITE_P(Hellos, TcpBadHello,
                         ::testing::Values(bad_hello{"magic", 0, 'X', errc::handshake_malformed},
                                           bad_hello{"next_version", 4, 2, errc::version_mismatch},
                                           bad_hello{"length", 6, 0x20, errc::handshake_malformed},
                                           bad_hello{"accept_instead", 5, 2, errc::handshake_malformed},
                                           bad_hello{"path_mtu_0", 26, 0, errc::invalid_peer_parameters},
                                           bad_hello{"queue_pair_25_bits", 28, 1,
                                                     errc::invalid_peer_parameters},
                                           bad_hello{"rnr_timer_32", 80, 32, errc::invalid_peer_parameters}),
                         [](const auto& p) { return std::string(p.param.name); });

TEST_F(TcpListener, HelloMayComeByteByByte) {
    tcp_listener listener(*context, listening());
    accepted one;
    listener.async_accept(into(one));
    auto slow = dial(listener);
    for (const auto b : rendezvous::encode(hello_message())) {
        slow->send(std::span(&b, 1));
        settle();
    }
    run_until_done(one);
    EXPECT_FALSE(one.ec);
    EXPECT_EQ(one.peer->hello().queue_pair, qpn(300));
}

// ---- Who waits, and who comes

TEST_F(TcpListener, WaitersAreServedInTheOrderTheyBegan) {
    tcp_listener listener(*context, listening());
    std::vector<accepted> waiting(3);
    for (auto& w : waiting) listener.async_accept(into(w));
    for (std::size_t n = 0; n < waiting.size(); ++n) {
        auto p = dial_with_hello(listener);
        run_until_done(waiting[n]);
        for (std::size_t later = n + 1; later < waiting.size(); ++later) EXPECT_FALSE(waiting[later].done);
    }
}

TEST_F(TcpListener, HelloThatIsHeardWhileNobodyWaitsIsKept) {
    tcp_listener listener(*context, listening());
    accepted first, second;
    listener.async_accept(into(first));
    auto a = dial(listener);
    auto b = dial(listener);
    settle();
    a->send(hello_message());
    run_until_done(first);
    b->send(hello_message());
    run_until([&] { return listener.snapshot().accepted == 2; });
    listener.async_accept(into(second));
    run_until_done(second);
    EXPECT_FALSE(second.ec);
}

TEST_F(TcpListener, ConnectionThatWentAwayMeanwhileIsNotGivenOut) {
    tcp_listener listener(*context, listening());
    accepted first, second;
    listener.async_accept(into(first));
    auto a = dial(listener);
    auto b = dial(listener);
    settle();
    a->send(hello_message());
    run_until_done(first);
    b->send(hello_message());
    run_until([&] { return listener.snapshot().accepted == 2; });
    b->close();
    listener.async_accept(into(second));
    auto c = dial(listener);
    c->send({message_kind::hello, {side(333), 0, 0ms}, {}});
    run_until_done(second);
    EXPECT_EQ(second.peer->hello().queue_pair, qpn(333));
}

TEST_F(TcpListener, NothingIsTakenWhileNobodyWaits) {
    tcp_listener listener(*context, listening());
    auto p = dial_with_hello(listener);
    settle();
    EXPECT_TRUE(context->stopped()) << "an idle listener keeps the context alive";
    EXPECT_EQ(listener.snapshot().accepted, 0U);
    accepted one;
    listener.async_accept(into(one));
    run_until_done(one);
    EXPECT_FALSE(one.ec);
}

TEST_F(TcpListener, PeersOutliveTheListener) {
    auto listener = std::make_unique<tcp_listener>(*context, listening());
    accepted one;
    listener->async_accept(into(one));
    tcp_connector connector(*context, listener->local_endpoint());
    ended asked, answered;
    connector.async_exchange(side(100), into(asked));
    run_until_done(one);
    listener.reset();
    one.peer->async_exchange(side(200), into(answered));
    run_until(asked);
    EXPECT_FALSE(asked.ec);
}

// ---- The connecting side ends, as the listening side sees it

class TcpCallerEnds : public TcpListener, public ::testing::WithParamInterface<bool> {
  protected:
    /// Abruptly or in good order, but without a goodbye.
    static void end_it(raw_peer& caller) { GetParam() ? caller.reset() : caller.close(); }
    /// The listening side's end of a connection whose hello was said.
    std::unique_ptr<raw_peer> call(tcp_listener& listener, accepted& one) {
        listener.async_accept(into(one));
        auto caller = dial_with_hello(listener);
        run_until_done(one);
        return caller;
    }
};

TEST_P(TcpCallerEnds, BeforeItIsAnswered) {
    tcp_listener listener(*context, listening());
    accepted one;
    auto caller = call(listener, one);
    end_it(*caller);
    ended answered, ready;
    one.peer->async_exchange(side(200), into(answered));
    run_until(answered);
    if (!answered.ec) one.peer->async_ready(into(ready));
    if (!answered.ec) run_until(ready);
    EXPECT_EQ(answered.ec ? answered.ec : ready.ec, errc::peer_lost);
}

TEST_P(TcpCallerEnds, BeforeItIsReady) {
    tcp_listener listener(*context, listening());
    accepted one;
    auto caller = call(listener, one);
    ended answered, ready;
    one.peer->async_exchange(side(200), into(answered));
    run_until(answered);
    ASSERT_TRUE(caller->receive());
    one.peer->async_ready(into(ready));
    settle();
    end_it(*caller);
    run_until(ready);
    EXPECT_EQ(ready.ec, errc::peer_lost);
    EXPECT_THAT(one.peer->last_error().text, HasSubstr("when it should say that it is ready"));
}

TEST_P(TcpCallerEnds, WhileTheConnectionStands) {
    tcp_listener listener(*context, listening());
    accepted one;
    auto caller = call(listener, one);
    ended answered, ready, lost;
    one.peer->async_exchange(side(200), into(answered));
    run_until(answered);
    caller->send(message_kind::ready);
    one.peer->async_ready(into(ready));
    run_until(ready);
    ASSERT_FALSE(ready.ec);
    one.peer->async_wait_lost(into(lost));
    settle();
    end_it(*caller);
    run_until(lost);
    EXPECT_EQ(lost.ec, errc::peer_lost);
}

INSTANTIATE_TEST_SUITE_P(Ways, TcpCallerEnds, ::testing::Bool());

// ---- The end

TEST_F(TcpListener, CancelEndsAllWaitsAndTheListenerStays) {
    tcp_listener listener(*context, listening());
    accepted a, b, c;
    listener.async_accept(into(a));
    listener.async_accept(into(b));
    settle();
    listener.cancel();
    run();
    EXPECT_EQ(a.ec, asio::error::operation_aborted);
    EXPECT_EQ(b.ec, asio::error::operation_aborted);
    listener.async_accept(into(c));
    auto p = dial_with_hello(listener);
    run_until_done(c);
    EXPECT_FALSE(c.ec);
}

TEST_F(TcpListener, OneWaitIsCancelledAndTheOthersGoOn) {
    tcp_listener listener(*context, listening());
    asio::cancellation_signal signal;
    accepted a, b;
    listener.async_accept(asio::bind_cancellation_slot(signal.slot(), into(a)));
    listener.async_accept(into(b));
    settle();
    signal.emit(asio::cancellation_type::total);
    run_until_done(a);
    EXPECT_EQ(a.ec, asio::error::operation_aborted);
    EXPECT_FALSE(b.done);
    auto p = dial_with_hello(listener);
    run_until_done(b);
    EXPECT_FALSE(b.ec);
}

TEST_F(TcpListener, CancelledWaitLosesNoConnection) {
    tcp_listener listener(*context, listening());
    asio::cancellation_signal signal;
    for (int round = 0; round < 20; ++round) {
        accepted a, b;
        listener.async_accept(asio::bind_cancellation_slot(signal.slot(), into(a)));
        auto p = dial_with_hello(listener);
        for (int turns = 0; turns < round && !a.done; ++turns) {
            context->restart();
            context->poll_one();
        }
        signal.emit(asio::cancellation_type::total);
        run_until_done(a);
        if (!a.ec) continue;
        EXPECT_EQ(a.ec, asio::error::operation_aborted);
        listener.async_accept(into(b));
        run_until_done(b);
        EXPECT_FALSE(b.ec);
    }
}

TEST_F(TcpListener, CloseEndsAllAndFreesTheAddressAtOnce) {
    auto listener = std::make_unique<tcp_listener>(*context, listening());
    const auto at = listener->local_endpoint();
    accepted a, late;
    listener->async_accept(into(a));
    auto silent = dial(*listener);
    settle();
    listener->close();
    EXPECT_FALSE(a.done) << "completed inside close()";
    tcp_listener_config again;
    again.endpoint = at;
    tcp_listener successor(*context, again);
    silent->wait_until_closed();
    listener->async_accept(into(late));
    run();
    EXPECT_EQ(a.ec, asio::error::operation_aborted);
    EXPECT_EQ(late.ec, asio::error::bad_descriptor);
}

TEST_F(TcpListener, DestroyedListenerEndsItsWaitsAndFreesTheAddressAtOnce) {
    for (const bool waiting : {false, true}) {
        auto listener = std::make_unique<tcp_listener>(*context, listening());
        tcp_listener_config again;
        again.endpoint = listener->local_endpoint();
        accepted a;
        if (waiting) listener->async_accept(into(a));
        settle();
        listener.reset();
        EXPECT_FALSE(a.done);
        tcp_listener successor(*context, again);
        run();
        EXPECT_EQ(a.done, waiting);
    }
}

TEST_F(TcpListener, DestroyedContextCallsNothing) {
    accepted a;
    auto listener = std::make_unique<tcp_listener>(*context, listening());
    listener->async_accept(into(a));
    auto silent = dial(*listener);
    settle();
    silent->close();
    listener.reset();
    context.reset();
    EXPECT_FALSE(a.done);
}

TEST_F(TcpListener, MovesWithItsWaits) {
    tcp_listener listener(*context, listening());
    accepted a, b;
    listener.async_accept(into(a));
    tcp_listener moved(std::move(listener));
    auto p = dial_with_hello(moved);
    run_until_done(a);
    EXPECT_FALSE(a.ec);
    moved.async_accept(into(b));
    settle();
    moved = tcp_listener(*context, listening());
    run_until_done(b);
    EXPECT_EQ(b.ec, asio::error::operation_aborted);
}

} // namespace
} // namespace rocio::test

#include "tcp_fixture.hpp"

#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <functional>

#include <sys/resource.h>

namespace rocio::test {
namespace {

/// Keeps what was logged.
class kept_log final : public log_sink {
  public:
    void write(log_level level, std::string_view, std::string_view text) noexcept override {
        lines.emplace_back(level, text);
    }
    std::size_t above_debug() const {
        return static_cast<std::size_t>(
            std::ranges::count_if(lines, [](const auto& l) { return l.first != log_level::debug; }));
    }
    std::vector<std::pair<log_level, std::string>> lines;
};

struct accepted {
    bool done = false;
    error_code ec{};
    std::optional<tcp_peer> peer{};
};

auto into(accepted& a) {
    return [&a](const error_code& ec, tcp_peer peer) {
        EXPECT_FALSE(a.done) << "completed twice";
        a.done = true;
        a.ec = ec;
        a.peer.emplace(std::move(peer));
    };
}

class TcpListener : public TcpFixture {
  protected:
    void run_until_done(const accepted& a) {
        run_until([&] { return a.done; });
    }
    /// A raw connection to `to`.
    std::unique_ptr<raw_peer> dial(const tcp_listener& to) {
        auto p = std::make_unique<raw_peer>(*context);
        p->connect(to.local_endpoint());
        return p;
    }
    std::unique_ptr<raw_peer> dial_with_hello(const tcp_listener& to) {
        auto p = dial(to);
        p->send(hello_message());
        return p;
    }
};

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
        auto& c = connectors.emplace_back(std::make_unique<tcp_connector>(*context, listener.local_endpoint()));
        c->async_exchange(side(1000 + n), into(asked[n]));
        listener.async_accept(into(peers[n]));
    }
    run_until([&] { return std::ranges::all_of(peers, &accepted::done); });
    for (std::uint32_t n = 0; n < count; ++n) peers[n].peer->async_exchange(side(2000 + n), rocio::test::into(answered[n]));
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

TEST_F(TcpListener, FiftyBadConnectionsNeitherHoldUpARealOneNorStay) {
    tcp_rendezvous_config handshake;
    handshake.exchange_deadline = 300ms;
    tcp_listener listener(*context, listening(handshake));
    const auto hello = rendezvous::encode(hello_message());
    std::vector<std::unique_ptr<raw_peer>> silent, dripping, garbage, half;
    for (int n = 0; n < 10; ++n) {
        silent.push_back(dial(listener));
        dripping.push_back(dial(listener));
        garbage.push_back(dial(listener));
        garbage.back()->send("GET / HTTP/1.1\r\nHost: rocio\r\n\r\n");
        half.push_back(dial(listener));
        half.back()->send(std::span(hello).first(40));
        auto gone = dial(listener);
        gone->send(std::span(hello).first(10));
        gone->reset();
    }
    std::size_t sent = 0;
    asio::steady_timer each(*context);
    std::function<void(const error_code&)> drip = [&](const error_code& ec) {
        if (ec || sent == hello.size()) return;
        for (auto& p : dripping) {
            error_code closed;
            p->socket().write_some(asio::buffer(&hello[sent], 1), closed);
        }
        ++sent;
        each.expires_after(20ms);
        each.async_wait(drip);
    };
    drip({});

    accepted real, nobody;
    listener.async_accept(into(real));
    listener.async_accept(into(nobody));
    tcp_connector connector(*context, listener.local_endpoint());
    ended asked, answered;
    connector.async_exchange(side(100), rocio::test::into(asked));
    run_until_done(real);
    ASSERT_FALSE(real.ec);
    EXPECT_EQ(real.peer->hello().queue_pair, qpn(100));
    EXPECT_GE(listener.snapshot().unfinished, 20U) << "the real one was served while the others still hung";
    real.peer->async_exchange(side(200), rocio::test::into(answered));
    run_until(asked);
    EXPECT_FALSE(asked.ec);

    for (auto* group : {&silent, &dripping, &garbage, &half}) {
        for (auto& p : *group) p->wait_until_closed();
    }
    run_until([&] { return listener.snapshot().unfinished == 0; });
    EXPECT_LT(sent, hello.size()) << "bytes prolonged the deadline";
    EXPECT_FALSE(nobody.done);
    const auto seen = listener.snapshot();
    EXPECT_EQ(seen.accepted, 1U);
    EXPECT_EQ(seen.refused, 10U);
    EXPECT_EQ(seen.timed_out, 30U);
    EXPECT_LE(seen.probes, 10U);
    each.cancel();
    listener.close();
    run();
}

TEST_F(TcpListener, OldestUnfinishedGoesWhenThereAreTooMany) {
    auto config = listening();
    config.max_unfinished = 4;
    tcp_listener listener(*context, config);
    accepted none;
    listener.async_accept(into(none));
    std::vector<std::unique_ptr<raw_peer>> peers;
    for (int n = 0; n < 6; ++n) {
        peers.push_back(dial(listener));
        settle();
    }
    for (int n = 0; n < 2; ++n) {
        const auto no = peers[static_cast<std::size_t>(n)]->receive();
        ASSERT_TRUE(no);
        EXPECT_EQ(no->why.reason, refusal_reason::busy);
        peers[static_cast<std::size_t>(n)]->wait_until_closed();
    }
    run_until([&] { return listener.snapshot().dropped == 2; });
    EXPECT_EQ(listener.snapshot().unfinished, 4U);
    peers[2]->send(hello_message());
    run_until_done(none);
    EXPECT_FALSE(none.ec) << "the third is the oldest that is left, and may still say hello";
}

TEST_F(TcpListener, ProbesAreFreeAndSilent) {
    auto config = listening();
    const auto log = std::make_shared<kept_log>();
    config.log = log;
    tcp_listener listener(*context, config);
    accepted none;
    listener.async_accept(into(none));
    settle();
    const auto before = open_descriptors();
    for (std::uint64_t n = 1; n <= 1000; ++n) {
        dial(listener)->close();
        if (n % 50 == 0) run_until([&] { return listener.snapshot().probes == n; });
    }
    EXPECT_EQ(open_descriptors(), before);
    EXPECT_EQ(log->above_debug(), 0U);
    EXPECT_FALSE(none.done);
    EXPECT_EQ(listener.snapshot().refused, 0U);
    EXPECT_EQ(listener.snapshot().unfinished, 0U);
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
                                           bad_hello{"queue_pair_25_bits", 28, 1, errc::invalid_peer_parameters},
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
    connector.async_exchange(side(100), rocio::test::into(asked));
    run_until_done(one);
    listener.reset();
    one.peer->async_exchange(side(200), rocio::test::into(answered));
    run_until(asked);
    EXPECT_FALSE(asked.ec);
}

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

// ---- Lack of descriptors

class descriptor_limit {
  public:
    explicit descriptor_limit(rlim_t soft) {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        rlimit lower = before_;
        lower.rlim_cur = soft;
        ::setrlimit(RLIMIT_NOFILE, &lower);
    }
    ~descriptor_limit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    descriptor_limit(const descriptor_limit&) = delete;
    descriptor_limit& operator=(const descriptor_limit&) = delete;

  private:
    rlimit before_{};
};

/// The lowest limit under which nothing more can be opened.
rlim_t no_more() {
    const int next = ::dup(0);
    ::close(next);
    return static_cast<rlim_t>(next);
}

TEST_F(TcpListener, GoesOnWhenThereAreDescriptorsAgain) {
    tcp_listener listener(*context, listening());
    accepted one;
    listener.async_accept(into(one));
    settle();
    auto p = dial_with_hello(listener);
    {
        const descriptor_limit none(no_more());
        run_until([&] { return listener.snapshot().resource_errors >= 2; });
        EXPECT_FALSE(one.done);
    }
    run_until_done(one);
    EXPECT_FALSE(one.ec);
    EXPECT_LE(listener.snapshot().resource_errors, 20U) << "no back-off between the attempts";
}

TEST_F(TcpListener, IsClosedWhileItWaitsForDescriptors) {
    tcp_listener listener(*context, listening());
    accepted one;
    listener.async_accept(into(one));
    settle();
    auto p = dial_with_hello(listener);
    const descriptor_limit none(no_more());
    run_until([&] { return listener.snapshot().resource_errors >= 1; });
    listener.close();
    run();
    EXPECT_EQ(one.ec, asio::error::operation_aborted);
}

TEST_F(TcpListener, ConnectorWithoutADescriptorSaysSo) {
    tcp_listener listener(*context, listening());
    tcp_connector connector(*context, listener.local_endpoint());
    settle();
    ended asked;
    {
        const descriptor_limit none(no_more());
        connector.async_exchange(side(100), rocio::test::into(asked));
        run_until(asked);
    }
    EXPECT_EQ(asked.ec, boost::system::errc::too_many_files_open);
    EXPECT_THAT(connector.last_error().text, HasSubstr("no socket for the connection to 127.40.0.1:"));
}

} // namespace
} // namespace rocio::test

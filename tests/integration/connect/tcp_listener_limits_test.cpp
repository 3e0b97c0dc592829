#include "listener_fixture.hpp"

#include <boost/asio/steady_timer.hpp>

#include <functional>

#include <sys/resource.h>

namespace rocio::test {
namespace {

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
    connector.async_exchange(side(100), into(asked));
    run_until_done(real);
    ASSERT_FALSE(real.ec);
    EXPECT_EQ(real.peer->hello().queue_pair, qpn(100));
    EXPECT_GE(listener.snapshot().unfinished, 20U) << "the real one was served while the others still hung";
    real.peer->async_exchange(side(200), into(answered));
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
        connector.async_exchange(side(100), into(asked));
        run_until(asked);
    }
    EXPECT_EQ(asked.ec, boost::system::errc::too_many_files_open);
    EXPECT_THAT(connector.last_error().text, HasSubstr("no socket for the connection to 127.40.0.1:"));
}

} // namespace
} // namespace rocio::test

// CUDA-Q's 12 bytes, against a peer that is driven by hand.

#include "connect/cudaq_numbers.hpp"
#include "tcp_fixture.hpp"

#include <rocio/connect/cudaq_rendezvous.hpp>

#include <boost/asio/read.hpp>

namespace rocio::test {
namespace {

using twelve = std::array<unsigned char, 12>;

// Queue pair 0x123456, rkey 0x0A0B0C0D, 127.40.0.9: as the other side writes them.
constexpr twelve theirs{0x00, 0x12, 0x34, 0x56, 0x0A, 0x0B, 0x0C, 0x0D, 127, 40, 0, 9};
constexpr twelve ours{0x00, 0x00, 0x00, 0x11, 0x00, 0x00, 0x04, 0xD2, 127, 40, 0, 1};

local_parameters our_side() {
    auto p = side(0x11, mtu::b1024);
    p.region.key = rkey{1234};
    return p;
}

class CudaqRendezvous : public TcpFixture {
  protected:
    static void expect_theirs(const ended& e) {
        ASSERT_TRUE(e.done);
        ASSERT_FALSE(e.ec) << e.ec.message();
        EXPECT_EQ(e.peer.queue_pair, qpn(0x123456));
        EXPECT_EQ(e.peer.region.key.value, 0x0A0B0C0DU);
        EXPECT_EQ(e.peer.region.address, 0U);
        EXPECT_EQ(e.peer.address, gid::parse("127.40.0.9"));
        EXPECT_EQ(e.peer.send_psn, psn(0));
        EXPECT_EQ(e.peer.path_mtu, mtu::b1024);
        EXPECT_FALSE(e.peer.imposed);
    }
    /// Runs the library's side until so many bytes lie ready for the other one.
    void await_bytes(tcp::socket& at, std::size_t n) {
        run_until([&] { return at.available() >= n; });
    }
    cudaq_config brisk() const {
        cudaq_config c;
        c.exchange_deadline = 100ms;
        c.accept_deadline = 100ms;
        return c;
    }
    asio::io_context other;
};

TEST_F(CudaqRendezvous, TheCallerTellsItsNumbersFirst) {
    tcp::acceptor door(other, {asio::ip::address_v4::loopback(), 0});
    cudaq_caller caller(*context, door.local_endpoint());
    ended exchanged, ready;
    caller.async_exchange(our_side(), into(exchanged));
    settle();
    tcp::socket peer = door.accept();
    await_bytes(peer, 12);
    twelve got{};
    asio::read(peer, asio::buffer(got));
    EXPECT_EQ(got, ours);
    EXPECT_FALSE(exchanged.done);
    asio::write(peer, asio::buffer(theirs));
    run_until(exchanged);
    expect_theirs(exchanged);
    caller.async_ready(into(ready));
    run_until(ready);
    EXPECT_FALSE(ready.ec);
}

TEST_F(CudaqRendezvous, TheServiceTellsItsNumbersOnlyWhenItIsReady) {
    cudaq_service service(*context, {asio::ip::address_v4::loopback(), 0});
    ended exchanged, ready;
    service.async_exchange(our_side(), into(exchanged));
    tcp::socket peer(other);
    peer.connect(service.local_endpoint());
    asio::write(peer, asio::buffer(theirs));
    run_until(exchanged);
    expect_theirs(exchanged);
    settle();
    EXPECT_EQ(peer.available(), 0U) << "a caller that knows us may send at once";
    service.async_ready(into(ready));
    run_until(ready);
    EXPECT_FALSE(ready.ec);
    twelve got{};
    asio::read(peer, asio::buffer(got));
    EXPECT_EQ(got, ours);
}

TEST_F(CudaqRendezvous, TheCallerWaitsForAServiceThatStartsLate) {
    tcp::acceptor reserved(other, {asio::ip::address_v4::loopback(), 0});
    const auto where = reserved.local_endpoint();
    reserved.close();
    cudaq_caller caller(*context, where);
    ended asked;
    caller.async_exchange(our_side(), into(asked));
    context->restart();
    context->run_for(60ms); // several attempts in vain
    EXPECT_FALSE(asked.done);
    cudaq_service service(*context, where);
    ended served, ready;
    service.async_exchange(our_side(), into(served));
    run_until(served);
    service.async_ready(into(ready));
    run_until([&] { return asked.done && ready.done; });
    EXPECT_FALSE(asked.ec) << caller.last_error().message();
}

TEST_F(CudaqRendezvous, ASilentOrMissingOtherSideEndsWithinTheDeadline) {
    tcp::acceptor silent(other, {asio::ip::address_v4::loopback(), 0});
    cudaq_caller caller(*context, silent.local_endpoint(), brisk());
    cudaq_service unvisited(*context, {asio::ip::address_v4::loopback(), 0}, brisk());
    cudaq_service half(*context, {asio::ip::address_v4::loopback(), 0}, brisk());
    tcp::socket peer(other);
    peer.connect(half.local_endpoint());
    asio::write(peer, asio::buffer(theirs.data(), 11));
    ended a, b, c;
    caller.async_exchange(our_side(), into(a));
    unvisited.async_exchange(our_side(), into(b));
    half.async_exchange(our_side(), into(c));
    run_until([&] { return a.done && b.done && c.done; });
    EXPECT_EQ(a.ec, errc::handshake_timed_out);
    EXPECT_EQ(b.ec, errc::handshake_timed_out);
    EXPECT_EQ(c.ec, errc::handshake_timed_out);
    EXPECT_THAT(caller.last_error().text, HasSubstr("tell its numbers"));
    EXPECT_THAT(unvisited.last_error().text, HasSubstr("accept_deadline"));
}

TEST_F(CudaqRendezvous, APeerThatHangsUpOrTellsNonsenseIsRefused) {
    cudaq_service hung_up(*context, {asio::ip::address_v4::loopback(), 0});
    cudaq_service nonsense(*context, {asio::ip::address_v4::loopback(), 0});
    ended a, b;
    hung_up.async_exchange(our_side(), into(a));
    nonsense.async_exchange(our_side(), into(b));
    {
        tcp::socket peer(other);
        peer.connect(hung_up.local_endpoint());
        asio::write(peer, asio::buffer(theirs.data(), 3));
    }
    tcp::socket peer(other);
    peer.connect(nonsense.local_endpoint());
    asio::write(peer, asio::buffer(twelve{})); // queue pair 0 at 0.0.0.0
    run_until([&] { return a.done && b.done; });
    EXPECT_EQ(a.ec, errc::peer_lost);
    EXPECT_EQ(b.ec, errc::invalid_peer_parameters);
}

TEST_F(CudaqRendezvous, AnIpv6AddressOfOursDoesNotFit) {
    cudaq_caller caller(*context, {asio::ip::address_v4::loopback(), 9});
    auto local = our_side();
    local.address = *gid::parse("fd00::1");
    ended e;
    caller.async_exchange(local, into(e));
    run_until(e);
    EXPECT_EQ(e.ec, errc::invalid_argument);
    EXPECT_THAT(caller.last_error().text, HasSubstr("fd00::1"));
}

TEST_F(CudaqRendezvous, EveryWaitCanBeCancelledAndNothingIsLeft) {
    std::size_t before = 0;
    for (int round = 0; round < 2; ++round) {
        tcp::acceptor silent(other, {asio::ip::address_v4::loopback(), 0});
        cudaq_caller caller(*context, silent.local_endpoint());
        cudaq_service service(*context, {asio::ip::address_v4::loopback(), 0});
        asio::cancellation_signal stop_caller, stop_service;
        ended a, b;
        caller.async_exchange(our_side(), asio::bind_cancellation_slot(stop_caller.slot(), into(a)));
        service.async_exchange(our_side(), asio::bind_cancellation_slot(stop_service.slot(), into(b)));
        settle();
        stop_caller.emit(asio::cancellation_type::terminal);
        stop_service.emit(asio::cancellation_type::total);
        run_until([&] { return a.done && b.done; });
        EXPECT_EQ(a.ec, asio::error::operation_aborted);
        EXPECT_EQ(b.ec, asio::error::operation_aborted);
        if (round == 0) before = open_descriptors(); // the contexts have theirs from now on
    }
    run();
    EXPECT_LT(open_descriptors(), before) << "what the last round had is closed";
}

TEST_F(CudaqRendezvous, WaitingForTheEndEndsWithTheRelease) {
    cudaq_service service(*context, {asio::ip::address_v4::loopback(), 0});
    ended lost, released;
    service.async_wait_lost(into(lost));
    settle();
    EXPECT_FALSE(lost.done);
    service.async_release(into(released));
    run_until([&] { return lost.done && released.done; });
    EXPECT_EQ(lost.ec, asio::error::operation_aborted);
    EXPECT_FALSE(released.ec);
}

} // namespace
} // namespace rocio::test

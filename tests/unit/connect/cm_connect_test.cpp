// The connecting side: the steps in their order, and each of them going wrong.

#include "cm_fixture.hpp"

namespace rocio::test {
namespace {

class CmConnect : public CmFixture {
  protected:
    void SetUp() override { peer_accepts(); }

    /// Connects a queue pair; gives how that ended.
    cm_ended connect(queue_pair& qp, const cm_config& config = {}) {
        cm_ended out;
        async_connect(qp, cm_connector(*context, dev, nine(), config), out.handler());
        run_until(out);
        return out;
    }
    /// A handshake without a queue pair, up to the end of async_exchange().
    cm_ended exchange(cm_connector& how) {
        cm_ended out;
        how.async_exchange(side(), out.handler());
        run_until(out);
        return out;
    }
    void release(cm_connector& how) {
        cm_ended out;
        how.async_release(out.handler());
        run_until(out);
        EXPECT_FALSE(out.ec);
    }
};

// ---- All goes well

TEST_F(CmConnect, TakesTheStepsInOrder) {
    queue_pair qp(*context, dev);
    EXPECT_FALSE(connect(qp).ec);
    EXPECT_THAT(cm->log(), ElementsAre("create_manager", "create", "resolve_address", "resolve_route",
                                       "connect", "numbers", "establish"));
    EXPECT_EQ(qp.state(), queue_pair_state::ready_to_send);
    qp.close();
    run();
    EXPECT_EQ(cm->count("disconnect"), 1U);
    EXPECT_EQ(cm->count("destroy"), 1U);
    expect_no_ids();
}

TEST_F(CmConnect, ReceivesArePostedBeforeThePeerHearsOfUs) {
    memory_region memory(dev, 4096);
    queue_pair qp(*context, dev);
    for (int n = 0; n < 3; ++n)
        qp.async_receive(memory.buffer(0, 64), [](const error_code&, received_message) {});
    std::size_t posted = 0, ready_to_receive = 99;
    cm->before(cm_call::connect, [&] {
        posted = dev->posted_receives(0);
        ready_to_receive = dev->calls(device_call::to_ready_to_receive);
    });
    EXPECT_FALSE(connect(qp).ec);
    EXPECT_EQ(posted, 3U);
    EXPECT_EQ(ready_to_receive, 0U) << "the peer's numbers cannot be known yet";
    qp.close();
    run();
}

TEST_F(CmConnect, ThePeerMayBeginWhenWeCanReceiveAndSend) {
    queue_pair qp(*context, dev);
    std::size_t sends = 0;
    cm->before(cm_call::establish, [&] { sends = dev->calls(device_call::to_ready_to_send); });
    EXPECT_FALSE(connect(qp).ec);
    EXPECT_EQ(sends, 1U);
    qp.close();
    run();
}

TEST_F(CmConnect, NumbersOfRdmaCmReachTheQueuePair) {
    queue_pair qp(*context, dev, {.retry_count = 2, .rnr_retry = 5});
    EXPECT_FALSE(connect(qp).ec);
    const auto used = dev->connection(0).value();
    EXPECT_EQ(used.local.send_psn, numbers().send_psn);
    EXPECT_EQ(used.local.path_mtu, mtu::b1024);
    EXPECT_EQ(used.local.address, numbers().local_address);
    EXPECT_EQ(used.local.min_rnr_timer.code(), 12) << "rdma_cm alone would leave 0, which is 655 ms";
    EXPECT_EQ(used.gid_index, 0U);
    EXPECT_EQ(used.peer.address, numbers().peer_address);
    EXPECT_EQ(used.peer.queue_pair, numbers().peer_queue_pair);
    EXPECT_EQ(used.peer.send_psn, numbers().receive_psn) << "the first the peer sends is what we expect";
    EXPECT_EQ(used.peer.path_mtu, mtu::b1024);
    ASSERT_TRUE(used.peer.imposed);
    EXPECT_EQ(used.peer.imposed->reads_in, 3);
    EXPECT_EQ(used.peer.imposed->reads_out, 5);
    const auto asked = cm->last("connect");
    EXPECT_EQ(asked.offer.queue_pair, dev->number_of(0));
    EXPECT_EQ(asked.offer.retry_count, 2);
    EXPECT_EQ(asked.offer.rnr_retry, 5);
    qp.close();
    run();
}

TEST_F(CmConnect, TheWayLeadsFromOurAddressToThePeers) {
    cm_connector how(*context, dev, nine());
    EXPECT_FALSE(exchange(how).ec);
    const auto asked = cm->last("resolve_address");
    EXPECT_EQ(asked.from.address, side().address);
    EXPECT_EQ(asked.from.port, 0);
    EXPECT_EQ(asked.to.address, *gid::parse("10.0.0.9"));
    EXPECT_EQ(asked.to.port, 4000);
    EXPECT_EQ(how.remote_endpoint(), nine());
    release(how);
}

TEST_F(CmConnect, AnAddressOfThePeersFamilyIsFound) {
    auto table = std::vector<gid_table_entry>{};
    dev->gid_table(1, table);
    table.push_back({.index = 5, .value = *gid::parse("fd00::1"), .prefix = 64});
    dev->set_gid_table(1, table);
    cm_connector how(*context, dev, parse_endpoint("[fd00::9]:4000"));
    EXPECT_FALSE(exchange(how).ec);
    EXPECT_EQ(cm->last("resolve_address").from.address, *gid::parse("fd00::1"));
    release(how);
}

TEST_F(CmConnect, WithoutAnAddressOfThePeersFamilyNothingBegins) {
    cm_connector how(*context, dev, parse_endpoint("[fd00::9]:4000"));
    EXPECT_EQ(exchange(how).ec, errc::no_usable_gid);
    EXPECT_EQ(cm->count("create"), 0U);
    release(how);
}

TEST_F(CmConnect, TellsRegionPayloadAndDepthInItsOwnForm) {
    auto local = side();
    local.region = {0x1000, 0x2000, rkey{7}};
    local.max_payload = 64;
    local.depth = 16;
    cm_config config;
    config.largest_message = 32;
    cm_connector how(*context, dev, nine(), config);
    cm_ended out;
    how.async_exchange(local, out.handler());
    run_until(out);
    EXPECT_EQ(cm->last("connect").data,
              cm_greeting::encode(cm_greeting::greeting{{0x1000, 0x2000, rkey{7}}, 64, 16, 32}));
    release(how);
}

TEST_F(CmConnect, LearnsRegionPayloadAndDepthOfThePeer) {
    cm->answer(cm_call::connect, {response({{0x5000, 0x8000, rkey{9}}, 512, 8, 0})});
    cm_connector how(*context, dev, nine());
    const auto got = exchange(how);
    ASSERT_FALSE(got.ec);
    EXPECT_EQ(got.peer.region.address, 0x5000U);
    EXPECT_EQ(got.peer.region.length, 0x8000U);
    EXPECT_EQ(got.peer.region.key, rkey{9});
    EXPECT_EQ(got.peer.max_payload, 512U);
    EXPECT_EQ(got.peer.depth, 8U);
    EXPECT_EQ(got.peer.send_psn, numbers().receive_psn);
    EXPECT_EQ(got.peer.receive_psn, numbers().send_psn);
    EXPECT_EQ(how.private_data().size(), 196U);
    release(how);
}

// ---- Peers that are not rocio

TEST_F(CmConnect, PeerWithoutPrivateDataIsConnectedWithItsNumbersAlone) {
    for (const std::size_t size : {0U, 56U, 196U}) {
        cm->answer(cm_call::connect,
                   {cm_event{.kind = cm_event_kind::connect_response, .data = padded({}, size)}});
        cm_connector how(*context, dev, nine());
        const auto got = exchange(how);
        EXPECT_FALSE(got.ec);
        EXPECT_EQ(got.peer.queue_pair, qpn(77));
        EXPECT_EQ(got.peer.max_payload, 0U);
        EXPECT_EQ(how.private_data().size(), size);
        release(how);
    }
}

TEST_F(CmConnect, PrivateDataOfOurOwnAreSentAsTheyAre) {
    cm_config config;
    config.private_data = bytes("hello, spdk");
    // Even data that look like a damaged greeting are the peer's own then.
    auto theirs = cm_greeting::encode(cm_greeting::greeting{});
    theirs[4] = std::byte{99};
    cm->answer(cm_call::connect,
               {cm_event{.kind = cm_event_kind::connect_response, .data = padded(theirs, 196)}});
    cm_connector how(*context, dev, nine(), config);
    EXPECT_FALSE(exchange(how).ec);
    EXPECT_EQ(cm->last("connect").data, bytes("hello, spdk"));
    EXPECT_EQ(how.private_data()[4], std::byte{99});
    release(how);
}

// ---- The answer does not please us

struct bad_answer {
    const char* name;
    cm_greeting::greeting theirs;
    std::optional<std::size_t> damaged;
    errc code;
    const char* sentence;
};

class CmBadAnswer : public CmConnect, public ::testing::WithParamInterface<bad_answer> {};

TEST_P(CmBadAnswer, IsRejectedWithItsSentence) {
    auto data = cm_greeting::encode(GetParam().theirs);
    if (GetParam().damaged) data[*GetParam().damaged] = std::byte{200};
    cm->answer(cm_call::connect,
               {cm_event{.kind = cm_event_kind::connect_response, .data = padded(data, 196)}});
    queue_pair qp(*context, dev);
    cm_config config;
    config.largest_message = 4096;
    EXPECT_EQ(connect(qp, config).ec, GetParam().code);
    EXPECT_THAT(qp.last_error().text, HasSubstr(GetParam().sentence));
    const auto told = cm_greeting::decode_refusal(cm->last("reject").data);
    ASSERT_TRUE(told);
    EXPECT_EQ(rendezvous::error_of(told->reason), GetParam().code);
    EXPECT_THAT(told->text, HasSubstr(GetParam().sentence));
    EXPECT_EQ(cm->count("establish"), 0U);
    EXPECT_EQ(cm->count("disconnect"), 0U);
    run();
    expect_no_ids();
}

INSTANTIATE_TEST_SUITE_P(
    Answers, CmBadAnswer,
    ::testing::Values(
        bad_answer{
            "geometry", {.max_payload = 64}, {}, errc::geometry_mismatch, "listening side takes at most 64"},
        bad_answer{"version", {}, 4, errc::version_mismatch, "version 200"},
        bad_answer{"kind", {}, 5, errc::handshake_malformed, "kind 200"},
        bad_answer{"length", {}, 6, errc::handshake_malformed, "length of 200"},
        bad_answer{"region", {.region = {~0ULL, 2, rkey{1}}}, {}, errc::invalid_peer_parameters, "region"}),
    [](const auto& p) { return std::string(p.param.name); });

TEST_F(CmConnect, NumbersOutOfRangeAreRejected) {
    auto n = numbers();
    n.peer_queue_pair = qpn(1);
    cm->impose(n);
    queue_pair qp(*context, dev);
    EXPECT_EQ(connect(qp).ec, errc::invalid_peer_parameters);
    EXPECT_THAT(cm->log(), Contains("reject"));
    run();
    expect_no_ids();
}

TEST_F(CmConnect, PathMtuThatWasNotAskedForIsRejected) {
    queue_pair qp(*context, dev, {.path_mtu = mtu::b4096});
    EXPECT_EQ(connect(qp).ec, errc::path_mtu_mismatch);
    EXPECT_THAT(qp.last_error().text, AllOf(HasSubstr("4096"), HasSubstr("1024")));
    EXPECT_EQ(cm->count("establish"), 0U);
    EXPECT_EQ(cm->count("reject"), 1U);
    run();
    expect_no_ids();
}

TEST_F(CmConnect, QueuePairThatCannotFollowTurnsThePeerAway) {
    for (const auto call : {device_call::to_ready_to_receive, device_call::to_ready_to_send}) {
        queue_pair qp(*context, dev);
        dev->fail_call(call, 1, errc::invalid_state);
        EXPECT_EQ(connect(qp).ec, errc::invalid_state);
        EXPECT_EQ(cm->log().back(), "destroy");
        run();
        expect_no_ids();
    }
    EXPECT_EQ(cm->count("reject"), 2U);
    EXPECT_EQ(cm->count("establish"), 0U);
}

// ---- Each step's event goes wrong

struct bad_event {
    const char* name;
    cm_call after;
    cm_event event;
    error_code code;
    const char* sentence;
};

cm_event event_of(cm_event_kind kind, const error_code& reason = {}, std::uint32_t reject_reason = 0) {
    return {.kind = kind, .reason = reason, .reject_reason = reject_reason};
}

error_code errno_code(int number) {
    return {number, boost::system::system_category()};
}

class CmBadEvent : public CmConnect, public ::testing::WithParamInterface<bad_event> {};

TEST_P(CmBadEvent, EndsTheAttemptWithItsSentence) {
    cm->answer(GetParam().after, {GetParam().event});
    queue_pair qp(*context, dev);
    EXPECT_EQ(connect(qp).ec, GetParam().code);
    EXPECT_THAT(qp.last_error().text, HasSubstr(GetParam().sentence));
    EXPECT_THAT(qp.last_error().text, HasSubstr("10.0.0.9:4000"));
    EXPECT_EQ(qp.state(), queue_pair_state::error);
    EXPECT_EQ(cm->count("reject") + cm->count("disconnect"), 0U) << "nothing is owed to anybody";
    run();
    expect_no_ids();
}

using kind = cm_event_kind;

INSTANTIATE_TEST_SUITE_P(
    Events, CmBadEvent,
    ::testing::Values(
        bad_event{"no_such_address", cm_call::resolve_address,
                  event_of(kind::address_error, errc::address_not_available), errc::address_not_available,
                  "resolve its address"},
        bad_event{"address_times_out", cm_call::resolve_address,
                  event_of(kind::address_error, errno_code(ETIMEDOUT)), errc::handshake_timed_out,
                  "resolve its address"},
        bad_event{"removed_while_resolving", cm_call::resolve_address, event_of(kind::device_removal),
                  errc::device_fatal, "removed"},
        bad_event{"no_route", cm_call::resolve_route, event_of(kind::route_error, errno_code(EHOSTUNREACH)),
                  errno_code(EHOSTUNREACH), "resolve the route"},
        bad_event{"removed_while_routing", cm_call::resolve_route, event_of(kind::device_removal),
                  errc::device_fatal, "removed"},
        bad_event{"nobody_listens", cm_call::connect, event_of(kind::rejected, {}, 8),
                  asio::error::connection_refused, "nobody listens"},
        bad_event{"turned_away", cm_call::connect, event_of(kind::rejected, {}, 28), errc::refused_by_peer,
                  "turned us away"},
        bad_event{"stale", cm_call::connect, event_of(kind::rejected, {}, 10), errc::refused_by_peer,
                  "try again"},
        bad_event{"no_resources", cm_call::connect, event_of(kind::rejected, {}, 3), errc::refused_by_peer,
                  "no resources"},
        bad_event{"unreachable", cm_call::connect, event_of(kind::unreachable, errno_code(ETIMEDOUT)),
                  errc::handshake_timed_out, "connect"},
        bad_event{"connect_error", cm_call::connect, event_of(kind::connect_error, errno_code(ECONNRESET)),
                  errno_code(ECONNRESET), "connect"},
        bad_event{"disconnected", cm_call::connect, event_of(kind::disconnected), errc::peer_closed,
                  "gave the handshake up"},
        bad_event{"removed_while_connecting", cm_call::connect, event_of(kind::device_removal),
                  errc::device_fatal, "removed"}),
    [](const auto& p) { return std::string(p.param.name); });

TEST_F(CmConnect, RefusalOfARocioPeerComesWithItsSentence) {
    const rendezvous::refusal why{rendezvous::refusal_reason::busy, "too many connections at once"};
    cm->answer(cm_call::connect, {rejected(28, cm_greeting::encode(why))});
    queue_pair qp(*context, dev);
    EXPECT_EQ(connect(qp).ec, errc::refused_by_peer);
    EXPECT_EQ(qp.last_error().text, "10.0.0.9:4000 refuses: too many connections at once");
    run();
}

TEST_F(CmConnect, EventsOfNoMeaningAreIgnoredOnTheWay) {
    const std::vector<kind> strange{kind::address_change, kind::time_wait_exit, kind::established,
                                    kind::connect_request};
    const auto then = [&](cm_event last) {
        std::vector<cm_event> events;
        for (const auto k : strange) events.push_back({.kind = k});
        events.push_back(last);
        return events;
    };
    cm->answer(cm_call::resolve_address, then({.kind = kind::address_resolved}));
    cm->answer(cm_call::resolve_route, then({.kind = kind::route_resolved}));
    cm->answer(cm_call::connect, then(response()));
    queue_pair qp(*context, dev);
    EXPECT_FALSE(connect(qp).ec);
    qp.close();
    run();
    expect_no_ids();
}

// ---- Each call goes wrong

class CmBadCall : public CmConnect, public ::testing::WithParamInterface<cm_call> {};

TEST_P(CmBadCall, EndsTheAttemptWithItsSentence) {
    cm->fail(GetParam(), system_error(ENOMEM, "the kernel has no memory"));
    queue_pair qp(*context, dev);
    EXPECT_EQ(connect(qp).ec, boost::system::errc::not_enough_memory);
    EXPECT_EQ(qp.last_error().text, "the kernel has no memory");
    EXPECT_EQ(qp.state(), queue_pair_state::error);
    run();
    expect_no_ids();
    EXPECT_FALSE(connect(qp).ec) << "the queue pair can be connected again";
    qp.close();
    run();
}

INSTANTIATE_TEST_SUITE_P(Calls, CmBadCall,
                         ::testing::Values(cm_call::create, cm_call::resolve_address, cm_call::resolve_route,
                                           cm_call::connect, cm_call::numbers, cm_call::establish),
                         [](const auto& p) { return "call" + std::to_string(static_cast<int>(p.param)); });

TEST_F(CmConnect, FailedRejectDoesNotHideTheCause) {
    cm->answer(cm_call::connect, {response({.max_payload = 64})});
    cm->fail(cm_call::reject, system_error(EINVAL));
    queue_pair qp(*context, dev);
    cm_config config;
    config.largest_message = 4096;
    EXPECT_EQ(connect(qp, config).ec, errc::geometry_mismatch);
    run();
    expect_no_ids();
}

TEST_F(CmConnect, RequestOfTheDeviceThatFailsBeforeTheHandshakeTouchesNoId) {
    queue_pair qp(*context, dev);
    dev->fail_call(device_call::to_init, 1, errc::invalid_state);
    EXPECT_EQ(connect(qp).ec, errc::invalid_state);
    run();
    EXPECT_THAT(cm->log(), ElementsAre("create_manager"));
    expect_no_ids();
}

// ---- Use in another order

TEST_F(CmConnect, OperationsOutOfOrderAreRefused) {
    cm_connector how(*context, dev, nine());
    cm_ended ready, lost;
    how.async_ready(ready.handler());
    run_until(ready);
    EXPECT_EQ(ready.ec, errc::invalid_state);
    EXPECT_THAT(how.last_error().text, HasSubstr("async_ready()"));
    how.async_wait_lost(lost.handler());
    run_until(lost);
    EXPECT_EQ(lost.ec, errc::invalid_state);
    EXPECT_FALSE(exchange(how).ec);
    EXPECT_EQ(exchange(how).ec, errc::invalid_state) << "serves one connection";
    release(how);
    EXPECT_EQ(exchange(how).ec, errc::invalid_state);
}

TEST_F(CmConnect, OneOperationAtATime) {
    cm->be_silent_after(cm_call::connect);
    cm_connector how(*context, dev, nine());
    cm_ended first, second, ready;
    how.async_exchange(side(), first.handler());
    settle();
    how.async_exchange(side(), second.handler());
    how.async_ready(ready.handler());
    settle();
    EXPECT_EQ(second.ec, errc::invalid_state);
    EXPECT_EQ(ready.ec, errc::invalid_state);
    EXPECT_FALSE(first.done);
    auto late = response();
    late.id = cm->newest();
    cm->raise(late);
    run_until(first);
    EXPECT_FALSE(first.ec) << "the first goes on undisturbed";
    release(how);
}

TEST_F(CmConnect, ReadyComesOnce) {
    cm_connector how(*context, dev, nine());
    EXPECT_FALSE(exchange(how).ec);
    cm_ended first, second;
    how.async_ready(first.handler());
    run_until(first);
    EXPECT_FALSE(first.ec);
    how.async_ready(second.handler());
    run_until(second);
    EXPECT_EQ(second.ec, errc::invalid_state);
    release(how);
}

TEST_F(CmConnect, ReleaseIsHarmlessAtAnyTimeAndAgain) {
    cm_connector how(*context, dev, nine());
    release(how);
    release(how);
    EXPECT_EQ(exchange(how).ec, errc::invalid_state);
    cm_connector answered(*context, dev, nine());
    EXPECT_FALSE(exchange(answered).ec);
    release(answered);
    release(answered);
    EXPECT_EQ(cm->count("reject"), 1U);
    EXPECT_EQ(cm->live_ids(), 0U);
}

} // namespace
} // namespace rocio::test

// A cm_connector of one device and a cm_acceptor of another in one process: messages padded as the real
// ones.

#include "cm_fixture.hpp"

namespace rocio::test {
namespace {

class CmPair : public CmFixture {
  protected:
    CmPair() {
        gid_table_entry there;
        there.value = *gid::parse("10.0.0.2");
        there.netdev = "script1";
        there.prefix = 24;
        far->set_gid_table(1, {there});
        cm->serve(*far, there.value);
    }
    ~CmPair() override { far->set_connection_manager({}); }

    void listen(const cm_config& handshake = {}) {
        cm_acceptor_config config;
        config.endpoint = parse_endpoint("10.0.0.2:4000");
        config.handshake = handshake;
        acceptor.emplace(*context, far, config);
    }
    cm_connector connector(const cm_config& config = {}) {
        return cm_connector(*context, dev, parse_endpoint("10.0.0.2:4000"), config);
    }
    /// Both ends at once.
    void connect_pairs(const cm_config& config = {}) {
        near_end = {};
        far_end = {};
        acceptor->async_accept([&](const error_code& ec, cm_peer peer) {
            ASSERT_FALSE(ec);
            async_connect(*far_pair, std::move(peer), far_end.handler());
        });
        async_connect(*near_pair, connector(config), near_end.handler());
        run_until([&] { return near_end.done && far_end.done; });
    }
    void connect_well() {
        near_pair.emplace(*context, dev);
        far_pair.emplace(*context, far);
        connect_pairs();
        ASSERT_FALSE(near_end.ec) << near_pair->last_error().message();
        ASSERT_FALSE(far_end.ec) << far_pair->last_error().message();
    }

    std::shared_ptr<scripted_device> far = std::make_shared<scripted_device>();
    std::optional<cm_acceptor> acceptor;
    std::optional<queue_pair> near_pair, far_pair;
    cm_ended near_end, far_end;
};

TEST_F(CmPair, BothSidesAgreeOnTheNumbers) {
    cm->set_path_mtu(mtu::b2048);
    listen();
    connect_well();
    const auto near_side = dev->connection(0).value();
    const auto far_side = far->connection(0).value();
    EXPECT_EQ(near_side.local.send_psn, far_side.peer.send_psn);
    EXPECT_EQ(far_side.local.send_psn, near_side.peer.send_psn);
    EXPECT_NE(near_side.local.send_psn, far_side.local.send_psn);
    EXPECT_EQ(near_side.peer.queue_pair, far->number_of(0));
    EXPECT_EQ(far_side.peer.queue_pair, dev->number_of(0));
    EXPECT_EQ(near_side.peer.address, *gid::parse("10.0.0.2"));
    EXPECT_EQ(far_side.peer.address, *gid::parse("10.0.0.1"));
    EXPECT_EQ(near_side.local.path_mtu, mtu::b2048);
    EXPECT_EQ(far_side.local.path_mtu, mtu::b2048);
    EXPECT_EQ(near_side.peer.depth, 128U) << "told in the padded greeting";
    EXPECT_EQ(far_side.peer.depth, 128U);
}

TEST_F(CmPair, RegionsAreToldToEachOther) {
    listen();
    near_pair.emplace(*context, dev, queue_pair_config{.region = {0x1000, 0x2000, rkey{3}}});
    far_pair.emplace(*context, far, queue_pair_config{.region = {0x9000, 0x400, rkey{4}}});
    connect_pairs();
    EXPECT_EQ(near_pair->peer().region.address, 0x9000U);
    EXPECT_EQ(near_pair->peer().region.key, rkey{4});
    EXPECT_EQ(far_pair->peer().region.length, 0x2000U);
}

TEST_F(CmPair, EitherSideMayLeave) {
    for (const bool near_leaves : {true, false}) {
        listen();
        connect_well();
        auto& leaver = near_leaves ? *near_pair : *far_pair;
        auto& other = near_leaves ? *far_pair : *near_pair;
        cm_ended closed;
        other.async_wait_closed(closed.handler());
        settle();
        EXPECT_FALSE(closed.done);
        leaver.close();
        run_until(closed);
        EXPECT_EQ(closed.ec, errc::peer_closed);
        EXPECT_THAT(other.last_error().text, HasSubstr("ended the connection"));
        acceptor->close();
        run();
        EXPECT_EQ(cm->live_ids(), 0U);
        acceptor.reset();
        run();
        expect_no_ids();
    }
}

TEST_F(CmPair, BothMayLeaveAtOnce) {
    cm->set_time_wait(true);
    cm_config config;
    config.release_deadline = config.time_wait_deadline = 1h;
    listen(config);
    near_pair.emplace(*context, dev);
    far_pair.emplace(*context, far);
    connect_pairs(config);
    near_pair->close();
    far_pair->close();
    acceptor.reset();
    run();
    expect_no_ids();
}

TEST_F(CmPair, ProgramThatIsGoneIsNoticed) {
    listen();
    far_pair.emplace(*context, far);
    auto how = connector();
    cm_ended accepted, exchanged, ready, connected, closed;
    acceptor->async_accept(accepted.handler());
    how.async_exchange(side(), exchanged.handler());
    run_until(accepted);
    async_connect(*far_pair, std::move(*accepted.caller), connected.handler());
    run_until(exchanged);
    how.async_ready(ready.handler());
    run_until([&] { return ready.done && connected.done; });
    EXPECT_FALSE(connected.ec);
    far_pair->async_wait_closed(closed.handler());
    { const auto gone = std::move(how); }
    run_until(closed);
    EXPECT_EQ(closed.ec, errc::peer_closed);
}

TEST_F(CmPair, NobodyListens) {
    near_pair.emplace(*context, dev);
    async_connect(*near_pair, connector(), near_end.handler());
    run();
    EXPECT_EQ(near_end.ec, asio::error::connection_refused);
    EXPECT_THAT(near_pair->last_error().text, HasSubstr("nobody listens for rdma_cm at 10.0.0.2:4000"));
    expect_no_ids();
}

TEST_F(CmPair, RejectionComesWithItsSentence) {
    listen();
    near_pair.emplace(*context, dev);
    acceptor->async_accept([&](const error_code&, cm_peer peer) {
        auto kept = std::make_shared<cm_peer>(std::move(peer));
        kept->async_reject("not on Sundays", [kept](const error_code& ec) { EXPECT_FALSE(ec); });
    });
    async_connect(*near_pair, connector(), near_end.handler());
    run();
    EXPECT_EQ(near_end.ec, errc::refused_by_peer);
    EXPECT_EQ(near_pair->last_error().text, "10.0.0.2:4000 refuses: not on Sundays");
}

TEST_F(CmPair, ClosedAcceptorTurnsThoseWhoWaitAway) {
    listen();
    near_pair.emplace(*context, dev);
    async_connect(*near_pair, connector(), near_end.handler());
    settle();
    EXPECT_FALSE(near_end.done);
    acceptor.reset();
    run();
    EXPECT_EQ(near_end.ec, errc::refused_by_peer);
    expect_no_ids();
}

TEST_F(CmPair, GeometryIsCheckedByTheListeningSideFirst) {
    cm_config config;
    config.largest_message = 1;
    listen(config);
    auto local = side();
    local.max_payload = 1;
    cm_ended exchanged, accepted, answered;
    acceptor->async_accept(accepted.handler());
    config.largest_message = 9000;
    auto large = connector(config);
    auto taken = side(0x77);
    taken.max_payload = 64;
    large.async_exchange(local, exchanged.handler());
    run_until(accepted);
    accepted.caller->async_exchange(taken, answered.handler());
    run_until([&] { return exchanged.done && answered.done; });
    EXPECT_EQ(answered.ec, errc::geometry_mismatch);
    EXPECT_EQ(exchanged.ec, errc::geometry_mismatch);
    EXPECT_THAT(large.last_error().text, HasSubstr("the connecting side sends messages of up to 9000 bytes"));
    EXPECT_THAT(large.last_error().text, HasSubstr("the listening side takes at most 64"));
}

TEST_F(CmPair, RequesterThatGivesUpBeforeItIsAcceptedIsLeftOut) {
    listen();
    {
        auto how = connector();
        cm_ended exchanged;
        asio::cancellation_signal signal;
        how.async_exchange(side(), asio::bind_cancellation_slot(signal.slot(), exchanged.handler()));
        settle();
        signal.emit(asio::cancellation_type::terminal);
        run_until(exchanged);
    }
    settle();
    cm_ended accepted;
    acceptor->async_accept(accepted.handler());
    settle();
    EXPECT_FALSE(accepted.done);
    EXPECT_EQ(acceptor->snapshot().given_up, 1U);
    EXPECT_EQ(cm->live_ids(), 1U);
    near_pair.emplace(*context, dev);
    async_connect(*near_pair, connector(), near_end.handler());
    run_until(accepted);
    EXPECT_FALSE(accepted.ec);
}

TEST_F(CmPair, RequesterThatGivesUpWhileItIsAcceptedIsTold) {
    listen();
    far_pair.emplace(*context, far);
    cm_ended accepted, exchanged;
    std::optional<cm_connector> how = connector();
    acceptor->async_accept(accepted.handler());
    how->async_exchange(side(), exchanged.handler());
    run_until(accepted);
    how.reset();
    run_until(exchanged);
    async_connect(*far_pair, std::move(*accepted.caller), far_end.handler());
    run_until(far_end);
    EXPECT_EQ(far_end.ec, errc::refused_by_peer);
    settle();
    EXPECT_EQ(cm->live_ids(), 1U);
}

TEST_F(CmPair, ManyConnectAtOnce) {
    listen();
    constexpr std::size_t many = 40;
    std::vector<queue_pair> near_pairs, far_pairs;
    std::vector<cm_ended> near_ends(many), far_ends(many);
    for (std::size_t n = 0; n < many; ++n) {
        near_pairs.emplace_back(*context, dev, queue_pair_config{.send_depth = 1, .receive_depth = 1});
        far_pairs.emplace_back(*context, far, queue_pair_config{.send_depth = 1, .receive_depth = 1});
        acceptor->async_accept([&, n](const error_code& ec, cm_peer peer) {
            EXPECT_FALSE(ec);
            async_connect(far_pairs[n], std::move(peer), far_ends[n].handler());
        });
    }
    for (std::size_t n = 0; n < many; ++n) async_connect(near_pairs[n], connector(), near_ends[n].handler());
    const auto done = [](const auto& ends) {
        return std::ranges::all_of(ends, [](const auto& e) { return e.done; });
    };
    run_until([&] { return done(near_ends) && done(far_ends); });
    for (const auto* ends : {&near_ends, &far_ends}) {
        for (const auto& e : *ends) EXPECT_FALSE(e.ec) << e.ec.message();
    }
    EXPECT_EQ(cm->live_ids(), 2 * many + 1);
    near_pairs.clear();
    far_pairs.clear();
    settle();
    EXPECT_EQ(cm->live_ids(), 1U);
}

TEST_F(CmPair, DataOfOneDeviceArriveBeforeTheConnectionStandsThere) {
    // Both ends on one device, which then carries the data by itself.
    acceptor.emplace(*context, dev);
    memory_region memory(dev, 4096);
    near_pair.emplace(*context, dev);
    far_pair.emplace(*context, dev);
    std::vector<std::string> order;
    far_pair->async_receive(memory.buffer(0, 64), [&](const error_code& ec, received_message m) {
        EXPECT_FALSE(ec);
        EXPECT_EQ(m.size, 5U);
        order.emplace_back("data");
    });
    // The first message is under way before the far side hears that the connection stands.
    cm->before(cm_call::establish, [&] { EXPECT_TRUE(dev->complete_receive(1, bytes("early"))); });
    acceptor->async_accept([&](const error_code&, cm_peer peer) {
        async_connect(*far_pair, std::move(peer), [&](const error_code& ec) {
            EXPECT_FALSE(ec);
            order.emplace_back("connected");
        });
    });
    auto where = acceptor->local_endpoint();
    where.address(asio::ip::make_address("10.0.0.1"));
    async_connect(*near_pair, cm_connector(*context, dev, where), near_end.handler());
    run_until([&] { return order.size() == 2 && near_end.done; });
    settle();
    EXPECT_EQ(std::ranges::count(order, "data"), 1);
}

} // namespace
} // namespace rocio::test

#include "receive_server_fixture.hpp"

namespace rocio::test {
namespace {

class receive_session_test : public receive_server_fixture {
  protected:
    void disconnect(errc reason = errc::peer_lost) {
        server->core()->disconnected({reason, "the peer is gone"});
    }
};

TEST_F(receive_session_test, disconnect_tells_the_waiting_operation_why) {
    auto& s = connected_server();
    error_code seen;
    s.async_receive([&](const error_code& ec, frame) { seen = ec; });
    disconnect();
    run();
    EXPECT_EQ(seen, errc::peer_lost);
    EXPECT_TRUE(seen == condition::connection_failed);
    EXPECT_EQ(s.last_error().text, "the peer is gone");
}

TEST_F(receive_session_test, what_was_delivered_before_the_end_is_not_lost) {
    auto& s = connected_server();
    std::vector<std::string> seen;
    error_code last;
    std::function<void()> take = [&] {
        s.async_receive([&](const error_code& ec, frame f) {
            last = ec;
            if (ec) return;
            seen.push_back(text_of(f));
            take();
        });
    };
    take();
    // On the completion queue, not yet polled, when the peer says goodbye:
    ASSERT_TRUE(peer_sends("one", imm(0, 1)));
    ASSERT_TRUE(peer_sends("two", imm(1, 1)));
    disconnect(errc::peer_closed);
    run();
    EXPECT_THAT(seen, ::testing::ElementsAre("one", "two"));
    EXPECT_EQ(last, errc::peer_closed);
}

TEST_F(receive_session_test, connects_again_with_a_fresh_queue_pair_and_every_slot) {
    auto& s = connected_server();
    const auto first = s.snapshot().host_qpn;
    disconnect();
    ASSERT_FALSE(connect());
    pair = 1;
    EXPECT_NE(s.snapshot().host_qpn, first);
    EXPECT_EQ(dev->posted_receives(pair), depth);
    EXPECT_EQ(s.snapshot().sessions, 2U);
    std::string got;
    s.async_receive([&](const error_code&, frame f) { got = text_of(f); });
    ASSERT_TRUE(peer_sends("again", imm(0, 1)));
    run_until([&] { return !got.empty(); });
    EXPECT_EQ(got, "again");
}

TEST_F(receive_session_test, lease_of_the_old_session_returns_into_the_new_one) {
    auto& s = connected_server();
    frame old;
    s.async_receive([&](const error_code&, frame f) { old = std::move(f); });
    ASSERT_TRUE(peer_sends("old", imm(0, 1)));
    run_until([&] { return static_cast<bool>(old); });
    disconnect();
    ASSERT_FALSE(connect());
    pair = 1;
    EXPECT_EQ(dev->posted_receives(pair), depth - 1);
    EXPECT_EQ(text_of(old), "old");
    old.release();
    run_until([&] { return dev->posted_receives(pair) == depth; });
}

/// Writes down that it was released.
struct noted_attempt final : liveness {
    explicit noted_attempt(bool& out) : released(out) {}
    void release() noexcept override { released = true; }
    bool& released;
};

TEST_F(receive_session_test, stop_ends_an_attempt_that_is_under_way) {
    auto& s = connected_server();
    disconnect();
    run();
    local_parameters ours;
    ASSERT_FALSE(s.core()->prepare(ours));
    bool released = false;
    s.core()->connecting(std::make_unique<noted_attempt>(released));
    EXPECT_FALSE(released);
    s.stop();
    EXPECT_TRUE(released);
    bool late = false;
    s.core()->connecting(std::make_unique<noted_attempt>(late));
    EXPECT_TRUE(late) << "nobody keeps an attempt after the end";
}

TEST_F(receive_session_test, second_connect_while_connected_error) {
    connected_server();
    EXPECT_EQ(connect().code, errc::already_connected);
    EXPECT_TRUE(server->is_connected());
}

TEST_F(receive_session_test, path_mtu_the_port_does_not_carry_is_an_error_before_anything_is_sent) {
    port_attributes small;
    small.state = port_state::active;
    small.active_mtu = mtu::b1024;
    small.netdev_mtu = 1500;
    small.netdev = "eth7";
    dev->set_port(1, small);
    make_server();
    const auto e = connect();
    EXPECT_EQ(e.code, errc::path_mtu_too_large);
    for (const char* word : {"4096", "1024", "eth7", "1500"}) EXPECT_THAT(e.text, ::testing::HasSubstr(word));
    EXPECT_EQ(dev->calls(device_call::to_ready_to_receive), 0U);
}

TEST_F(receive_session_test, gid_is_looked_up_anew_at_every_connect) {
    auto& s = connected_server();
    disconnect();
    const auto moved = gid::parse("10.0.0.1").value();
    dev->set_gid_table(
        1, {{.index = 3, .value = moved, .type = gid_type::roce_v2, .netdev = "eth7", .prefix = 24}});
    ASSERT_FALSE(connect());
    EXPECT_EQ(dev->initialisation(1)->gid_index, 3U);
    EXPECT_EQ(s.snapshot().host_ip, "10.0.0.1");
}

TEST_F(receive_session_test, transport_numbers_reach_the_device) {
    make_server();
    auto core = server->core();
    transport_config t;
    t.path_mtu = mtu::b1024;
    t.min_rnr_timer = rnr_timer{20};
    t.retry_count = 5;
    t.rnr_retry = 6;
    ASSERT_FALSE(core->set_transport(t));
    local_parameters ours;
    ASSERT_FALSE(core->prepare(ours));
    peer_parameters theirs;
    theirs.queue_pair = qpn{0xABCDEF};
    theirs.send_psn = psn{0x111};
    ASSERT_FALSE(core->establish(theirs));
    core->connected(nullptr);
    const auto c = dev->connection(pair).value();
    EXPECT_EQ(c.local.path_mtu, mtu::b1024);
    EXPECT_EQ(c.local.min_rnr_timer.code(), 20);
    EXPECT_EQ(c.local.retry_count, 5);
    EXPECT_EQ(c.local.rnr_retry, 6);
    EXPECT_EQ(c.peer.send_psn, psn{0x111});
    EXPECT_EQ(c.hop_limit, 64);
}

TEST_F(receive_session_test, failing_connect_at_any_call_can_be_tried_again) {
    make_server();
    const auto before = dev->calls();
    ASSERT_FALSE(connect());
    const auto calls = dev->calls() - before;
    for (std::size_t k = 1; k <= calls; ++k) {
        disconnect();
        dev->fail_any_call(k, errc::local_operation_error);
        const auto e = connect();
        if (e) server->core()->disconnected(e);
        dev->fail_any_call(0, errc::success);
        if (server->is_connected()) disconnect();
        const auto again = connect();
        EXPECT_FALSE(again) << "after call " << k << ": " << again.message();
    }
}

} // namespace
} // namespace rocio::test

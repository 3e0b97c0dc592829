#include "line_sink.hpp"
#include "receive_server_fixture.hpp"

#include <boost/asio/use_future.hpp>

namespace rocio::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class receive_server_test : public receive_server_fixture {};

TEST_F(receive_server_test, posts_every_slot_before_it_can_receive) {
    make_server();
    auto core = server->core();
    ASSERT_FALSE(core->set_transport({}));
    local_parameters ours;
    ASSERT_FALSE(core->prepare(ours));
    EXPECT_EQ(dev->posted_receives(pair), depth);
    EXPECT_EQ(dev->calls(device_call::to_ready_to_receive), 0U);
    EXPECT_EQ(ours.depth, depth);
    EXPECT_EQ(ours.max_payload, payload);
}

TEST_F(receive_server_test, memory_that_cannot_be_had_as_asked_is_a_warning) {
    const auto sink = std::make_shared<line_sink>();
    engine().set_log_sink(sink);
    auto c = config();
    c.memory = {.numa_node = 4711, .prefault = true};
    const auto memory = make_server(c).snapshot().memory;
    engine().set_log_sink(nullptr);
    EXPECT_TRUE(memory.prefaulted);
    EXPECT_THAT(memory.warnings, ElementsAre(HasSubstr("4711")));
    ASSERT_EQ(sink->lines().size(), 1U);
    EXPECT_EQ(sink->lines()[0].level, log_level::warning);
    EXPECT_EQ(sink->lines()[0].room, "stream");
    EXPECT_EQ(sink->lines()[0].text, "test: " + memory.warnings[0]);
    EXPECT_FALSE(connect());
}

TEST_F(receive_server_test, one_psn_serves_both_readings_of_the_names) {
    make_server();
    const auto host = server->host();
    EXPECT_EQ(host.host_rq_psn, host.host_sq_psn);
    EXPECT_LE(host.host_rq_psn, 0xFFFFFFU);
    EXPECT_NE(host.host_qpn, 0U);
    EXPECT_NE(host.mr_addr, 0U);
    EXPECT_NE(host.mr_rkey, 0U);
    EXPECT_EQ(host.mr_len, depth * payload);
}

TEST_F(receive_server_test, grants_local_write_only) {
    make_server();
    ASSERT_FALSE(connect());
    EXPECT_EQ(dev->initialisation(pair)->remote_access, memory_access::local_read);
}

TEST_F(receive_server_test, frame_is_where_the_device_put_it) {
    auto& s = connected_server();
    frame got;
    s.async_receive([&](const error_code& ec, frame f) {
        EXPECT_FALSE(ec);
        got = std::move(f);
    });
    ASSERT_TRUE(peer_sends("hello", imm(0x123456, 9)));
    run_until([&] { return static_cast<bool>(got); });
    EXPECT_EQ(text_of(got), "hello");
    EXPECT_EQ(got.channel(), 9);
    EXPECT_EQ(got.counter(), 0x123456U);
    const auto slab = dev->live_ranges().front();
    EXPECT_GE(got.payload().data(), slab.data());
    EXPECT_LT(got.payload().data(), slab.data() + slab.size());
}

TEST_F(receive_server_test, returned_slots_are_posted_again_each_once) {
    auto& s = connected_server();
    std::vector<frame> held;
    for (std::uint32_t i = 0; i < depth; ++i) {
        s.async_receive([&](const error_code&, frame f) { held.push_back(std::move(f)); });
        ASSERT_TRUE(peer_sends("x", imm(i, 1)));
    }
    run_until([&] { return held.size() == depth; });
    EXPECT_EQ(dev->posted_receives(pair), 0U);
    EXPECT_FALSE(peer_sends("no slot", imm(9, 1)));
    const auto calls = dev->calls(device_call::post_receive);
    held.clear();
    run_until([&] { return dev->posted_receives(pair) == depth; });
    EXPECT_EQ(dev->calls(device_call::post_receive), calls + depth);
}

TEST_F(receive_server_test, second_lease_keeps_the_slot) {
    auto& s = connected_server();
    frame first;
    s.async_receive([&](const error_code&, frame f) { first = std::move(f); });
    ASSERT_TRUE(peer_sends("shared", imm(0, 1)));
    run_until([&] { return static_cast<bool>(first); });
    frame second = first.share();
    first.release();
    poll();
    EXPECT_EQ(dev->posted_receives(pair), depth - 1);
    EXPECT_EQ(text_of(second), "shared");
    second.release();
    run_until([&] { return dev->posted_receives(pair) == depth; });
}

TEST_F(receive_server_test, frame_without_a_view_is_returned_and_counted) {
    auto& s = connected_server();
    auto other = s.channel(7);
    ASSERT_TRUE(peer_sends("nobody's", imm(0, 1)));
    run_until([&] { return dev->posted_receives(pair) == depth && s.snapshot().unclaimed == 1; });
    EXPECT_EQ(s.snapshot().rx_frame_count, 1U);
}

TEST_F(receive_server_test, frames_before_the_first_view_wait_for_it) {
    auto& s = connected_server();
    ASSERT_TRUE(peer_sends("early", imm(0, 1)));
    ASSERT_TRUE(peer_sends("other", imm(1, 2)));
    run_until([&] { return s.snapshot().rx_frame_count == 2; });
    EXPECT_EQ(s.snapshot().unclaimed, 0U);
    auto one = s.channel(1);
    std::string got;
    one.async_receive([&](const error_code&, frame f) { got = text_of(f); });
    run_until([&] { return !got.empty() && dev->posted_receives(pair) == depth; });
    EXPECT_EQ(got, "early");
    EXPECT_EQ(s.snapshot().unclaimed, 1U);
}

TEST_F(receive_server_test, message_without_immediate_is_refused_and_its_slot_posted_again) {
    auto& s = connected_server();
    auto all = s.all();
    ASSERT_TRUE(dev->complete_receive(pair, std::as_bytes(std::span("plain", 5))));
    run_until([&] { return s.snapshot().without_immediate == 1 && dev->posted_receives(pair) == depth; });
    EXPECT_EQ(s.snapshot().rx_frame_count, 0U);
}

TEST_F(receive_server_test, empty_message_is_refused) {
    auto& s = connected_server();
    auto all = s.all();
    ASSERT_TRUE(peer_sends("", imm(0, 1)));
    run_until([&] { return s.snapshot().bad_length == 1 && dev->posted_receives(pair) == depth; });
}

TEST_F(receive_server_test, failed_receive_ends_the_session_with_its_status) {
    auto& s = connected_server();
    error_code seen;
    s.async_receive([&](const error_code& ec, frame f) {
        seen = ec;
        EXPECT_FALSE(f);
    });
    ASSERT_TRUE(dev->fail_receive(pair, errc::local_length_error));
    run();
    EXPECT_EQ(seen, errc::local_length_error);
    EXPECT_FALSE(s.is_connected());
    EXPECT_EQ(s.snapshot().state, "disconnected");
}

TEST_F(receive_server_test, port_that_goes_down_ends_the_session) {
    auto& s = connected_server();
    error_code seen;
    s.async_receive([&](const error_code& ec, frame) { seen = ec; });
    dev->raise({device_event_kind::port_error, 2, {}}); // another port: nothing happens
    poll();
    EXPECT_FALSE(seen);
    dev->raise({device_event_kind::port_error, 1, {}});
    run();
    EXPECT_EQ(seen, errc::port_down);
    EXPECT_THAT(s.last_error().message(), HasSubstr("lost its link"));
}

TEST_F(receive_server_test, run_returns_when_nothing_is_outstanding) {
    connected_server();
    server->stop();
    run();
}

TEST_F(receive_server_test, stop_is_idempotent_and_final) {
    auto& s = connected_server();
    s.stop();
    s.stop();
    const auto e = connect();
    EXPECT_EQ(e.code, errc::stopped);
    EXPECT_EQ(dev->live_queue_pairs(), 0U);
    EXPECT_EQ(dev->live_regions(), 0U);
}

TEST_F(receive_server_test, stop_inside_a_handler_is_safe) {
    auto& s = connected_server();
    bool stopped = false;
    s.async_receive([&](const error_code&, frame) {
        s.stop();
        stopped = true;
    });
    ASSERT_TRUE(peer_sends("last", imm(0, 1)));
    run();
    EXPECT_TRUE(stopped);
}

TEST_F(receive_server_test, frames_queued_at_stop_can_still_be_taken) {
    auto& s = connected_server();
    auto all = s.all();
    ASSERT_TRUE(peer_sends("one", imm(0, 1)));
    ASSERT_TRUE(peer_sends("two", imm(1, 1)));
    run_until([&] { return s.snapshot().rx_frame_count == 2; });
    s.stop();
    std::vector<std::string> seen;
    error_code last;
    std::function<void()> take = [&] {
        all.async_receive([&](const error_code& ec, frame f) {
            last = ec;
            if (ec) return;
            seen.push_back(text_of(f));
            take();
        });
    };
    take();
    run();
    EXPECT_THAT(seen, ElementsAre("one", "two"));
    EXPECT_EQ(last, errc::stopped);
}

TEST_F(receive_server_test, leases_outlive_stop_server_and_context) {
    frame kept;
    {
        boost::asio::io_context inner;
        auto c = config();
        receive_server s(inner, c);
        auto core = s.core();
        ASSERT_FALSE(core->set_transport({}));
        local_parameters ours;
        ASSERT_FALSE(core->prepare(ours));
        peer_parameters theirs;
        theirs.queue_pair = qpn{0xABCDEF};
        ASSERT_FALSE(core->establish(theirs));
        core->connected(nullptr);
        s.async_receive([&](const error_code&, frame f) { kept = std::move(f); });
        ASSERT_TRUE(peer_sends("kept", imm(0, 1)));
        while (!kept) inner.run_one();
        s.stop();
        EXPECT_EQ(text_of(kept), "kept");
    }
    EXPECT_EQ(text_of(kept), "kept");
    kept.release();
}

TEST_F(receive_server_test, context_destroyed_with_operations_pending_calls_none) {
    bool called = false;
    {
        boost::asio::io_context inner;
        receive_server s(inner, config());
        s.async_receive([&called](const error_code&, frame) { called = true; });
        auto view = s.channel(3);
        view.async_receive([&called](const error_code&, frame) { called = true; });
    }
    // The objects' destructors ended the operations; the context went before it could call them.
    EXPECT_FALSE(called);
}

TEST_F(receive_server_test, snapshot_has_the_fifteen_variables) {
    auto& s = connected_server();
    const auto v = s.snapshot();
    EXPECT_EQ(v.fpga_ip, "10.0.0.2");
    EXPECT_EQ(v.fpga_gid, "0000:0000:0000:0000:0000:ffff:0a00:0002");
    EXPECT_EQ(v.fpga_qpn, 0xABCDEFU);
    EXPECT_EQ(v.fpga_lkey, 0x77U);
    EXPECT_EQ(v.host_qpn, dev->number_of(pair).value());
    EXPECT_EQ(v.host_gid.size(), 39U);
    EXPECT_FALSE(v.host_ip.empty());
    EXPECT_NE(v.mr_addr, 0U);
    EXPECT_EQ(v.mr_len, depth * payload);
    EXPECT_EQ(v.max_payload, payload);
    EXPECT_EQ(v.rx_queue_depth, depth);
    EXPECT_EQ(v.host_rq_psn, v.host_sq_psn);
    EXPECT_EQ(v.state, "connected");
    EXPECT_EQ(v.slots_posted, depth);
}

TEST_F(receive_server_test, fpga_numbers_are_0_until_connected) {
    make_server();
    const auto v = server->snapshot();
    EXPECT_EQ(v.fpga_qpn, 0U);
    EXPECT_EQ(v.fpga_lkey, 0U);
    EXPECT_EQ(v.state, "idle");
}

} // namespace
} // namespace rocio::test

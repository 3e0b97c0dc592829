#include "rc_endpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// States, posting and configuration.

namespace rocio::test {
namespace {

using transport::queue_pair_state;

TEST(rc_state, goes_through_the_states_in_order_only) {
    rc_endpoint e;
    auto& qp = e.qp();
    const transport::receive_path in{peer_number, mtu::b1024, psn{5}, rnr_timer{12}};
    const transport::send_path out{};
    EXPECT_EQ(qp.state(), queue_pair_state::reset);
    EXPECT_EQ(qp.to_rtr(in), errc::invalid_state);
    EXPECT_EQ(qp.to_rts(out), errc::invalid_state);
    EXPECT_EQ(qp.to_init(), errc::success);
    EXPECT_EQ(qp.state(), queue_pair_state::init);
    EXPECT_EQ(qp.to_init(), errc::invalid_state);
    EXPECT_EQ(qp.to_rts(out), errc::invalid_state);
    EXPECT_EQ(qp.to_rtr(in), errc::success);
    EXPECT_EQ(qp.state(), queue_pair_state::ready_to_receive);
    EXPECT_EQ(qp.to_rtr(in), errc::invalid_state);
    EXPECT_EQ(qp.to_rts(out), errc::success);
    EXPECT_EQ(qp.state(), queue_pair_state::ready_to_send);
    EXPECT_EQ(qp.to_rts(out), errc::invalid_state);
    qp.to_error();
    EXPECT_EQ(qp.state(), queue_pair_state::error);
    EXPECT_EQ(qp.to_init(), errc::invalid_state);
    qp.to_error();
    EXPECT_EQ(qp.state(), queue_pair_state::error);
}

TEST(rc_state, goes_to_error_from_every_state) {
    for (const auto& make : {init_endpoint, rtr_endpoint, rts_endpoint}) {
        auto e = make({});
        e->receive(1, 10);
        e->qp().to_error();
        EXPECT_EQ(e->qp().state(), queue_pair_state::error);
        EXPECT_EQ(e->poll_all().size(), 1U);
    }
    rc_endpoint e;
    e.qp().to_error();
    EXPECT_EQ(e.qp().state(), queue_pair_state::error);
}

TEST(rc_state, refuses_paths_outside_their_ranges) {
    auto e = init_endpoint();
    EXPECT_EQ(e->qp().to_rtr({peer_number, mtu{0}, psn{}, {}}), errc::invalid_argument);
    EXPECT_EQ(e->qp().to_rtr({peer_number, mtu{6}, psn{}, {}}), errc::invalid_argument);
    e->rtr();
    const auto refused = [&](auto change) {
        transport::send_path path;
        change(path);
        return e->qp().to_rts(path) == errc::invalid_argument;
    };
    EXPECT_TRUE(refused([](auto& p) { p.retry_count = 8; }));
    EXPECT_TRUE(refused([](auto& p) { p.rnr_retry = 8; }));
    EXPECT_TRUE(refused([](auto& p) { p.window.max_packets = 0; }));
    EXPECT_TRUE(refused([](auto& p) { p.window.max_packets = (1U << 22) + 1; }));
    EXPECT_TRUE(refused([](auto& p) { p.window.longest_train = 0; }));
    EXPECT_TRUE(refused([](auto& p) { p.window.longest_train = 65; }));
    EXPECT_TRUE(refused([](auto& p) {
        p.window.longest_train = 2;
        p.window.max_packets = 129;
    }));
    EXPECT_TRUE(refused([](auto& p) {
        p.window.longest_train = 2;
        p.response_window.max_packets = 129;
    }));
    EXPECT_TRUE(refused([](auto& p) { p.window.capacity = 1; })) << "capacity without a cost";
    e->rts();
}

TEST(rc_state, refuses_a_configuration_outside_its_ranges_by_name) {
    const transport::memory_region_table regions;
    const auto text_of = [&](auto change) -> std::string {
        transport::queue_pair_config config;
        change(config);
        try {
            transport::make_rc_queue_pair(config, regions);
        } catch (const exception& e) {
            EXPECT_EQ(e.code(), error_code(errc::invalid_argument));
            return e.what();
        }
        return "accepted";
    };
    using testing::AllOf;
    using testing::HasSubstr;
    EXPECT_THAT(text_of([](auto& c) { c.send_depth = 0; }),
                AllOf(HasSubstr("send_depth is 0"), HasSubstr("1..65536")));
    EXPECT_THAT(text_of([](auto& c) { c.send_depth = 65'537; }), HasSubstr("send_depth is 65537"));
    EXPECT_THAT(text_of([](auto& c) { c.receive_depth = 0; }), HasSubstr("receive_depth is 0"));
    EXPECT_THAT(text_of([](auto& c) { c.max_inline = 4097; }), HasSubstr("max_inline is 4097"));
    EXPECT_THAT(text_of([](auto& c) { c.max_message = (1U << 31) + 1; }), HasSubstr("max_message"));
    EXPECT_EQ(text_of([](auto& c) { c.max_inline = 0; }), "accepted");
    EXPECT_EQ(text_of([](auto& c) { c.send_depth = c.receive_depth = 1; }), "accepted");
}

TEST(rc_state, takes_posts_in_the_states_that_allow_them) {
    rc_endpoint e;
    EXPECT_EQ(e.receive(1, 1).reason, errc::invalid_state);
    EXPECT_EQ(e.send(1, 1).reason, errc::invalid_state);
    e.init();
    EXPECT_EQ(e.receive(1, 1).accepted, 1U);
    EXPECT_EQ(e.send(1, 1).reason, errc::invalid_state);
    e.rtr();
    EXPECT_EQ(e.receive(2, 1).accepted, 1U);
    EXPECT_EQ(e.send(1, 1).reason, errc::invalid_state);
    e.rts();
    EXPECT_EQ(e.send(1, 1).accepted, 1U);
}

TEST(rc_state, is_deaf_before_rtr) {
    auto e = init_endpoint();
    e->receive(1, 64);
    e->deliver(send_only(0).carrying(1, 0, 10).asking());
    EXPECT_FALSE(e->poll().has_value());
    EXPECT_TRUE(e->take_packets().empty());
    EXPECT_EQ(e->qp().counters().ignored_packets, 1U);
}

TEST(rc_state, keeps_receives_posted_in_init) {
    auto e = init_endpoint();
    e->receive(1, 64);
    e->rtr();
    e->deliver(send_only(0).carrying(1, 0, 10).asking());
    EXPECT_TRUE(e->poll().has_value());
}

TEST(rc_post, says_how_many_were_accepted_and_why_the_next_was_not) {
    rc_endpoint_options options;
    options.send_depth = 3;
    options.receive_depth = 3;
    auto e = rts_endpoint(options);
    std::vector<send_request> sends;
    std::vector<receive_request> receives;
    for (std::uint32_t n = 1; n <= 5; ++n) {
        sends.push_back(e->make_send(n, 10));
        receives.push_back({wr(n), e->memory().take(10)});
    }
    const auto sent = e->qp().post_send(sends);
    EXPECT_EQ(sent.accepted, 3U);
    EXPECT_EQ(sent.reason, errc::queue_full);
    const auto received = e->qp().post_receive(receives);
    EXPECT_EQ(received.accepted, 3U);
    EXPECT_EQ(received.reason, errc::queue_full);
    EXPECT_EQ(e->qp().post_send({}).accepted, 0U);
    EXPECT_EQ(e->qp().post_send({}).reason, errc::success);
}

TEST(rc_post, keeps_a_place_until_its_completion_is_taken) {
    rc_endpoint_options options;
    options.send_depth = 1;
    options.receive_depth = 1;
    auto e = rts_endpoint(options);
    e->send(1, 10);
    e->take_packets();
    e->deliver(ack(0, 1));
    EXPECT_EQ(e->send(2, 10).reason, errc::queue_full);
    e->receive(1, 10);
    e->deliver(send_only(0).carrying(1, 0, 10));
    EXPECT_EQ(e->receive(2, 10).reason, errc::queue_full);
    EXPECT_EQ(e->poll_all().size(), 2U);
    EXPECT_EQ(e->send(2, 10).accepted, 1U);
    EXPECT_EQ(e->receive(2, 10).accepted, 1U);
}

TEST(rc_post, counts_the_receive_in_use) {
    rc_endpoint_options options;
    options.receive_depth = 1;
    auto e = receiving_endpoint(options);
    EXPECT_EQ(e->receive(2, 10).reason, errc::queue_full);
}

TEST(rc_post, gives_the_place_of_an_unsignalled_send_back_when_it_is_acknowledged) {
    rc_endpoint_options options;
    options.send_depth = 8;
    auto e = rts_endpoint(options);
    for (std::uint32_t n = 0; n < 1000; ++n) {
        send_request r = e->make_send(n, 1);
        r.signalled = false;
        ASSERT_EQ(e->post(r).accepted, 1U) << n;
        e->take_packets();
        if (n % 8 == 7) e->deliver(ack(n, n + 1));
    }
    EXPECT_FALSE(e->qp().has_completions());
}

TEST(rc_post, refuses_an_inlined_read) {
    for (auto& e : {rts_endpoint(), error_endpoint()}) {
        send_request r = e->make_send(1, 10);
        r.op = opcode::rdma_read;
        r.inlined = true;
        EXPECT_EQ(e->post(r).reason, errc::invalid_argument);
        EXPECT_EQ(e->post(r).accepted, 0U);
    }
}

TEST(uc_post, refuses_a_read) {
    auto e = rts_endpoint(unreliable());
    const send_request r = e->make_rdma(opcode::rdma_read, 1, 10, remote_base, 1);
    EXPECT_EQ(e->post(r).reason, errc::not_supported);
    EXPECT_EQ(e->post(r).accepted, 0U);
}

TEST(rc_post, refuses_what_is_too_long) {
    rc_endpoint_options options;
    options.max_inline = 16;
    options.max_message = 1000;
    auto e = rts_endpoint(options);
    EXPECT_EQ(e->send(1, 1000).accepted, 1U);
    EXPECT_EQ(e->send(2, 1001).reason, errc::message_too_long);
    const auto text = message_bytes(3, 0, 17);
    send_request r;
    r.inlined = true;
    r.inline_data = text;
    EXPECT_EQ(e->post(r).reason, errc::inline_too_long);
    r.inline_data = std::span(text).first(16);
    EXPECT_EQ(e->post(r).accepted, 1U);
}

TEST(rc_post, stops_at_the_first_bad_request_of_a_chain) {
    auto e = rts_endpoint();
    std::vector<send_request> chain;
    for (std::uint32_t n = 1; n <= 8; ++n) chain.push_back(e->make_send(n, 10));
    chain[4].op = opcode::rdma_read;
    chain[4].inlined = true;
    const auto result = e->qp().post_send(chain);
    EXPECT_EQ(result.accepted, 4U);
    EXPECT_EQ(result.reason, errc::invalid_argument);
    EXPECT_EQ(e->take_packets().size(), 4U);
}

TEST(rc_post, gives_completions_in_as_many_polls_as_wanted) {
    auto e = rts_endpoint();
    for (std::uint32_t n = 0; n < 5; ++n) e->send(n, 1);
    e->take_packets();
    e->deliver(ack(4, 5));
    work_completion out[3];
    EXPECT_EQ(e->qp().poll({}), 0U);
    EXPECT_EQ(e->qp().poll(out), 3U);
    EXPECT_EQ(out[2].id, wr(2));
    EXPECT_TRUE(e->qp().has_completions());
    EXPECT_EQ(e->qp().poll(out), 2U);
    EXPECT_EQ(out[1].id, wr(4));
    EXPECT_FALSE(e->qp().has_completions());
}

} // namespace
} // namespace rocio::test

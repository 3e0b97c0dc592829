#include "rc_endpoint.hpp"

#include <gtest/gtest.h>

// An unreliable connection packet by packet.

namespace rocio::test {
namespace {

using transport::queue_pair_state;

class uc_receiver : public testing::Test {
  protected:
    explicit uc_receiver(const rc_endpoint_options& options = unreliable()) : e(rts_endpoint(options)) {}

    void deliver(const test_packet& p) { e->deliver(p.on_uc()); }
    /// Packets [from, to) of a SEND of message n of 3 packets, 600 bytes, that begins with packet `at`.
    void part(std::uint32_t n, std::uint32_t at, std::uint32_t from, std::uint32_t to) {
        for (std::uint32_t i = from; i < to; ++i)
            deliver((i == 0   ? send_first(at)
                     : i == 1 ? send_middle(at + 1)
                              : send_last(at + 2))
                        .carrying(n, std::size_t{i} * 256, i == 2 ? 88 : 256));
    }
    void expect_received(std::uint32_t id, std::uint32_t message, std::uint32_t length) {
        const auto c = e->poll();
        ASSERT_TRUE(c.has_value()) << "message " << message;
        EXPECT_EQ(c->id, wr(id));
        EXPECT_EQ(error_code(c->status), error_code(errc::success));
        EXPECT_EQ(c->byte_len, length);
        EXPECT_EQ(first_difference(e->received(id).first(length), message), length);
    }
    void expect_nothing() {
        EXPECT_FALSE(e->qp().has_completions());
        EXPECT_TRUE(e->take_packets().empty()) << "UC never answers";
        EXPECT_EQ(e->qp().next_deadline(), transport::never);
        EXPECT_EQ(e->qp().state(), queue_pair_state::ready_to_send);
    }
    const transport::queue_pair_counters& counted() const { return e->qp().counters(); }

    std::unique_ptr<rc_endpoint> e;
};

TEST_F(uc_receiver, takes_sends_with_and_without_immediate) {
    for (std::uint32_t n = 1; n <= 3; ++n) e->receive(n, 700);
    deliver(send_only(0).carrying(1, 0, 10).asking());
    expect_received(1, 1, 10);
    part(2, 1, 0, 3);
    expect_received(2, 2, 600);
    deliver(send_only_with_immediate(4, 0x80000001).carrying(3, 0, 3));
    const auto c = e->poll();
    ASSERT_TRUE(c.has_value());
    EXPECT_TRUE(c->has_immediate);
    EXPECT_EQ(c->immediate, 0x80000001U);
    expect_nothing();
    EXPECT_EQ(counted().messages_received, 3U);
    EXPECT_EQ(counted().psn_gaps, 0U);
}

TEST_F(uc_receiver, does_not_notice_a_lost_message_but_counts_its_packets) {
    e->receive(1, 700);
    e->receive(2, 700);
    deliver(send_only(0).carrying(1, 0, 10));
    deliver(send_only(3).carrying(2, 0, 10));
    expect_received(1, 1, 10);
    expect_received(2, 2, 10);
    EXPECT_EQ(counted().psn_gaps, 1U);
    EXPECT_EQ(counted().psns_missed, 2U);
}

TEST_F(uc_receiver, counts_what_was_lost_before_the_first_packet) {
    e->receive(1, 700);
    deliver(send_only(5).carrying(1, 0, 10));
    expect_received(1, 1, 10);
    EXPECT_EQ(counted().psns_missed, 5U);
}

TEST_F(uc_receiver, takes_old_and_repeated_packets_for_new_ones) {
    for (std::uint32_t n = 1; n <= 3; ++n) e->receive(n, 700);
    deliver(send_only(7).carrying(1, 0, 10));
    deliver(send_only(7).carrying(2, 0, 10));
    deliver(send_only(2).carrying(3, 0, 10));
    for (std::uint32_t n = 1; n <= 3; ++n) expect_received(n, n, 10);
    EXPECT_EQ(counted().duplicates_received, 2U);
    EXPECT_EQ(counted().psn_gaps, 1U);
}

TEST_F(uc_receiver, drops_a_message_without_its_first_packet) {
    e->receive(1, 700);
    part(1, 0, 1, 3);
    expect_nothing();
    EXPECT_EQ(counted().dropped_out_of_message, 2U);
    EXPECT_EQ(counted().interrupted_messages, 0U);
    deliver(send_only(3).carrying(2, 0, 10));
    expect_received(1, 2, 10);
}

/// What comes after a message that lost its middle or its end, next in PSN order.
TEST_F(uc_receiver, gives_the_receive_of_a_torn_message_to_the_packet_that_ends_it) {
    for (const bool lost_middle : {true, false}) {
        for (const bool next_is_long : {true, false}) {
            SCOPED_TRACE(std::to_string(lost_middle) + std::to_string(next_is_long));
            e = rts_endpoint(unreliable());
            e->receive(1, 700);
            e->receive(2, 700);
            part(1, 0, 0, 1);
            if (lost_middle)
                part(1, 0, 2, 3);
            else
                part(1, 0, 1, 2);
            if (next_is_long)
                part(2, 3, 0, 3);
            else
                deliver(send_only(3).carrying(2, 0, 10));
            expect_received(1, 2, next_is_long ? 600 : 10);
            expect_nothing();
            EXPECT_EQ(counted().interrupted_messages, 1U);
            EXPECT_EQ(counted().psn_gaps, 1U);
        }
    }
}

TEST_F(uc_receiver, takes_a_first_or_only_in_mid_message_without_a_gap) {
    e->receive(1, 700);
    e->receive(2, 700);
    part(1, 0, 0, 1);
    part(2, 1, 0, 1); // FIRST
    deliver(send_only(2).carrying(3, 0, 10));
    expect_received(1, 3, 10);
    expect_nothing();
    EXPECT_EQ(counted().interrupted_messages, 2U);
    EXPECT_EQ(counted().psn_gaps, 0U);
}

TEST_F(uc_receiver, does_not_join_parts_of_two_messages_with_the_same_distance) {
    e->receive(1, 700);
    part(1, 0, 0, 2);
    part(2, 3, 2, 3); // the LAST of the next message, whose FIRST and MIDDLE are lost
    expect_nothing();
    part(3, 6, 0, 3);
    expect_received(1, 3, 600);
}

TEST_F(uc_receiver, survives_two_packets_that_changed_places) {
    e->receive(1, 700);
    e->receive(2, 700);
    part(1, 0, 0, 1);
    part(1, 0, 2, 3);
    part(1, 0, 1, 2);
    expect_nothing();
    part(2, 3, 0, 3);
    expect_received(1, 2, 600);
}

TEST_F(uc_receiver, drops_a_repeated_middle_with_its_message) {
    e->receive(1, 700);
    part(1, 0, 0, 2);
    part(1, 0, 1, 2);
    part(1, 0, 2, 3);
    expect_nothing();
    EXPECT_EQ(counted().interrupted_messages, 1U);
}

TEST_F(uc_receiver, drops_a_whole_message_without_a_receive_even_if_one_is_posted_meanwhile) {
    part(1, 0, 0, 1);
    e->receive(1, 700);
    part(1, 0, 1, 3);
    expect_nothing();
    EXPECT_EQ(counted().dropped_without_receive, 1U);
    EXPECT_EQ(counted().dropped_out_of_message, 2U);
    part(2, 3, 0, 3);
    expect_received(1, 2, 600);
}

TEST_F(uc_receiver, drops_wrong_lengths_and_stays_in_service) {
    e->receive(1, 700);
    deliver(send_first(0).carrying(1, 0, 255));
    deliver(send_last(1).carrying(1, 255, 100));
    deliver(send_only(2).carrying(1, 0, 257));
    part(1, 3, 0, 1);
    deliver(send_last(4));
    expect_nothing();
    EXPECT_EQ(counted().dropped_bad_length, 3U);
    EXPECT_EQ(counted().dropped_out_of_message, 1U);
    part(2, 5, 0, 3);
    expect_received(1, 2, 600);
}

TEST_F(uc_receiver, ends_with_a_message_that_is_longer_than_its_receive) {
    e->receive(1, 500);
    e->receive(2, 700);
    part(1, 0, 0, 2);
    const auto failed = e->poll();
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->id, wr(1));
    EXPECT_EQ(error_code(failed->status), error_code(errc::local_length_error));
    const auto flushed = e->poll();
    ASSERT_TRUE(flushed.has_value());
    EXPECT_EQ(flushed->id, wr(2));
    EXPECT_EQ(error_code(flushed->status), error_code(errc::work_request_flushed));
    EXPECT_EQ(e->qp().state(), queue_pair_state::error);
    EXPECT_TRUE(e->take_packets().empty());
}

TEST_F(uc_receiver, flushes_the_receive_of_a_message_under_way_once) {
    e->receive(1, 700);
    e->receive(2, 700);
    part(1, 0, 0, 2);
    e->qp().to_error();
    EXPECT_EQ(e->poll_all().size(), 2U);
}

TEST_F(uc_receiver, keeps_its_receive_depth_while_a_message_is_under_way) {
    auto options = unreliable();
    options.receive_depth = 2;
    e = rts_endpoint(options);
    e->receive(1, 700);
    part(1, 0, 0, 2);
    EXPECT_EQ(e->receive(2, 700).accepted, 1U);
    EXPECT_EQ(e->receive(3, 700).reason, errc::queue_full);
}

TEST_F(uc_receiver, ignores_packets_of_other_services_and_before_rtr) {
    e->receive(1, 700);
    e->deliver(send_only(0).carrying(1, 0, 10));
    e->deliver(ack(0, 1));
    expect_nothing();
    EXPECT_EQ(counted().ignored_packets, 2U);
    e = init_endpoint(unreliable());
    e->receive(1, 700);
    deliver(send_only(0).carrying(1, 0, 10));
    EXPECT_EQ(counted().ignored_packets, 1U);
    EXPECT_FALSE(e->qp().has_completions());
}

// ---- WRITE

class uc_write : public uc_receiver {
  protected:
    /// As part(), of a WRITE of message n to the region's byte `to`; with the immediate `at`.
    void write(std::uint32_t n, std::uint32_t at, std::uint64_t to, std::uint32_t from, std::uint32_t end) {
        for (std::uint32_t i = from; i < end; ++i)
            deliver((i == 0   ? write_first(at).at(remote_base + to, e->key(), 600)
                     : i == 1 ? write_middle(at + 1)
                              : write_last_with_immediate(at + 2, at))
                        .carrying(n, std::size_t{i} * 256, i == 2 ? 88 : 256));
    }
    void expect_written(std::uint32_t id, std::uint32_t message, std::uint64_t to, std::uint32_t immediate) {
        const auto c = e->poll();
        ASSERT_TRUE(c.has_value());
        EXPECT_EQ(c->id, wr(id));
        EXPECT_EQ(c->op, completion_opcode::receive_rdma_write_with_immediate);
        EXPECT_EQ(c->byte_len, 600U);
        EXPECT_EQ(c->immediate, immediate);
        EXPECT_EQ(first_difference(e->remote_at(remote_base + to, 600), message), 600U);
        for (const std::byte b : e->received(id)) ASSERT_EQ(b, std::byte{0});
    }
};

TEST_F(uc_write, with_immediate_completes_a_receive_and_a_plain_one_nothing) {
    e->receive(1, 64);
    deliver(write_only(0).at(remote_base, e->key(), 5).carrying(9, 0, 5));
    EXPECT_EQ(first_difference(e->remote_at(remote_base, 5), 9), 5U);
    expect_nothing();
    write(1, 1, 1000, 0, 3);
    expect_written(1, 1, 1000, 1);
}

TEST_F(uc_write, that_lost_a_packet_is_never_told_and_the_next_one_is) {
    e->receive(1, 64);
    e->receive(2, 64);
    write(1, 0, 0, 0, 1);
    write(1, 0, 0, 2, 3); // LAST with immediate, but the MIDDLE is missing
    expect_nothing();
    EXPECT_EQ(first_difference(e->remote_at(remote_base, 600), 1), 256U) << "no rollback";
    EXPECT_EQ(e->remote_at(remote_base + 256, 1)[0], std::byte{0}) << "nothing behind the gap";
    write(2, 3, 1000, 0, 3);
    expect_written(1, 2, 1000, 3);
    EXPECT_EQ(counted().interrupted_messages, 1U);
    EXPECT_EQ(counted().dropped_out_of_message, 1U);
}

TEST_F(uc_write, without_a_receive_writes_no_byte_of_the_packet_that_needs_one) {
    deliver(write_only_with_immediate(0, 1).at(remote_base, e->key(), 5).carrying(9, 0, 5));
    EXPECT_EQ(e->remote_at(remote_base, 1)[0], std::byte{0});
    write(1, 1, 1000, 0, 3);
    expect_nothing();
    EXPECT_EQ(first_difference(e->remote_at(remote_base + 1000, 600), 1), 512U);
    EXPECT_EQ(counted().dropped_without_receive, 2U);
    EXPECT_EQ(counted().messages_received, 0U);
    e->receive(1, 64);
    write(2, 4, 2000, 0, 3);
    expect_written(1, 2, 2000, 4);
}

TEST_F(uc_write, and_send_cannot_end_each_other) {
    e->receive(1, 700);
    write(1, 0, 0, 0, 2);
    deliver(send_last(2).carrying(1, 0, 88));
    part(1, 3, 0, 2);
    deliver(write_last_with_immediate(5, 1).carrying(1, 0, 88));
    expect_nothing();
    EXPECT_EQ(counted().interrupted_messages, 2U);
    EXPECT_EQ(counted().dropped_out_of_message, 2U);
}

TEST_F(uc_write, beyond_key_bounds_or_rights_is_dropped_in_silence) {
    e->receive(1, 64);
    std::uint32_t at = 0;
    const auto reach = [&](std::uint64_t address, std::uint32_t key, std::uint32_t length) {
        deliver(write_only_with_immediate(at++, 1).at(address, key, length).carrying(1, 0, length));
    };
    reach(remote_base, e->key() + 1, 5);
    reach(remote_base - 1, e->key(), 5);
    reach(remote_base + remote_bytes - 4, e->key(), 5);
    reach(~std::uint64_t{0} - 3, e->key(), 16);
    reach(0, 0, 1);
    deliver(write_first(at++).at(remote_base + remote_bytes - 256, e->key(), 257).carrying(1, 0, 256));
    expect_nothing();
    EXPECT_EQ(counted().dropped_without_access, 6U);
    for (const std::byte b : e->remote().bytes()) ASSERT_EQ(b, std::byte{0});
}

TEST_F(uc_write, through_a_queue_pair_that_grants_nothing_is_dropped) {
    auto options = unreliable();
    options.granted = memory_access::remote_read;
    e = rts_endpoint(options);
    deliver(write_only(0).at(remote_base, e->key(), 5).carrying(1, 0, 5));
    expect_nothing();
    EXPECT_EQ(counted().dropped_without_access, 1U);
    EXPECT_EQ(e->remote_at(remote_base, 1)[0], std::byte{0});
}

TEST_F(uc_write, of_another_length_than_told_is_dropped) {
    e->receive(1, 64);
    deliver(write_only(0).at(remote_base, e->key(), 5).carrying(1, 0, 4));
    deliver(write_only(1).at(remote_base, e->key(), 5).carrying(1, 0, 6));
    deliver(write_first(2).at(remote_base, e->key(), 256).carrying(1, 0, 256));
    for (const std::byte b : e->remote().bytes()) ASSERT_EQ(b, std::byte{0});
    write(1, 3, 0, 0, 1);
    deliver(write_last_with_immediate(4, 1).carrying(1, 256, 88));
    EXPECT_EQ(e->remote_at(remote_base + 256, 1)[0], std::byte{0});
    expect_nothing();
    EXPECT_EQ(counted().dropped_bad_length, 4U);
}

TEST_F(uc_write, of_nothing_needs_neither_key_nor_address) {
    e->receive(1, 64);
    deliver(write_only_with_immediate(0, 6).at(1, 2, 0));
    const auto c = e->poll();
    ASSERT_TRUE(c.has_value());
    EXPECT_EQ(c->byte_len, 0U);
    EXPECT_EQ(c->immediate, 6U);
}

// ---- As sender

TEST(uc_sender, cuts_messages_as_rc_does_and_never_asks) {
    auto e = rts_endpoint(unreliable());
    e->send(1, 600);
    e->post(e->make_rdma(opcode::rdma_write, 2, 10, 77, 88));
    auto r = e->make_rdma(opcode::rdma_write_with_immediate, 3, 300, 99, 88);
    r.immediate = 0x80000001;
    e->post(r);
    const auto sent = e->take_packets();
    const std::vector<test_packet> wanted{
        send_first(0).carrying(1, 0, 256),
        send_middle(1).carrying(1, 256, 256),
        send_last(2).carrying(1, 512, 88),
        write_only(3).at(77, 88, 10).carrying(2, 0, 10),
        write_first(4).at(99, 88, 300).carrying(3, 0, 256),
        write_last_with_immediate(5, 0x80000001).carrying(3, 256, 44),
    };
    ASSERT_EQ(sent.size(), wanted.size());
    for (std::size_t i = 0; i < sent.size(); ++i) EXPECT_EQ(sent[i].text(), wanted[i].on_uc().text());
    const auto done = e->poll_all();
    ASSERT_EQ(done.size(), 3U);
    EXPECT_EQ(done[0].op, completion_opcode::send);
    EXPECT_EQ(done[1].op, completion_opcode::rdma_write);
    EXPECT_EQ(done[2].id, wr(3));
    EXPECT_EQ(e->qp().next_deadline(), transport::never);
}

TEST(uc_sender, is_done_when_the_link_took_the_last_packet_and_not_before) {
    auto e = rts_endpoint(unreliable());
    e->send(1, 600);
    transport::packet_out out[8];
    ASSERT_EQ(e->qp().next_packets(out, e->now()), 3U);
    e->qp().commit(2, e->now());
    EXPECT_FALSE(e->poll().has_value());
    ASSERT_EQ(e->qp().next_packets(out, e->now()), 1U);
    e->qp().commit(0, e->now());
    EXPECT_FALSE(e->poll().has_value());
    EXPECT_EQ(e->take_packets().size(), 1U);
    EXPECT_TRUE(e->poll().has_value());
    EXPECT_EQ(e->qp().counters().packets_sent, 3U);
    EXPECT_EQ(e->qp().counters().bytes_sent, 600U);
    EXPECT_FALSE(e->qp().wants_to_send(e->now()));
}

TEST(uc_sender, gives_a_quarter_of_the_window_at_a_time) {
    auto options = unreliable();
    options.window.max_packets = 16;
    auto e = rts_endpoint(options);
    e->send(1, 10 * 256);
    transport::packet_out out[64];
    EXPECT_EQ(e->qp().next_packets(out, e->now()), 4U);
    options.window = {5'000, [](std::uint32_t datagram) { return datagram + 300; }, 128};
    e = rts_endpoint(options);
    e->send(1, 10 * 256);
    EXPECT_EQ(e->qp().next_packets(out, e->now()), 2U);
    options.window.capacity = 1;
    e = rts_endpoint(options);
    e->send(1, 10 * 256);
    EXPECT_EQ(e->qp().next_packets(out, e->now()), 1U) << "however small, it moves";
}

TEST(uc_sender, fails_a_send_whose_buffer_may_not_be_read_when_those_before_have_left) {
    auto e = rts_endpoint(unreliable());
    e->send(1, 10);
    send_request bad = e->make_send(2, 10);
    bad.buffer.key = lkey{0x77};
    e->post(bad);
    e->send(3, 10);
    EXPECT_EQ(e->take_packets().size(), 1U);
    const auto done = e->poll_all();
    ASSERT_EQ(done.size(), 3U);
    EXPECT_EQ(error_code(done[0].status), error_code(errc::success));
    EXPECT_EQ(error_code(done[1].status), error_code(errc::local_protection_error));
    EXPECT_EQ(error_code(done[2].status), error_code(errc::work_request_flushed));
    EXPECT_EQ(e->qp().state(), queue_pair_state::error);
}

TEST(uc_sender, keeps_unsignalled_sends_to_itself_and_inlined_bytes) {
    auto e = rts_endpoint(unreliable());
    auto bytes = message_bytes(1, 0, 20);
    send_request r;
    r.signalled = false;
    r.inlined = true;
    r.inline_data = bytes;
    ASSERT_EQ(e->post(r).accepted, 1U);
    bytes.assign(20, std::byte{0});
    const auto p = e->take_packet();
    ASSERT_TRUE(p.has_value());
    EXPECT_EQ(p->text(), send_only(0).carrying(1, 0, 20).on_uc().text());
    EXPECT_FALSE(e->poll().has_value());
}

TEST(uc_sender, crosses_the_wrap_of_the_psn) {
    auto options = unreliable();
    options.send_from = psn{0xFFFFFF};
    auto e = rts_endpoint(options);
    e->send(1, 600);
    const auto sent = e->take_packets();
    ASSERT_EQ(sent.size(), 3U);
    EXPECT_EQ(sent[2].index, 2U);
}

TEST(uc_sender, flushes_what_has_not_left) {
    auto e = rts_endpoint(unreliable());
    e->send(1, 10);
    e->send(2, 10);
    e->qp().to_error();
    e->send(3, 10);
    const auto done = e->poll_all();
    ASSERT_EQ(done.size(), 3U);
    for (const auto& c : done) EXPECT_EQ(error_code(c.status), error_code(errc::work_request_flushed));
    EXPECT_TRUE(e->take_packets().empty());
}

} // namespace
} // namespace rocio::test

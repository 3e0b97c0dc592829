// What the snapshot counts: by channel, missing counters, the oldest lease, the queue pair.

#include "receive_server_fixture.hpp"

#include <rocio/stream/detail/channel_counter.hpp>

#include <chrono>
#include <thread>

namespace rocio::test {
namespace {

using namespace std::chrono_literals;
using detail::channel_counter;

std::uint64_t gaps_of(std::initializer_list<std::uint32_t> counters, std::uint32_t period) {
    channel_counter c;
    for (const auto n : counters) c.follow(n, period);
    return c.gaps();
}

TEST(channel_counter, the_first_counter_is_right_whatever_it_is) {
    EXPECT_EQ(gaps_of({700}, 1U << 24), 0U);
}

TEST(channel_counter, what_lies_ahead_is_missing) {
    EXPECT_EQ(gaps_of({1, 2, 3}, 1U << 24), 0U);
    EXPECT_EQ(gaps_of({1, 3}, 1U << 24), 1U);
    EXPECT_EQ(gaps_of({1, 3, 10, 11}, 1U << 24), 7U);
}

TEST(channel_counter, goes_round_at_its_period) {
    EXPECT_EQ(gaps_of({0xFFFFFE, 0xFFFFFF, 0, 1}, 1U << 24), 0U);
    EXPECT_EQ(gaps_of({0xFFFFFE, 1}, 1U << 24), 2U);
    EXPECT_EQ(gaps_of({8, 9, 0, 1}, 10), 0U);
    EXPECT_EQ(gaps_of({8, 2}, 10), 3U);
    EXPECT_EQ(gaps_of({0, 0, 0}, 1), 0U);
    EXPECT_EQ(gaps_of({0, 1, 0, 1}, 2), 0U);
}

TEST(channel_counter, a_repeat_or_a_step_back_is_no_gap_and_changes_nothing) {
    EXPECT_EQ(gaps_of({5, 5, 6}, 1U << 24), 0U);
    EXPECT_EQ(gaps_of({5, 4, 6}, 1U << 24), 0U);
    EXPECT_EQ(gaps_of({1, 3, 2, 4}, 1U << 24), 1U) << "out of order: the one that came late was missing";
    EXPECT_EQ(gaps_of({0, 7}, 10), 0U) << "more than half a period ahead lies behind";
}

TEST(channel_counter, passes_over_a_counter_outside_the_period) {
    EXPECT_EQ(gaps_of({3, 10, 4}, 10), 0U);
}

TEST(channel_counter, may_begin_anew) {
    channel_counter c;
    c.follow(5, 100);
    c.forget_sequence();
    c.follow(30, 100);
    EXPECT_EQ(c.gaps(), 0U);
}

class receive_counts_test : public receive_server_fixture {
  protected:
    receive_server& connected_server(std::optional<std::uint32_t> counter_wrap) {
        auto c = config();
        c.counter_wrap = counter_wrap;
        auto& s = make_server(c);
        const auto e = connect();
        EXPECT_FALSE(e) << e.message();
        return s;
    }
    /// Sends and takes one frame after the other.
    void pass(receive_view& view, std::string_view text, std::uint32_t counter, std::uint8_t channel) {
        ASSERT_TRUE(peer_sends(text, imm(counter, channel)));
        ASSERT_TRUE(take(view));
        run_until([&] { return dev->posted_receives(pair) == depth; });
    }
    frame take(receive_view& view) {
        std::optional<frame> got;
        view.async_receive([&](const error_code& ec, frame f) {
            EXPECT_FALSE(ec);
            got = std::move(f);
        });
        run_until([&] { return got.has_value(); });
        return std::move(*got);
    }
    void TearDown() override {
        server->stop();
        receive_server_fixture::TearDown();
    }
};

TEST_F(receive_counts_test, frames_and_bytes_by_channel_in_order) {
    auto& s = connected_server({});
    auto all = s.all();
    EXPECT_TRUE(s.snapshot().channels.empty());
    pass(all, "seven", 0, 7);
    pass(all, "x", 0, 255);
    pass(all, "seven again", 9, 7);
    pass(all, "zero", 0, 0);
    const auto seen = s.snapshot().channels;
    ASSERT_EQ(seen.size(), 3U);
    EXPECT_EQ(seen[0].number, 0U);
    EXPECT_EQ(seen[1].number, 7U);
    EXPECT_EQ(seen[1].frames, 2U);
    EXPECT_EQ(seen[1].bytes, 16U);
    EXPECT_EQ(seen[2].number, 255U);
    EXPECT_EQ(seen[2].bytes, 1U);
    EXPECT_FALSE(seen[1].gaps) << "nobody said where the counter goes round";
}

TEST_F(receive_counts_test, frames_that_no_view_takes_count_too) {
    auto& s = connected_server({});
    auto other = s.channel(1);
    ASSERT_TRUE(peer_sends("nobody's", imm(0, 2)));
    run_until([&] { return s.snapshot().unclaimed == 1; });
    ASSERT_EQ(s.snapshot().channels.size(), 1U);
    EXPECT_EQ(s.snapshot().channels[0].number, 2U);
}

TEST_F(receive_counts_test, gaps_are_those_of_each_channel) {
    auto& s = connected_server(100);
    auto all = s.all();
    pass(all, "a", 98, 1);
    pass(all, "a", 5, 2);
    pass(all, "a", 1, 1);
    pass(all, "a", 6, 2);
    const auto seen = s.snapshot().channels;
    ASSERT_EQ(seen.size(), 2U);
    EXPECT_EQ(seen[0].gaps, 2U) << "99 and 0";
    EXPECT_EQ(seen[1].gaps, 0U);
}

TEST_F(receive_counts_test, a_counter_that_stands_still_tells_of_no_gaps) {
    auto& s = connected_server(1);
    auto all = s.all();
    pass(all, "a", 0, 1);
    EXPECT_FALSE(s.snapshot().channels.at(0).gaps);
}

TEST_F(receive_counts_test, the_sequence_begins_anew_with_each_connection) {
    auto& s = connected_server(1U << 24);
    auto all = s.all();
    pass(all, "a", 10, 1);
    s.core()->disconnected({errc::peer_closed, {}});
    run_until([&] { return s.snapshot().state == "disconnected"; });
    ASSERT_FALSE(connect());
    ++pair;
    pass(all, "a", 500, 1);
    const auto seen = s.snapshot().channels.at(0);
    EXPECT_EQ(seen.frames, 2U);
    EXPECT_EQ(seen.gaps, 0U);
}

TEST_F(receive_counts_test, the_oldest_lease_is_that_of_the_slot_lent_for_longest) {
    auto& s = connected_server({});
    auto all = s.all();
    EXPECT_EQ(s.snapshot().oldest_lease, 0ns);
    ASSERT_TRUE(peer_sends("first", imm(0, 1)));
    auto first = take(all);
    std::this_thread::sleep_until(first.received() + 3ms);
    ASSERT_TRUE(peer_sends("second", imm(1, 1)));
    auto second = take(all);
    EXPECT_GE(s.snapshot().oldest_lease, 3ms);
    auto shared = first.share();
    first.release();
    EXPECT_GE(s.snapshot().oldest_lease, 3ms) << "a second lease holds the slot";
    shared.release();
    const auto since_second = std::chrono::steady_clock::now() - second.received();
    const auto age = s.snapshot().oldest_lease;
    EXPECT_GE(age, since_second);
    EXPECT_LE(age, std::chrono::steady_clock::now() - second.received());
    second.release();
    EXPECT_EQ(s.snapshot().oldest_lease, 0ns);
}

TEST_F(receive_counts_test, a_queue_pair_is_told_from_it) {
    auto& s = make_server();
    const auto before = queue_pair_of(s.snapshot());
    EXPECT_EQ(before.state, "reset");
    EXPECT_EQ(before.peer_address, "");
    ASSERT_FALSE(connect());
    const auto q = queue_pair_of(s.snapshot());
    EXPECT_EQ(q.owner, "test");
    EXPECT_EQ(q.device, "scripted");
    EXPECT_EQ(q.type, "rc");
    EXPECT_EQ(q.state, "ready to send");
    EXPECT_EQ(q.number, dev->number_of(pair).value());
    EXPECT_EQ(q.send_psn, s.snapshot().host_sq_psn);
    EXPECT_EQ(q.receive_psn, 0U) << "what the peer said that it begins with";
    EXPECT_EQ(q.peer_address, "10.0.0.2");
    EXPECT_EQ(q.peer_number, 0xABCDEFU);
    EXPECT_EQ(q.retry_count, 3U);
    s.core()->disconnected({errc::peer_closed, {}});
    EXPECT_EQ(queue_pair_of(s.snapshot()).state, "none");
    EXPECT_EQ(queue_pair_of(s.snapshot()).number, 0U);
}

/// No device should do either, but a frame must not be lost by it, nor a slot lent twice.
TEST_F(receive_counts_test, completions_out_of_their_order_and_doubled_ones_lose_and_double_nothing) {
    auto& s = connected_server(std::nullopt);
    auto view = s.all();
    const auto posted = dev->receive_log(pair);
    ASSERT_EQ(posted.size(), depth);
    const auto completes = [&](std::size_t slot) {
        work_completion c;
        c.id = posted[slot].id;
        c.op = completion_opcode::receive;
        c.has_immediate = true;
        c.immediate = imm(static_cast<std::uint32_t>(slot), 1);
        c.byte_len = 8;
        dev->inject(c);
    };
    for (const std::size_t slot : {2U, 0U, 0U, 3U, 2U, 1U}) completes(slot);
    std::vector<std::uint32_t> slots;
    std::vector<frame> held;
    for (std::uint32_t i = 0; i < depth; ++i) {
        held.push_back(take(view));
        slots.push_back(held.back().slot());
    }
    EXPECT_EQ(slots, (std::vector<std::uint32_t>{2, 0, 3, 1}));
    EXPECT_EQ(s.snapshot().slots_posted, 0U);
    EXPECT_EQ(s.snapshot().slots_lent, depth);
    EXPECT_EQ(s.snapshot().rx_frame_count, depth);
}

} // namespace
} // namespace rocio::test

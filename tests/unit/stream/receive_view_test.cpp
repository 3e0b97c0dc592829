#include "receive_server_fixture.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <array>

namespace rocio::test {
namespace {

using boost::asio::use_awaitable;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class receive_view_test : public receive_server_fixture {
  protected:
    /// Takes everything a view has queued now.
    std::vector<std::string> take_all(receive_view& view, std::size_t n) {
        std::vector<std::string> seen;
        std::function<void()> take = [&] {
            if (seen.size() == n) return;
            view.async_receive([&](const error_code& ec, frame f) {
                ASSERT_FALSE(ec);
                seen.push_back(text_of(f));
                take();
            });
        };
        take();
        run_until([&] { return seen.size() == n; });
        return seen;
    }
};

TEST_F(receive_view_test, channel_outside_0_to_255_error) {
    make_server();
    for (const int bad : {-1, 256, 1000}) EXPECT_THROW(server->channel(bad), exception);
    EXPECT_NO_THROW(server->channel(0));
    EXPECT_NO_THROW(server->channel(255));
}

TEST_F(receive_view_test, takes_its_channel_in_order_and_no_other) {
    auto& s = connected_server();
    auto three = s.channel(3);
    auto all = s.all();
    ASSERT_TRUE(peer_sends("a", imm(0, 3)));
    ASSERT_TRUE(peer_sends("b", imm(1, 4)));
    ASSERT_TRUE(peer_sends("c", imm(2, 3)));
    EXPECT_THAT(take_all(three, 2), ElementsAre("a", "c"));
    EXPECT_THAT(take_all(all, 3), ElementsAre("a", "b", "c"));
}

TEST_F(receive_view_test, slot_in_two_views_returns_with_the_last) {
    auto& s = connected_server();
    auto one = s.channel(1);
    auto all = s.all();
    ASSERT_TRUE(peer_sends("both", imm(0, 1)));
    EXPECT_THAT(take_all(one, 1), ElementsAre("both"));
    poll();
    EXPECT_EQ(dev->posted_receives(pair), depth - 1);
    EXPECT_THAT(take_all(all, 1), ElementsAre("both"));
    run_until([&] { return dev->posted_receives(pair) == depth; });
}

TEST_F(receive_view_test, view_nobody_reads_holds_the_slots_and_is_named) {
    auto& s = connected_server();
    auto slow = s.channel(5);
    for (std::uint32_t i = 0; i < depth; ++i) ASSERT_TRUE(peer_sends("x", imm(i, 5)));
    run_until([&] { return s.snapshot().slots_posted == 0; });
    EXPECT_EQ(s.snapshot().stalled_by, "channel 5");
    EXPECT_EQ(s.snapshot().slots_lent, depth);
    EXPECT_THAT(take_all(slow, 1), ElementsAre("x"));
    run_until([&] { return s.snapshot().slots_posted == 1; });
    EXPECT_EQ(s.snapshot().stalled_by, "");
}

TEST_F(receive_view_test, drop_oldest_view_never_stops_the_stream) {
    auto& s = connected_server();
    auto monitor = s.all({.drop_oldest_beyond = 2});
    for (const char* text : {"1", "2", "3", "4", "5", "6"}) {
        run_until([&] { return dev->posted_receives(pair) > 0; });
        ASSERT_TRUE(peer_sends(text, imm(0, 1)));
        run_until([&] { return dev->queued(0) == 0; });
        poll();
    }
    EXPECT_EQ(s.snapshot().rx_frame_count, 6U);
    EXPECT_EQ(s.snapshot().views.at(0).dropped, 4U);
    EXPECT_THAT(take_all(monitor, 2), ElementsAre("5", "6"));
}

TEST_F(receive_view_test, destroyed_view_gives_its_slots_back) {
    auto& s = connected_server();
    {
        auto view = s.all();
        for (std::uint32_t i = 0; i < depth; ++i) ASSERT_TRUE(peer_sends("x", imm(i, 1)));
        run_until([&] { return s.snapshot().slots_lent == depth; });
    }
    run_until([&] { return dev->posted_receives(pair) == depth; });
}

TEST_F(receive_view_test, destroyed_view_ends_its_operations) {
    auto& s = connected_server();
    error_code seen;
    {
        auto view = s.all();
        view.async_receive([&](const error_code& ec, frame) { seen = ec; });
    }
    run_until([&] { return static_cast<bool>(seen); });
    EXPECT_EQ(seen, boost::asio::error::operation_aborted);
}

TEST_F(receive_view_test, batch_takes_what_has_arrived_by_the_time_of_the_call) {
    auto& s = connected_server();
    auto all = s.all();
    std::array<frame, 8> batch;
    std::size_t taken = 0;
    all.async_receive_some(batch, [&](const error_code& ec, std::size_t n) {
        EXPECT_FALSE(ec);
        taken = n;
    });
    for (const char* text : {"a", "b", "c"}) ASSERT_TRUE(peer_sends(text, imm(0, 1)));
    run_until([&] { return taken > 0; });
    ASSERT_EQ(taken, 3U);
    EXPECT_EQ(text_of(batch[0]) + text_of(batch[1]) + text_of(batch[2]), "abc");
    EXPECT_FALSE(batch[3]);
}

TEST_F(receive_view_test, batch_of_no_room_error) {
    auto& s = connected_server();
    auto all = s.all();
    error_code seen;
    all.async_receive_some(std::span<frame>(), [&](const error_code& ec, std::size_t) { seen = ec; });
    run_until([&] { return static_cast<bool>(seen); });
    EXPECT_EQ(seen, errc::invalid_argument);
}

TEST_F(receive_view_test, never_completes_inside_the_initiating_function) {
    auto& s = connected_server();
    auto all = s.all();
    ASSERT_TRUE(peer_sends("there already", imm(0, 1)));
    run_until([&] { return s.snapshot().rx_frame_count == 1; });
    bool inside = true, called = false;
    all.async_receive([&](const error_code&, frame) {
        EXPECT_FALSE(inside);
        called = true;
    });
    inside = false;
    run_until([&] { return called; });
}

TEST_F(receive_view_test, total_cancellation_takes_nothing) {
    auto& s = connected_server();
    auto all = s.all();
    boost::asio::cancellation_signal signal;
    error_code seen;
    all.async_receive(
        boost::asio::bind_cancellation_slot(signal.slot(), [&](const error_code& ec, frame) { seen = ec; }));
    signal.emit(boost::asio::cancellation_type::total);
    run_until([&] { return static_cast<bool>(seen); });
    EXPECT_EQ(seen, boost::asio::error::operation_aborted);
    ASSERT_TRUE(peer_sends("still there", imm(0, 1)));
    EXPECT_THAT(take_all(all, 1), ElementsAre("still there"));
}

TEST_F(receive_view_test, cancellation_of_one_leaves_the_other_waiting) {
    auto& s = connected_server();
    auto all = s.all();
    boost::asio::cancellation_signal signal;
    error_code first;
    std::string second;
    all.async_receive(
        boost::asio::bind_cancellation_slot(signal.slot(), [&](const error_code& ec, frame) { first = ec; }));
    all.async_receive([&](const error_code&, frame f) { second = text_of(f); });
    signal.emit(boost::asio::cancellation_type::total);
    ASSERT_TRUE(peer_sends("for the second", imm(0, 1)));
    run_until([&] { return !second.empty(); });
    EXPECT_EQ(first, boost::asio::error::operation_aborted);
    EXPECT_EQ(second, "for the second");
}

TEST_F(receive_view_test, receive_or_timeout_in_a_coroutine) {
    using namespace boost::asio::experimental::awaitable_operators;
    auto& s = connected_server();
    auto all = s.all();
    bool timed_out = false;
    std::string later;
    boost::asio::co_spawn(
        context,
        [&]() -> boost::asio::awaitable<void> {
            boost::asio::steady_timer timer(context, std::chrono::milliseconds(5));
            auto result = co_await (all.async_receive(use_awaitable) || timer.async_wait(use_awaitable));
            timed_out = result.index() == 1;
            EXPECT_TRUE(peer_sends("after", imm(0, 1)));
            later = text_of(co_await all.async_receive(use_awaitable));
            s.stop();
        },
        boost::asio::detached);
    run();
    EXPECT_TRUE(timed_out);
    EXPECT_EQ(later, "after");
}

TEST_F(receive_view_test, object_wide_cancel_ends_every_wait) {
    auto& s = connected_server();
    auto all = s.all();
    int aborted = 0;
    std::array<frame, 2> batch;
    all.async_receive(
        [&](const error_code& ec, frame) { aborted += ec == boost::asio::error::operation_aborted; });
    all.async_receive_some(batch, [&](const error_code& ec, std::size_t) {
        aborted += ec == boost::asio::error::operation_aborted;
    });
    all.cancel();
    run_until([&] { return aborted == 2; });
}

} // namespace
} // namespace rocio::test

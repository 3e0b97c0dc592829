// A stream that falls silent, with and without a limit.

#include "receive_server_fixture.hpp"

namespace rocio::test {
namespace {

using namespace std::chrono_literals;

class receive_silence_test : public receive_server_fixture {
  protected:
    receive_server& connected_with_limit(std::chrono::milliseconds limit) {
        auto c = config();
        c.idle_limit = limit;
        make_server(c);
        const auto e = connect();
        EXPECT_FALSE(e) << e.message();
        return *server;
    }
};

TEST_F(receive_silence_test, ends_a_connection_on_which_no_frame_comes) {
    auto& s = connected_with_limit(20ms);
    error_code seen;
    s.async_receive([&](const error_code& ec, frame) { seen = ec; });
    run_until([&] { return static_cast<bool>(seen); });
    EXPECT_EQ(seen, errc::peer_closed);
    EXPECT_EQ(s.last_error().text, "no frame for 20 ms, the idle limit");
    EXPECT_EQ(s.snapshot().idle_ends, 1U);
    EXPECT_EQ(s.snapshot().state, "disconnected");
}

TEST_F(receive_silence_test, delivers_what_came_before_the_silence) {
    auto& s = connected_with_limit(20ms);
    ASSERT_TRUE(peer_sends("last words", imm(0, 1)));
    std::string got;
    error_code seen;
    s.async_receive([&](const error_code&, frame f) {
        got = text_of(f);
        s.async_receive([&](const error_code& ec, frame) { seen = ec; });
    });
    run_until([&] { return static_cast<bool>(seen); });
    EXPECT_EQ(got, "last words");
    EXPECT_EQ(seen, errc::peer_closed);
}

TEST_F(receive_silence_test, does_not_take_held_slots_for_silence) {
    auto& s = connected_with_limit(10ms);
    std::vector<frame> held;
    std::function<void()> hold = [&] {
        s.async_receive([&](const error_code& ec, frame f) {
            if (ec) return;
            held.push_back(std::move(f));
            hold();
        });
    };
    hold();
    for (std::uint32_t i = 0; i < depth; ++i) ASSERT_TRUE(peer_sends("held", imm(i, 1)));
    run_until([&] { return held.size() == depth; });
    asio::steady_timer several_limits(context, 100ms);
    bool over = false;
    several_limits.async_wait([&](const error_code&) { over = true; });
    run_until([&] { return over; });
    EXPECT_EQ(s.snapshot().state, "connected");
    held.clear();
    run();
    EXPECT_EQ(s.snapshot().state, "disconnected");
    EXPECT_EQ(s.snapshot().idle_ends, 1U);
}

TEST_F(receive_silence_test, limits_each_session_anew) {
    auto& s = connected_with_limit(20ms);
    run_until([&] { return s.snapshot().state == "disconnected"; });
    ASSERT_FALSE(connect());
    EXPECT_EQ(s.snapshot().state, "connected");
    run_until([&] { return s.snapshot().state == "disconnected"; });
    EXPECT_EQ(s.snapshot().idle_ends, 2U);
}

TEST_F(receive_silence_test, leaves_no_timer_behind_a_stop) {
    auto& s = connected_with_limit(std::chrono::hours(1));
    s.stop();
    run(); // returns at once, or fails
    EXPECT_EQ(s.snapshot().idle_ends, 0U);
}

TEST_F(receive_silence_test, limits_outside_their_range_are_refused) {
    for (const auto limit : {0ms, -1ms, std::chrono::milliseconds(86'400'001)}) {
        auto c = config();
        c.idle_limit = limit;
        EXPECT_EQ(validate(c).code, errc::invalid_argument);
        EXPECT_THAT(validate(c).text, ::testing::HasSubstr("idle_limit"));
    }
}

} // namespace
} // namespace rocio::test

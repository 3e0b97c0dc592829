#include "hsb_channel_fixture.hpp"

namespace rocio::fpga {
namespace {

using ::testing::HasSubstr;

class HsbChannelFailure : public hsb_channel_fixture {};

TEST_F(HsbChannelFailure, a_bad_configuration_is_refused_at_construction) {
    config.frame_size = 0;
    EXPECT_THROW(make(), exception);
}

TEST_F(HsbChannelFailure, checks_of_the_version_fail_the_exchange_with_their_sentence) {
    board.values[hsb::version] = 0x2501;
    auto channel = make();
    EXPECT_EQ(exchange(channel).first, errc::not_supported);
    EXPECT_THAT(channel.last_error().text, HasSubstr("0x2501"));
    EXPECT_EQ(bus->accesses.size(), 1U);
    EXPECT_FALSE(release(channel)); // comes after a failure, too, and has nothing to undo
    EXPECT_EQ(bus->accesses.size(), 1U);
}

TEST_F(HsbChannelFailure, pages_that_the_immediate_cannot_tell_apart_are_refused) {
    board.values[hsb::version] = 0x2602;
    local.region.length = 1 << 24;
    config.pages = 257;
    auto channel = make();
    EXPECT_EQ(exchange(channel).first, errc::invalid_argument);
    EXPECT_THAT(channel.last_error().text, HasSubstr("pages is 257, allowed is 1 to 256"));
    for (const std::uint32_t pages : {256U, 4096U}) {
        config.pages = pages;
        board.values[hsb::version] = pages == 256 ? 0x2602 : 0x2603;
        auto taken = make();
        EXPECT_FALSE(exchange(taken).first) << taken.last_error().text;
    }
}

TEST_F(HsbChannelFailure, numbers_that_do_not_fit_fail_it_before_the_bus_is_used) {
    local.region.length = 100;
    auto channel = make();
    EXPECT_EQ(exchange(channel).first, errc::not_in_region);
    EXPECT_TRUE(bus->accesses.empty());
}

TEST_F(HsbChannelFailure, each_step_that_fails_is_told_and_undone) {
    auto probe = make();
    stream(probe);
    const auto all = bus->accesses.size(); // exchange and ready
    for (std::size_t bad = 0; bad < all; ++bad) {
        bus->accesses.clear();
        board.values = {{hsb::version, 0x2606}};
        bus->judge = [&](const access&) { return bus->accesses.size() == bad + 1 ? fate::lost : fate::well; };
        auto channel = make();
        auto ec = exchange(channel).first;
        const bool exchanged = !ec;
        if (exchanged) ec = ready(channel);
        EXPECT_EQ(ec, errc::handshake_timed_out) << bad;
        EXPECT_THAT(channel.last_error().text, HasSubstr("no answer on the bus")) << bad;
        EXPECT_FALSE(release(channel));
        EXPECT_EQ(board.values[mask], 0U) << bad;
        EXPECT_EQ(board.values[vp + hsb::vp::queue_pair], 0U) << bad;
    }
}

TEST_F(HsbChannelFailure, a_release_that_fails_still_succeeds_and_says_why) {
    auto channel = make();
    stream(channel);
    bus->judge = [](const access&) { return fate::lost; };
    EXPECT_FALSE(release(channel));
    EXPECT_THAT(channel.last_error().text, HasSubstr("releasing the FPGA, DP_VP_MASK: no answer"));
}

TEST_F(HsbChannelFailure, a_silent_bus_ends_by_the_step_deadline) {
    config.step_deadline = 200ms;
    bus->judge = [](const access&) { return fate::held; };
    auto channel = make();
    EXPECT_EQ(exchange(channel).first, errc::handshake_timed_out);
    EXPECT_THAT(channel.last_error().text, HasSubstr("preparing the FPGA took longer than 200 ms"));
}

TEST_F(HsbChannelFailure, each_operation_has_its_time) {
    auto channel = make();
    EXPECT_EQ(ready(channel), errc::invalid_state);
    EXPECT_EQ(lost(channel), errc::invalid_state);
    ASSERT_FALSE(exchange(channel).first);
    EXPECT_EQ(lost(channel), errc::invalid_state);
    EXPECT_EQ(exchange(channel).first, errc::invalid_state);
    EXPECT_THAT(channel.last_error().text, HasSubstr("make a new one"));
    ASSERT_FALSE(ready(channel));
    EXPECT_EQ(ready(channel), errc::invalid_state);
}

TEST_F(HsbChannelFailure, an_exchange_can_be_cancelled) {
    bus->judge = [](const access&) { return fate::held; };
    auto channel = make();
    std::optional<error_code> ended;
    asio::cancellation_signal signal;
    channel.async_exchange(
        local, asio::bind_cancellation_slot(
                   signal.slot(), [&](const error_code& ec, const peer_parameters&) { ended = ec; }));
    run_until([&] { return !bus->accesses.empty(); });
    signal.emit(asio::cancellation_type::terminal);
    run_until([&] { return ended.has_value(); });
    EXPECT_EQ(*ended, asio::error::operation_aborted);
}

TEST_F(HsbChannelFailure, a_watch_can_be_cancelled_and_begun_again) {
    auto channel = make();
    stream(channel);
    std::optional<error_code> ended;
    asio::cancellation_signal signal;
    channel.async_wait_lost(
        asio::bind_cancellation_slot(signal.slot(), [&](const error_code& ec) { ended = ec; }));
    run_until([&] { return channel.snapshot().looks >= 1; });
    signal.emit(asio::cancellation_type::total);
    run_until([&] { return ended.has_value(); });
    EXPECT_EQ(*ended, asio::error::operation_aborted);
    board.values[mask] = 0;
    EXPECT_EQ(lost(channel), errc::peer_lost);
}

TEST_F(HsbChannelFailure, release_during_a_look_that_is_not_answered_ends_it) {
    auto channel = make();
    stream(channel);
    bool hold = true;
    bus->judge = [&](const access&) { return hold ? fate::held : fate::well; };
    std::optional<error_code> ended;
    channel.async_wait_lost([&](const error_code& ec) { ended = ec; });
    run_until([&] { return static_cast<bool>(bus->held); });
    hold = false;
    EXPECT_FALSE(release(channel));
    run_until([&] { return ended.has_value(); });
    EXPECT_EQ(*ended, asio::error::operation_aborted);
    EXPECT_EQ(board.values[mask], 0U);
}

TEST_F(HsbChannelFailure, destruction_ends_what_waits_and_leaves_the_fpga_as_it_is) {
    std::optional<error_code> ended;
    hsb_channel_status status({});
    {
        auto channel = make();
        stream(channel);
        status = channel.status();
        channel.async_wait_lost([&](const error_code& ec) { ended = ec; });
        context.poll();
    }
    run_until([&] { return ended.has_value(); });
    EXPECT_EQ(*ended, asio::error::operation_aborted);
    EXPECT_EQ(board.values[mask], 1U);
    EXPECT_EQ(status.snapshot().state, "");
}

} // namespace
} // namespace rocio::fpga

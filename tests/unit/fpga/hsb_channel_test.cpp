#include "hsb_channel_fixture.hpp"

#include <rocio/fpga/hsb_control_client.hpp>
#include <rocio/types/handshake.hpp>
#include <rocio/types/hsb_immediate.hpp>

#include <boost/asio/use_future.hpp>

namespace rocio::fpga {
namespace {

using ::testing::HasSubstr;

static_assert(handshake<hsb_channel>);
static_assert(handshake<basic_hsb_channel<asio::io_context::executor_type>>);
static_assert(std::is_constructible_v<any_register_bus, hsb_control_client>);
static_assert(std::is_nothrow_move_constructible_v<hsb_channel> &&
              !std::is_copy_constructible_v<hsb_channel>);

class HsbChannel : public hsb_channel_fixture {};

TEST_F(HsbChannel, the_exchange_stops_the_port_and_tells_the_peer) {
    board.values[mask] = 0x3;
    auto channel = make();
    const auto [ec, peer] = exchange(channel);
    ASSERT_FALSE(ec);
    EXPECT_EQ(board.values[mask], 0x2U);
    EXPECT_EQ(board.values.count(vp), 0U); // nothing else is touched
    EXPECT_FALSE(validate(peer));
    EXPECT_EQ(peer.address.to_address_string(), "192.168.0.2");
    EXPECT_EQ(peer.queue_pair.value(), 0x1234U);
    EXPECT_EQ(peer.path_mtu, mtu::b4096);
    EXPECT_EQ(peer.immediates.slot_mask, 0xFFFU);
    EXPECT_TRUE(peer.capabilities.exact_icrc);
    EXPECT_EQ(channel.snapshot().state, "prepared");
    EXPECT_EQ(channel.snapshot().ip_version, 0x2606);
}

TEST_F(HsbChannel, immediates_are_those_of_the_version) {
    for (const std::uint16_t version : {0x2510, 0x2602, 0x2603, 0x2606}) {
        board.values[hsb::version] = version;
        auto channel = make();
        const auto peer = exchange(channel).second;
        const auto expected = hsb_immediate_layout(version);
        EXPECT_EQ(peer.immediates.slot_mask, expected.slot_mask);
        EXPECT_EQ(peer.immediates.psn_shift, expected.psn_shift);
        EXPECT_EQ(peer.immediates.psn_width, expected.psn_width);
    }
}

TEST_F(HsbChannel, ready_configures_with_our_queue_pair_and_key_and_starts) {
    auto channel = make();
    stream(channel);
    EXPECT_EQ(board.values[vp + hsb::vp::queue_pair], 0x1234U);
    EXPECT_EQ(board.values[vp + hsb::vp::remote_key], 0x99U);
    EXPECT_EQ(board.values[vp + hsb::vp::host_ip], 0xC0A80065U);
    EXPECT_EQ(board.values[mask], 1U);
    EXPECT_EQ(bus->overlaps, 0U);
    const auto s = channel.snapshot();
    EXPECT_EQ(s.state, "streaming");
    EXPECT_EQ(s.packet_payload, 1408U);
    EXPECT_EQ(s.pages, 2U);
    EXPECT_EQ(s.remote_key, 0x99U);
    EXPECT_EQ(channel.status().snapshot().state, "streaming");
}

TEST_F(HsbChannel, release_stops_and_zeroes) {
    auto channel = make();
    stream(channel);
    EXPECT_FALSE(release(channel));
    EXPECT_EQ(board.values[mask], 0U);
    EXPECT_EQ(board.values[vp + hsb::vp::queue_pair], 0U);
    EXPECT_EQ(board.values[vp + hsb::vp::host_udp_port], 0U);
    EXPECT_EQ(channel.snapshot().state, "released");
    const auto touched = bus->accesses.size();
    EXPECT_FALSE(release(channel)); // once is enough
    EXPECT_EQ(bus->accesses.size(), touched);
}

TEST_F(HsbChannel, release_before_the_exchange_touches_nothing) {
    auto channel = make();
    EXPECT_FALSE(release(channel));
    EXPECT_TRUE(bus->accesses.empty());
    EXPECT_EQ(exchange(channel).first, errc::invalid_state);
}

TEST_F(HsbChannel, the_watch_goes_on_while_all_is_well) {
    auto channel = make();
    stream(channel);
    std::optional<error_code> ended;
    channel.async_wait_lost([&](const error_code& ec) { ended = ec; });
    run_until([&] { return channel.snapshot().looks >= 5; });
    EXPECT_FALSE(ended.has_value());
    EXPECT_EQ(channel.snapshot().failures, 0U);
    EXPECT_FALSE(release(channel));
    run_until([&] { return ended.has_value(); });
    EXPECT_EQ(*ended, asio::error::operation_aborted);
}

TEST_F(HsbChannel, a_restarted_fpga_is_lost) {
    auto channel = make();
    stream(channel);
    board.values = {{hsb::version, 0x2606}};
    EXPECT_EQ(lost(channel), errc::peer_lost);
    EXPECT_THAT(channel.last_error().text, HasSubstr("reset"));
    EXPECT_EQ(channel.snapshot().state, "lost");
}

TEST_F(HsbChannel, a_stopped_port_is_lost_and_left_alone) {
    auto channel = make();
    stream(channel);
    board.values[mask] = 0;
    EXPECT_EQ(lost(channel), errc::peer_lost);
    EXPECT_THAT(channel.last_error().text, HasSubstr("DP_VP_MASK"));
}

TEST_F(HsbChannel, a_port_that_another_host_has_is_not_released) {
    auto channel = make();
    stream(channel);
    board.values[vp + hsb::vp::queue_pair] = 0x777;
    EXPECT_EQ(lost(channel), errc::peer_lost);
    EXPECT_FALSE(release(channel));
    EXPECT_EQ(board.values[vp + hsb::vp::queue_pair], 0x777U);
    EXPECT_EQ(board.values[mask], 1U);
}

TEST_F(HsbChannel, an_fpga_that_answers_now_and_then_is_not_lost) {
    config.watch_failures = 2;
    auto channel = make();
    stream(channel);
    std::size_t reads = 0;
    bus->judge = [&](const access& a) {
        return a.address == hsb::version && ++reads % 2 == 1 ? fate::lost : fate::well;
    };
    std::optional<error_code> ended;
    channel.async_wait_lost([&](const error_code& ec) { ended = ec; });
    run_until([&] { return channel.snapshot().failures >= 4; });
    EXPECT_FALSE(ended.has_value());
    bus->judge = [](const access&) { return fate::lost; };
    run_until([&] { return ended.has_value(); });
    EXPECT_EQ(*ended, errc::peer_lost);
    EXPECT_THAT(channel.last_error().text, HasSubstr("192.168.0.2 did not answer 2 times in a row"));
    const auto touched = bus->accesses.size();
    EXPECT_FALSE(release(channel)); // which would wait for nothing
    EXPECT_EQ(bus->accesses.size(), touched);
}

TEST_F(HsbChannel, a_peers_queue_pair_and_strictness_can_be_given) {
    config.queue_pair = qpn{2};
    config.exact_icrc = false;
    auto channel = make();
    const auto peer = exchange(channel).second;
    EXPECT_EQ(peer.queue_pair.value(), 2U);
    EXPECT_FALSE(peer.capabilities.exact_icrc);
}

TEST_F(HsbChannel, any_token_completes_it) {
    auto channel = make();
    auto peer = channel.async_exchange(local, asio::use_future);
    context.run();
    EXPECT_EQ(peer.get().queue_pair.value(), 0x1234U);
}

} // namespace
} // namespace rocio::fpga

#include "sensor_fixture.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

namespace rocio::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SensorReceiver : public sensor_fixture {};

/// Of every kind that differs: registers and immediates new, immediates old, both old.
class SensorReceiverVersions : public sensor_fixture, public ::testing::WithParamInterface<std::uint16_t> {
  protected:
    /// An address range for each version.
    static int net() {
        return 1 + static_cast<int>(GetParam() & 0xF) + static_cast<int>(GetParam() >> 8 & 1) * 32;
    }
};
INSTANTIATE_TEST_SUITE_P(All, SensorReceiverVersions, ::testing::Values(0x2606, 0x2603, 0x2602, 0x2510));

TEST_P(SensorReceiverVersions, a_thousand_frames_arrive_in_order_with_every_bit_right) {
    make_board(net(), GetParam(), 4000);
    make_receiver(net(), 4);
    ASSERT_FALSE(connect(channel())) << receiver->last_error().message();
    tools::sensor_check check;
    for (std::uint32_t i = 0; i < 1000; ++i) {
        const auto frame = next();
        ASSERT_TRUE(frame);
        ASSERT_EQ(frame.size(), frame_size);
        EXPECT_EQ(frame.number(), i);
        EXPECT_EQ(frame.page(), i % 4);
        EXPECT_EQ(frame.metadata().psn, 4 * i + 3); // three packets of data and one of metadata
        ASSERT_TRUE(check.check(frame.data())) << "frame " << i;
        EXPECT_FALSE(frame.overwritten());
    }
    EXPECT_EQ(check.lost() + check.duplicated() + check.corrupt(), 0U);
    const auto s = receiver->snapshot();
    EXPECT_EQ(s.lost + s.dropped + s.overwritten + s.bad_page + s.unexpected, 0U);
    EXPECT_THAT(complaints, IsEmpty());
}

TEST_P(SensorReceiverVersions, the_board_goes_on_where_it_stopped_when_another_receiver_connects) {
    make_board(net(), GetParam(), 1000);
    make_receiver(net(), 4);
    ASSERT_FALSE(connect(channel()));
    std::uint32_t last_number = 0;
    for (int i = 0; i < 6; ++i) last_number = next().number();
    receiver->stop();
    eventually([&] { return board->board().read(fpga::hsb::vp_base + fpga::hsb::vp::queue_pair) == 0; });
    const auto sent = board->counts().frames;
    make_receiver(net(), 4);
    ASSERT_FALSE(connect(channel())) << receiver->last_error().message();
    tools::sensor_check check;
    const auto first = next();
    EXPECT_GT(first.number(), last_number);
    EXPECT_EQ(first.page(), sent % 4);
    EXPECT_TRUE(check.check(first.data()));
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(check.check(next().data()));
    EXPECT_EQ(check.lost() + check.corrupt(), 0U);
}

TEST_F(SensorReceiver, the_status_shows_both_sides) {
    make_board(60, 0x2606, 1000);
    make_receiver(60, 4);
    auto how = channel();
    const auto status = how.status();
    EXPECT_EQ(status.snapshot().state, "new");
    ASSERT_FALSE(connect(std::move(how)));
    (void)next();
    const auto s = receiver->snapshot();
    EXPECT_EQ(s.state, "connected");
    EXPECT_EQ(s.pages, 4U);
    EXPECT_EQ(s.page_size, 1024U + 128U);
    EXPECT_GE(s.frames, 1U);
    EXPECT_EQ(s.delivered, 1U);
    ASSERT_TRUE(s.peer.has_value());
    EXPECT_EQ(s.peer->address.to_address_string(), board_address);
    const auto c = status.snapshot();
    EXPECT_EQ(c.state, "streaming");
    EXPECT_EQ(c.ip_version, 0x2606);
    EXPECT_EQ(c.packet_payload, 384U);
    EXPECT_EQ(c.queue_pair, s.local.queue_pair.value());
}

TEST_F(SensorReceiver, latest_gives_the_newest_frame_and_counts_what_it_skipped) {
    make_board(61, 0x2606, 1000);
    make_receiver(61, 8, sensor_policy::latest);
    ASSERT_FALSE(connect(channel()));
    eventually([&] { return receiver->snapshot().frames >= 5; });
    const auto before = receiver->snapshot();
    const auto frame = next();
    EXPECT_GE(frame.number(), before.last_frame_number);
    EXPECT_GE(frame.number(), 4U);
    EXPECT_EQ(receiver->snapshot().skipped, frame.number()); // all before it
    EXPECT_GT(next().number(), frame.number());              // never the same again
}

TEST_F(SensorReceiver, every_keeps_as_many_as_there_are_pages_and_counts_the_others_as_dropped) {
    make_board(62, 0x2606, 2000);
    make_receiver(62, 4);
    ASSERT_FALSE(connect(channel()));
    eventually([&] { return receiver->snapshot().frames >= 10; });
    const auto before = receiver->snapshot();
    EXPECT_EQ(before.queued, 4U);
    EXPECT_EQ(before.dropped, before.frames - 4);
    const auto frame = next();
    EXPECT_GE(frame.number(), before.last_frame_number - 3);
    EXPECT_EQ(next().number(), frame.number() + 1);
    EXPECT_EQ(receiver->snapshot().lost, 0U); // dropped is not lost
}

TEST_F(SensorReceiver, a_held_frame_tells_that_its_page_was_written_again) {
    make_board(63, 0x2606, 500);
    make_receiver(63, 4);
    ASSERT_FALSE(connect(channel()));
    const auto frame = next();
    EXPECT_FALSE(frame.overwritten());
    const auto arrived = receiver->snapshot().frames;
    eventually([&] { return receiver->snapshot().frames >= arrived + 3; });
    EXPECT_TRUE(frame.at_risk());
    eventually([&] { return receiver->snapshot().frames >= arrived + 4; });
    EXPECT_TRUE(frame.overwritten());
    EXPECT_EQ(receiver->snapshot().held, 1U);
    EXPECT_GE(receiver->snapshot().overwritten, 1U);
}

TEST_F(SensorReceiver, a_frame_outlives_its_receiver) {
    make_board(64, 0x2606, 500);
    make_receiver(64, 16);
    ASSERT_FALSE(connect(channel()));
    const auto frame = next();
    receiver->stop();
    receiver.reset();
    tools::sensor_check check;
    EXPECT_TRUE(check.check(frame.data()));
    EXPECT_FALSE(frame.overwritten());
}

TEST_F(SensorReceiver, stop_ends_what_waits_and_releases_the_board) {
    make_board(65, 0x2606, 10);
    make_receiver(65, 4);
    ASSERT_FALSE(connect(channel()));
    std::optional<error_code> ended;
    receiver->async_receive([&](const error_code& ec, const sensor_frame&) {
        if (ec) ended = ec;
        if (!ec)
            receiver->async_receive([&](const error_code& again, const sensor_frame&) { ended = again; });
    });
    receiver->stop();
    eventually([&] { return ended.has_value(); });
    EXPECT_EQ(*ended, errc::stopped);
    eventually([&] { return !board->board().target(0).has_value(); });
    eventually([&] { return board->board().read(fpga::hsb::vp_base + fpga::hsb::vp::host_udp_port) == 0; });
    EXPECT_EQ(next_or_error().first, errc::stopped);
    EXPECT_EQ(connect(channel()), errc::stopped);
}

TEST_F(SensorReceiver, a_wait_for_a_frame_can_be_cancelled) {
    make_receiver(66, 4);
    std::optional<error_code> result;
    asio::cancellation_signal signal;
    receiver->async_receive(asio::bind_cancellation_slot(
        signal.slot(), [&](const error_code& ec, const sensor_frame&) { result = ec; }));
    signal.emit(asio::cancellation_type::total);
    eventually([&] { return result.has_value(); });
    EXPECT_EQ(*result, asio::error::operation_aborted);
    result.reset();
    receiver->async_receive([&](const error_code& ec, const sensor_frame&) { result = ec; });
    receiver->cancel();
    eventually([&] { return result.has_value(); });
    EXPECT_EQ(*result, asio::error::operation_aborted);
}

TEST_F(SensorReceiver, what_the_board_cannot_do_is_refused_with_value_and_limit) {
    make_board(67, 0x2510, 100);
    make_receiver(67, 5);
    EXPECT_EQ(connect(channel()), errc::invalid_argument);
    EXPECT_THAT(receiver->last_error().message(), HasSubstr("pages is 5, allowed is 1 to 4"));
    make_receiver(67, 4);
    EXPECT_FALSE(connect(channel()));
}

TEST_F(SensorReceiver, an_old_board_is_refused_with_its_version) {
    make_board(68, 0x2509, 100);
    make_receiver(68, 4);
    EXPECT_EQ(connect(channel()), errc::not_supported);
    EXPECT_THAT(receiver->last_error().message(), HasSubstr("0x2509"));
}

TEST_F(SensorReceiver, configurations_that_make_no_sense_are_refused_at_construction) {
    host_device = open_device("soft:" + address(69, 1));
    sensor_receiver_config c;
    const auto refused = [&] {
        try {
            sensor_receiver r(context, c);
            return std::string("taken");
        } catch (const exception& e) {
            return std::string(e.what());
        }
    };
    EXPECT_THAT(refused(), HasSubstr("device"));
    c.device = host_device;
    EXPECT_THAT(refused(), HasSubstr("frame_size is 0, allowed is 1 to 1073741824"));
    c.frame_size = 1;
    EXPECT_EQ(refused(), "taken");
    c.pages = 4097;
    EXPECT_THAT(refused(), HasSubstr("pages is 4097, allowed is 1 to 4096"));
    c.pages = 1;
    c.receives = 0;
    EXPECT_THAT(refused(), HasSubstr("receives is 0, allowed is 1 to 65536"));
}

} // namespace
} // namespace rocio::test

#include "sensor_fixture.hpp"

namespace rocio::test {
namespace {

using ::testing::HasSubstr;

class SensorLoss : public sensor_fixture {
  protected:
    fpga::hsb_channel_config impatient() const {
        auto c = channel_config();
        c.watch_failures = 2;
        return c;
    }
    std::uint32_t vp(std::uint32_t offset) const { return board->board().read(fpga::hsb::vp_base + offset); }
    error_code write(std::uint32_t where, std::uint32_t value) {
        auto other = client();
        std::optional<error_code> result;
        other.async_write(where, value, [&](const error_code& ec) { result = ec; });
        run_until([&] { return result.has_value(); });
        return result.value_or(error_code());
    }
};

TEST_F(SensorLoss, a_lost_packet_costs_its_frame_and_no_other) {
    open_options bad;
    bad.faults.emplace();
    bad.faults->drop = 0.01;
    bad.faults->seed = 46;
    make_board(80, 0x2606, 4000, bad);
    make_receiver(80, 8);
    ASSERT_FALSE(connect(channel()));
    std::uint32_t right = 0, holes = 0, last = 0;
    while (last < 1500) {
        const auto frame = next();
        ASSERT_TRUE(frame);
        last = frame.number();
        const auto words = tools::prbs_part(frame.size());
        ++(tools::is_prbs_frame(frame.data().first(words)) ? right : holes);
    }
    const auto s = receiver->snapshot();
    ASSERT_TRUE(s.device_counters.has_value());
    const auto missed = s.device_counters->psns_missed;
    EXPECT_GT(holes, 0U);
    EXPECT_GT(s.lost, 0U);
    EXPECT_LE(holes + s.lost, missed); // two packets of one frame may be lost, and those at its very end
    EXPECT_GE(right + holes + s.lost, last - 8); // the first may be lost before the numbers are known
    EXPECT_EQ(s.dropped, 0U);
    EXPECT_GT(right, 1300U);
}

TEST_F(SensorLoss, a_board_that_vanishes_is_lost_within_the_deadline) {
    make_board(81, 0x2606, 1000);
    make_receiver(81, 4);
    ASSERT_FALSE(connect(channel(client(200ms, 2), impatient())));
    (void)next();
    end_board();
    const auto before = std::chrono::steady_clock::now();
    EXPECT_EQ(next_error(), errc::peer_lost);
    // Two looks of 100 ms pause and twice 200 ms each.
    EXPECT_LT(std::chrono::steady_clock::now() - before, 10s);
    EXPECT_THAT(receiver->last_error().message(), HasSubstr("did not answer 2 times in a row"));
    EXPECT_EQ(receiver->snapshot().state, "disconnected");
}

TEST_F(SensorLoss, a_board_that_restarts_is_lost_and_can_be_connected_again) {
    make_board(82, 0x2606, 1000);
    make_receiver(82, 4);
    ASSERT_FALSE(connect(channel()));
    for (int i = 0; i < 3; ++i) (void)next();
    board->reset();
    EXPECT_EQ(next_error(), errc::peer_lost);
    EXPECT_THAT(receiver->last_error().message(), HasSubstr("reset"));
    ASSERT_FALSE(connect(channel())) << receiver->last_error().message();
    tools::sensor_check check;
    const auto first = next();
    EXPECT_EQ(first.page(), 0U);
    EXPECT_EQ(first.metadata().psn, 3U);
    EXPECT_TRUE(check.check(first.data()));
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(check.check(next().data()));
}

TEST_F(SensorLoss, a_board_taken_over_by_another_host_is_lost_and_left_to_it) {
    make_board(83, 0x2606, 1000);
    make_receiver(83, 4);
    ASSERT_FALSE(connect(channel()));
    (void)next();
    ASSERT_FALSE(write(fpga::hsb::vp_base + fpga::hsb::vp::queue_pair, 0x777));
    EXPECT_EQ(next_error(), errc::peer_lost);
    EXPECT_THAT(receiver->last_error().message(), HasSubstr("queue pair 1911"));
    receiver->stop();
    receiver.reset();
    poll();
    EXPECT_EQ(vp(fpga::hsb::vp::queue_pair), 0x777U); // not ours to release
    ASSERT_FALSE(write(fpga::hsb::hif_base + fpga::hsb::hif::vp_mask, 0));
}

TEST_F(SensorLoss, a_stopped_virtual_port_is_told_by_its_mask) {
    make_board(84, 0x2606, 1000);
    make_receiver(84, 4);
    ASSERT_FALSE(connect(channel()));
    (void)next();
    ASSERT_FALSE(write(fpga::hsb::hif_base + fpga::hsb::hif::vp_mask, 0));
    EXPECT_EQ(next_error(), errc::peer_lost);
    EXPECT_THAT(receiver->last_error().message(), HasSubstr("DP_VP_MASK"));
}

TEST_F(SensorLoss, fewer_pages_than_before_need_a_reset_of_the_board) {
    make_board(85, 0x2606, 1000);
    make_receiver(85, 16);
    ASSERT_FALSE(connect(channel()));
    while (next().page() != 9) {
    }
    receiver->stop();
    eventually([&] { return vp(fpga::hsb::vp::queue_pair) == 0; });
    make_receiver(85, 4);
    ASSERT_FALSE(connect(channel()));
    const auto sent = board->counts().frames;
    eventually([&] { return board->counts().frames >= sent + 5; }); // its index runs on beyond the last page
    EXPECT_EQ(receiver->snapshot().frames, 0U);
    board->reset();
    EXPECT_EQ(next_error(), errc::peer_lost);
    ASSERT_FALSE(connect(channel()));
    EXPECT_EQ(next().page(), 0U);
}

TEST_F(SensorLoss, nobody_at_the_control_port_is_told_with_its_address) {
    make_board(86, 0x2606, 1000);
    make_receiver(86, 4);
    auto how = channel(client(200ms, 2), impatient());
    end_board();
    EXPECT_EQ(connect(std::move(how)), fpga::hsb_errc::no_answer);
    EXPECT_THAT(receiver->last_error().message(), HasSubstr("127.46.86.2"));
    EXPECT_THAT(receiver->last_error().message(), HasSubstr("IP version"));
}

} // namespace
} // namespace rocio::test

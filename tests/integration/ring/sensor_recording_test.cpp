#include "hsb/sensor_options.hpp"
#include "hsb/sensor_recording.hpp"
#include "sensor_fixture.hpp"

#include <CLI/CLI.hpp>

namespace rocio::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SensorRecording : public sensor_fixture {
  protected:
    void make(int net) {
        host_device = open_device("soft:" + address(net, 1));
        options.fpga_ip = board_address;
        options.control_port = board->control_endpoint().port();
        options.payload = frame_size;
        options.pages = 8;
        options.ethernet_mtu = 512;
    }
    tools::report record() {
        tools::sensor_recording recording(context, host_device, options);
        recording.line = [this](const std::string& text) { lines.push_back(text); };
        std::optional<error_info> result;
        asio::co_spawn(context, recording.run(), [&](const std::exception_ptr& e, const error_info& r) {
            EXPECT_EQ(e, nullptr);
            result = r;
        });
        run_until([&] { return result.has_value(); });
        failure = result.value_or(error_info{});
        return recording.result();
    }
    /// Until the board is free again: one register follows this one.
    void settle() {
        eventually(
            [&] { return board->board().read(fpga::hsb::vp_base + fpga::hsb::vp::host_udp_port) == 0; });
        const auto requests = board->board().counts().datagrams;
        eventually([&] { return board->board().counts().datagrams > requests; });
    }

    tools::recv_hsb_options options;
    error_info failure;
    std::vector<std::string> lines;
};

TEST_F(SensorRecording, counts_frames_that_are_all_right) {
    make_board(101, 0x2606, 2000);
    make(101);
    options.count = 300;
    const auto r = record();
    EXPECT_FALSE(failure) << failure.message();
    EXPECT_EQ(r.frames, 300U);
    EXPECT_EQ(r.bytes, 300U * frame_size);
    EXPECT_EQ(r.lost, 0U);
    EXPECT_EQ(r.duplicated, 0U);
    EXPECT_TRUE(r.data_was_right());
    EXPECT_GT(r.seconds(), 0);
    EXPECT_THAT(lines.back(), HasSubstr("IP version 0x2606, 8 pages of 1152 bytes, packets of 384"));
    settle();
}

TEST_F(SensorRecording, latest_judges_each_frame_alone) {
    make_board(102, 0x2606, 2000);
    make(102);
    options.count = 50;
    options.policy = sensor_policy::latest;
    const auto r = record();
    EXPECT_FALSE(failure) << failure.message();
    EXPECT_EQ(r.corrupt, 0U);
    EXPECT_EQ(r.frames, 50U);
    settle();
}

TEST_F(SensorRecording, frames_without_a_pattern_are_judged_by_their_numbers_alone) {
    make_board(103, 0x2510, 2000);
    make(103);
    options.count = 50;
    options.pages = 4;
    options.verify = tools::verify_kind::none;
    const auto r = record();
    EXPECT_FALSE(r.lost.has_value());
    EXPECT_FALSE(r.duplicated.has_value());
    settle();
}

TEST_F(SensorRecording, lost_packets_show_in_the_report) {
    open_options bad;
    bad.faults.emplace();
    bad.faults->drop = 0.02;
    bad.faults->seed = 7;
    make_board(104, 0x2606, 4000, bad);
    make(104);
    options.count = 500;
    const auto r = record();
    EXPECT_FALSE(failure) << failure.message();
    EXPECT_FALSE(r.data_was_right());
    EXPECT_GT(r.corrupt, 0U);
    EXPECT_GT(r.lost.value_or(0), 0U);
    EXPECT_GT(r.more.at("missing_packets").as_uint64(), 0U);
    settle();
}

TEST_F(SensorRecording, the_boards_end_is_the_error) {
    make_board(105, 0x2606, 1000);
    make(105);
    asio::steady_timer later(context, 300ms);
    later.async_wait([&](const error_code&) { board->reset(); });
    const auto r = record();
    EXPECT_EQ(failure.code, errc::peer_lost);
    EXPECT_GT(r.frames, 0U);
}

TEST_F(SensorRecording, stop_is_no_error) {
    make_board(106, 0x2606, 1000);
    make(106);
    tools::sensor_recording recording(context, host_device, options);
    std::optional<error_info> result;
    asio::co_spawn(context, recording.run(),
                   [&](const std::exception_ptr&, const error_info& r) { result = r; });
    eventually([&] { return recording.frames() >= 3; });
    recording.stop();
    eventually([&] { return result.has_value(); });
    EXPECT_FALSE(*result);
    settle();
}

TEST_F(SensorRecording, a_board_is_found_by_its_announcement) {
    board_address = address(107, 2);
    tools::sensor_emulator_config c;
    c.stream.device = open_device("soft:" + board_address);
    c.stream.rate = 1000;
    c.stream.count = 40;
    c.control = {asio::ip::make_address(board_address), 0};
    c.announce_to = asio::ip::udp::endpoint(asio::ip::make_address(address(107, 1)), 12267);
    c.announce_from_port = 0;
    c.announce_interval = 20ms;
    board.emplace(context, c);
    running = true;
    asio::co_spawn(context, board->run(), [this](const std::exception_ptr&) { running = false; });
    make(107);
    options.fpga_ip.clear();
    options.announcements = address(107, 1);
    options.count = 40;
    const auto r = record();
    EXPECT_FALSE(failure) << failure.message();
    EXPECT_EQ(r.frames, 40U);
    EXPECT_THAT(lines[1], HasSubstr("serial number 03010401050903, at 127.46.107.2"));
    run_until([this] { return !running; }); // all were sent and the board was released
    EXPECT_EQ(board->counts().frames, 40U);
    EXPECT_THAT(complaints, IsEmpty());
}

TEST(SensorOptions, mac_addresses_are_six_pairs_of_hex_digits) {
    EXPECT_EQ(tools::parse_mac("48:b0:2D:00:00:01"),
              (std::array<std::uint8_t, 6>{0x48, 0xB0, 0x2D, 0, 0, 1}));
    for (const char* bad :
         {"", "48:b0:2d:00:00", "48-b0-2d-00-00-01", "48:b0:2d:00:00:0g", "48:b0:2d:00:00:01:02"})
        EXPECT_FALSE(tools::parse_mac(bad)) << bad;
    EXPECT_EQ(tools::mac_of_interface("lo"), (std::array<std::uint8_t, 6>{}));
    EXPECT_FALSE(tools::mac_of_interface("../lo"));
    EXPECT_FALSE(tools::mac_of_interface("none-such"));
}

TEST(SensorOptions, endpoints_have_a_port_of_their_own_or_the_default) {
    EXPECT_EQ(tools::parse_udp_endpoint("--x", "10.0.0.2", 7).port(), 7);
    EXPECT_EQ(tools::parse_udp_endpoint("--x", "10.0.0.2:0", 7).port(), 0);
    for (const char* bad : {"", "10.0.0", "10.0.0.2:", "10.0.0.2:65536", "10.0.0.2:1x", "::1"})
        EXPECT_THROW(tools::parse_udp_endpoint("--x", bad, 7), exception) << bad;
}

TEST(SensorOptions, are_read_from_the_command_line) {
    CLI::App app;
    tools::recv_hsb_options r;
    r.add_to(app);
    app.parse("--hsb-port 9000 --data-plane 1 --sensor 3 --sifs-per-sensor 1 --pages 16 --policy latest "
              "--ethernet-mtu 4096 --host-mac 48:b0:2d:00:00:01 --announcements 127.0.0.1 --any-ip-id");
    EXPECT_EQ(r.control_port, 9000);
    EXPECT_EQ(r.sensor, 3);
    EXPECT_EQ(r.pages, 16U);
    EXPECT_EQ(r.policy, sensor_policy::latest);
    EXPECT_TRUE(r.host_mac.has_value());
    EXPECT_TRUE(r.any_ip_id);
    CLI::App board_app;
    tools::emulate_hsb_options e;
    e.add_to(board_app);
    board_app.parse(
        "--hsb-port 0 --hsb-address 127.0.0.9 --ip-version 0x2510 --virtual-ports 4 --data-plane 1 "
        "--announce off");
    EXPECT_EQ(e.ip_version, 0x2510);
    EXPECT_EQ(e.virtual_ports, 4U);
    EXPECT_EQ(e.announce_to, "off");
    CLI::App refusing;
    r.add_to(refusing);
    EXPECT_THROW(refusing.parse("--host-mac 1:2"), CLI::ValidationError);
    EXPECT_THROW(refusing.parse("--pages 5000"), CLI::ValidationError);
}

} // namespace
} // namespace rocio::test

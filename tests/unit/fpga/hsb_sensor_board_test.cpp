#include <rocio/fpga/hsb_sensor_board.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <variant>
#include <vector>

namespace rocio::fpga {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint32_t hif = 0x02000300, vp0 = 0x1000, vp1 = 0x1040, mask = hif + 0x0C;

/// Notes what the board tells.
class noted_port final : public hsb_sensor_port {
  public:
    void start(std::uint32_t port, const hsb_sensor_target& target) override {
        said.push_back("start " + std::to_string(port));
        targets[port] = target;
    }
    void stop(std::uint32_t port) override { said.push_back("stop " + std::to_string(port)); }
    void reset() override { said.emplace_back("reset"); }
    std::uint32_t psn(std::uint32_t port) const override { return 0x1000 * (port + 1); }

    std::vector<std::string> said;
    std::map<std::uint32_t, hsb_sensor_target> targets;
};

class HsbSensorBoard : public ::testing::Test {
  protected:
    explicit HsbSensorBoard(std::uint16_t version = 0x2606) {
        hsb_sensor_board_config c;
        c.ip_version = version;
        board.emplace(port, c);
        port.said.clear();
    }

    struct reply {
        hsb_response response;
        std::vector<hsb_register> pairs;
    };
    /// The answer to a request; nothing when there is none.
    std::optional<reply> ask(hsb_command command, std::vector<hsb_register> registers,
                             std::uint8_t flags = hsb_flags::acknowledge) {
        std::array<std::byte, hsb_max_datagram> request{};
        const auto n = encode_request(request, command, flags, ++sequence, registers);
        return send(std::span(request).first(n));
    }
    std::optional<reply> send(std::span<const std::byte> datagram) {
        const auto n = board->answer(datagram, 1, answer);
        if (n == 0) return std::nullopt;
        const auto parsed = parse_response(std::span<const std::byte>(answer).first(n));
        const auto* response = std::get_if<hsb_response>(&parsed);
        if (response == nullptr) {
            ADD_FAILURE() << "not a response";
            return std::nullopt;
        }
        reply out{*response, {}};
        for (const auto pair : response->pairs) out.pairs.push_back(pair);
        return out;
    }
    hsb_status write(std::uint32_t address, std::uint32_t value) {
        const auto got = ask(hsb_command::write_dword, {{address, value}});
        return got ? got->response.status : hsb_status::general_error;
    }
    std::uint32_t read(std::uint32_t address) {
        const auto got = ask(hsb_command::read_dword, {{address, 0}});
        return got && got->pairs.size() == 1 ? got->pairs[0].value : 0xDEAD;
    }
    static std::vector<hsb_register> configuration(std::uint32_t vp) {
        return {{hif + 0x04, 1408 / 128}, {hif + 0x08, 12288}, {vp + 0x18, 1000}, {vp + 0x28, 0x7F2E0101},
                {vp + 0x2C, 4791},        {vp + 0x00, 0x1234}, {vp + 0x04, 0x99}, {vp + 0x08, 0x80},
                {vp + 0x0C, 1},           {vp + 0x10, 9},      {vp + 0x14, 3}};
    }

    noted_port port;
    std::optional<hsb_sensor_board> board;
    std::array<std::byte, hsb_max_datagram> answer{};
    std::uint16_t sequence = 0x100;
};

TEST_F(HsbSensorBoard, tells_its_version_and_date) {
    EXPECT_EQ(read(0x80), 0x2606U);
    EXPECT_EQ(read(0x84), 0x20260722U);
    EXPECT_EQ(write(0x80, 1), hsb_status::success); // read only
    EXPECT_EQ(read(0x80), 0x2606U);
}

TEST_F(HsbSensorBoard, starts_as_after_a_reset) {
    EXPECT_EQ(read(hif + 0x04), 0x5CEU / 128);
    EXPECT_EQ(read(hif + 0x08), 0x3000U);
    EXPECT_EQ(read(mask), 0U);
    EXPECT_EQ(read(vp0 + 0x3C), 0x1000U); // PSN, from the port
    EXPECT_EQ(read(vp1 + 0x3C), 0x2000U);
}

TEST_F(HsbSensorBoard, where_nothing_is_reads_give_the_mark_and_writes_are_refused) {
    EXPECT_EQ(read(0x5000'0000), 0xBADADD12U);
    EXPECT_EQ(read(vp0 + 2 * 0x40), 0xBADADD12U); // a third virtual port
    EXPECT_EQ(write(0x5000'0000, 1), hsb_status::invalid_address);
    EXPECT_EQ(write(vp0 + 1, 1), hsb_status::invalid_address);
    EXPECT_EQ(board->counts().refused, 2U);
}

TEST_F(HsbSensorBoard, of_a_block_what_stands_before_the_bad_address_is_written) {
    const auto got = ask(hsb_command::write_block, {{vp0, 7}, {0x5000'0000, 1}, {vp0 + 4, 8}});
    ASSERT_TRUE(got);
    EXPECT_EQ(got->response.status, hsb_status::invalid_address);
    EXPECT_EQ(read(vp0), 7U);
    EXPECT_EQ(read(vp0 + 4), 0U);
}

TEST_F(HsbSensorBoard, answers_are_put_as_the_fpga_puts_them) {
    const auto got = ask(hsb_command::write_block, {{vp0, 7}, {vp0 + 4, 8}});
    ASSERT_TRUE(got);
    EXPECT_EQ(std::to_integer<int>(answer[0]), 0x89);
    EXPECT_THAT(got->pairs, ElementsAre(hsb_register{vp0, 0}, hsb_register{vp0 + 4, 0}));
    EXPECT_EQ(got->response.latched_sequence, sequence);
}

TEST_F(HsbSensorBoard, a_write_without_the_acknowledge_flag_is_carried_out_in_silence) {
    EXPECT_FALSE(ask(hsb_command::write_dword, {{vp0, 7}}, 0));
    EXPECT_EQ(read(vp0), 7U);
    EXPECT_TRUE(ask(hsb_command::read_dword, {{vp0, 0}}, 0)); // reads are answered anyway
}

TEST_F(HsbSensorBoard, unknown_commands_and_reserved_flags_are_refused) {
    const std::array<std::byte, 14> unknown{std::byte{0x20}, std::byte{1}};
    EXPECT_EQ(board->answer(unknown, 1, answer), 10U);
    EXPECT_EQ(std::to_integer<int>(answer[0]), 0x20); // without bit 7
    EXPECT_EQ(std::to_integer<int>(answer[4]), 0x04);
    const auto flags = ask(hsb_command::read_dword, {{vp0, 0}}, 0x05);
    ASSERT_TRUE(flags);
    EXPECT_EQ(flags->response.status, hsb_status::invalid_flags);
    EXPECT_FALSE(send(std::span(unknown).first(5)));
    EXPECT_EQ(board->counts().ignored, 1U);
}

class HsbSequence : public HsbSensorBoard {
  protected:
    static constexpr std::uint8_t checked = hsb_flags::acknowledge | hsb_flags::check_sequence;
    hsb_status checked_read(std::uint32_t address = 0x80) {
        const auto got = ask(hsb_command::read_dword, {{address, 0}}, checked);
        return got ? got->response.status : hsb_status::general_error;
    }
};

TEST_F(HsbSequence, the_first_request_is_taken_unchecked_only) {
    EXPECT_EQ(checked_read(), hsb_status::sequence_check_failed);
    (void)read(0x80);
    EXPECT_EQ(checked_read(), hsb_status::success);
    EXPECT_EQ(checked_read(), hsb_status::success);
}

TEST_F(HsbSequence, a_gap_is_refused_until_an_unchecked_request_comes) {
    (void)read(0x80);
    ++sequence;
    const auto got = ask(hsb_command::write_dword, {{vp0, 7}}, checked);
    ASSERT_TRUE(got);
    EXPECT_EQ(got->response.status, hsb_status::sequence_check_failed);
    EXPECT_EQ(board->read(vp0), 0U); // not carried out
    EXPECT_EQ(checked_read(), hsb_status::sequence_check_failed);
    (void)read(0x80);
    EXPECT_EQ(checked_read(), hsb_status::success);
}

TEST_F(HsbSequence, a_refused_access_gives_its_number_back) {
    (void)read(0x80);
    EXPECT_EQ(ask(hsb_command::write_dword, {{1, 0}}, checked)->response.status, hsb_status::invalid_address);
    EXPECT_EQ(checked_read(), hsb_status::sequence_check_failed);
    --sequence;
    --sequence;
    EXPECT_EQ(checked_read(), hsb_status::success); // the refused one's number again
}

TEST_F(HsbSequence, numbers_wrap_at_16_bits) {
    sequence = 0xFFFE;
    (void)read(0x80);                               // 0xFFFF
    EXPECT_EQ(checked_read(), hsb_status::success); // 0
    EXPECT_EQ(sequence, 0);
}

TEST_F(HsbSensorBoard, a_configured_port_starts_with_its_bit_and_stops_with_it) {
    ask(hsb_command::write_block, configuration(vp0));
    EXPECT_THAT(port.said, IsEmpty());
    write(mask, 1);
    EXPECT_THAT(port.said, ElementsAre("start 0"));
    const auto& t = port.targets[0];
    EXPECT_EQ(t.host.queue_pair, 0x1234U);
    EXPECT_EQ(t.host.remote_key, 0x99U);
    EXPECT_EQ(t.host.host_ip, 0x7F2E0101U);
    EXPECT_EQ(t.host.udp_port, 4791);
    EXPECT_EQ(t.host.frame_bytes, 1000U);
    EXPECT_EQ(t.host.pages, 4U);
    EXPECT_EQ(t.page_address(0), 0x1'0000'0080U); // not shifted
    EXPECT_EQ(t.page_address(3), 0x1'0000'0080U + 3 * 1152);
    EXPECT_EQ(t.packet_payload, 1408U);
    EXPECT_EQ(t.source_port, 12288);
    EXPECT_TRUE(t.metadata);
    write(mask, 0);
    EXPECT_THAT(port.said, ElementsAre("start 0", "stop 0"));
    EXPECT_FALSE(board->target(0));
}

TEST_F(HsbSensorBoard, virtual_ports_are_apart) {
    ask(hsb_command::write_block, configuration(vp0));
    ask(hsb_command::write_block, configuration(vp1));
    write(mask, 3);
    EXPECT_THAT(port.said, ElementsAre("start 0", "start 1"));
    write(mask, 2);
    EXPECT_THAT(port.said, ElementsAre("start 0", "start 1", "stop 0"));
    write(vp1, 0x777);
    EXPECT_EQ(port.said.back(), "start 1"); // told of its new queue pair
    EXPECT_EQ(port.targets[1].host.queue_pair, 0x777U);
}

TEST_F(HsbSensorBoard, an_incomplete_configuration_sends_nothing) {
    write(mask, 1);
    for (const std::uint32_t missing : {0x00U, 0x18U, 0x28U, 0x2CU}) {
        ask(hsb_command::write_block, configuration(vp0));
        write(vp0 + missing, 0);
        EXPECT_FALSE(board->target(0)) << std::hex << missing;
    }
    ask(hsb_command::write_block, configuration(vp0));
    EXPECT_TRUE(board->target(0));
    write(vp0, 0x1001234); // camera over Ethernet, another protocol
    EXPECT_FALSE(board->target(0));
}

TEST_F(HsbSensorBoard, metadata_can_be_switched_off) {
    ask(hsb_command::write_block, configuration(vp0));
    write(mask, 1);
    write(vp0 + 0x2C, 0x112B7);
    EXPECT_FALSE(port.targets[0].metadata);
    EXPECT_EQ(port.targets[0].host.udp_port, 0x12B7);
}

TEST_F(HsbSensorBoard, a_reset_is_not_answered_and_sets_everything_back) {
    ask(hsb_command::write_block, configuration(vp0));
    write(mask, 1);
    port.said.clear();
    EXPECT_FALSE(ask(hsb_command::write_dword, {{0x04, 8}}));
    EXPECT_THAT(port.said, ElementsAre("stop 0", "reset"));
    EXPECT_EQ(read(vp0), 0U);
    EXPECT_EQ(read(mask), 0U);
    EXPECT_EQ(read(0x80), 0x2606U);
}

class HsbOlderBoard : public HsbSensorBoard {
  protected:
    HsbOlderBoard() : HsbSensorBoard(0x2510) {}
};

TEST_F(HsbOlderBoard, has_four_shifted_addresses) {
    auto c = configuration(vp0);
    c.resize(7);
    for (std::uint32_t i = 0; i < 4; ++i) c.push_back({vp0 + 8 + 4 * i, 0x10 * (i + 1)});
    c.push_back({vp0 + 0x1C, 7});
    ask(hsb_command::write_block, c);
    write(mask, 1);
    const auto& t = port.targets[0];
    EXPECT_EQ(t.layout, hsb_layout::four_buffers);
    EXPECT_EQ(t.host.pages, 3U);
    EXPECT_EQ(t.page_address(2), 0x30U * 128);
    write(vp0 + 0x1C, 0);
    EXPECT_FALSE(board->target(0));
}

TEST_F(HsbSensorBoard, announces_itself_with_its_version) {
    const auto a = board->announcement({127, 46, 1, 2});
    EXPECT_EQ(a.address_text(), "127.46.1.2");
    EXPECT_EQ(a.ip_version, 0x2606);
    EXPECT_EQ(a.uuid_text(), "16af139b-9d14-482f-9805-3feb72ae0cec");
}

TEST_F(HsbSensorBoard, has_1_to_32_virtual_ports) {
    hsb_sensor_board_config c;
    for (const std::uint32_t bad : {0U, 33U}) {
        c.virtual_ports = bad;
        EXPECT_THROW(hsb_sensor_board(port, c), exception);
    }
    c.virtual_ports = 32;
    EXPECT_NO_THROW(hsb_sensor_board(port, c));
}

TEST_F(HsbSensorBoard, random_datagrams_are_answered_within_bounds) {
    std::mt19937 random(47);
    std::uniform_int_distribution<int> byte(0, 255), length(0, 64), command(0, 3);
    constexpr std::array commands{0x04, 0x09, 0x14, 0x19};
    for (int round = 0; round < 20'000; ++round) {
        std::vector<std::byte> datagram(static_cast<std::size_t>(length(random)));
        for (auto& b : datagram) b = static_cast<std::byte>(byte(random));
        if (datagram.size() > 8) {
            datagram[0] = static_cast<std::byte>(commands[static_cast<std::size_t>(command(random))]);
            datagram[1] &= std::byte{3};
            datagram[6] = datagram[7] = std::byte{0}; // low addresses, where registers are
        }
        ASSERT_LE(board->answer(datagram, 1, answer), answer.size());
    }
    EXPECT_EQ(board->counts().datagrams, 20'000U);
    EXPECT_EQ(read(0x80), 0x2606U);
}

} // namespace
} // namespace rocio::fpga

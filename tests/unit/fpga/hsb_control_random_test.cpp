#include "hsb_messages.hpp"

#include <rocio/fpga/hsb_board.hpp>

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>

namespace rocio::test {
namespace {

using namespace fpga;

constexpr hsb_command commands[] = {hsb_command::write_dword, hsb_command::write_block,
                                    hsb_command::read_dword, hsb_command::read_block};

class random_datagrams {
  public:
    explicit random_datagrams(std::uint32_t seed) : draw_(seed) {}

    std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(draw_() % limit); }
    std::vector<std::byte> noise() {
        std::vector<std::byte> out(below(64));
        for (auto& b : out) b = static_cast<std::byte>(draw_());
        if (!out.empty() && below(2)) out[0] = static_cast<std::byte>(commands[below(4)]);
        return out;
    }
    std::vector<std::byte> request() {
        const auto command = commands[below(4)];
        hsb_registers registers(is_block(command) ? 1 + below(20) : 1);
        for (auto& r : registers) r = {address(), static_cast<std::uint32_t>(draw_())};
        return hsb_datagram(command, static_cast<std::uint16_t>(draw_()), registers,
                            static_cast<std::uint8_t>(below(4)));
    }
    /// A request with a few bytes changed, cut off or added.
    std::vector<std::byte> damaged() {
        auto out = request();
        for (auto n = below(4); n > 0; --n)
            out[below(static_cast<std::uint32_t>(out.size()))] = std::byte(draw_());
        out.resize(out.size() + below(9) - std::min<std::size_t>(out.size(), below(9)));
        return out;
    }
    std::uint32_t address() {
        const std::uint32_t bases[] = {
            0x1000,     0x0800,     0x50000000, 0x50100000,
            0x40000000, 0x40100000, 0xE0000000, static_cast<std::uint32_t>(draw_())};
        return bases[below(8)] + below(0x80);
    }

  private:
    std::mt19937 draw_;
};

struct counting_port final : board_port {
    void connect(const board_target& target) override { ++connects, last = target; }
    void send(board_program program) override {
        ++sends;
        ASSERT_GT(program.windows, 0U);
        ASSERT_EQ(program.bytes.size(), std::size_t{program.windows} * program.stride);
        ASSERT_LE(program.bytes.size(), hsb::bram::size);
        ASSERT_GE(program.stride, program.window_bytes);
    }
    void stop() override { ++stops; }
    void refuse(const error_info& why) override {
        ++refusals;
        EXPECT_FALSE(why.message().empty());
    }
    board_target last{};
    int connects = 0, sends = 0, stops = 0, refusals = 0;
};

/// An answer is one that a client reads, or there is none.
void expect_readable(std::span<const std::byte> answer, std::span<const std::byte> request) {
    if (answer.empty()) return;
    EXPECT_EQ(answer[2], request[2]);
    EXPECT_EQ(answer[3], request[3]);
    const auto parsed = parse_response(answer);
    if (std::holds_alternative<hsb_response>(parsed)) return;
    EXPECT_EQ(std::get<hsb_malformed>(parsed), hsb_malformed::unknown_command);
    EXPECT_EQ(std::to_integer<int>(answer[4]), static_cast<int>(hsb_status::unknown_command));
}

class AnyDatagram : public ::testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, AnyDatagram, ::testing::Range(1U, 9U));

TEST_P(AnyDatagram, leaves_a_board_that_answers_readably_and_holds_no_more_than_its_limit) {
    random_datagrams make(GetParam());
    counting_port port;
    const auto board = std::make_unique<hsb_board>(port, hsb_board_config{.register_limit = 40});
    std::array<std::byte, hsb_max_datagram> out;
    for (int i = 0; i < 20'000; ++i) {
        const auto datagram = make.below(3) == 0 ? make.noise()
                              : make.below(2)    ? make.damaged()
                                                 : make.request();
        const auto length = board->answer(datagram, make.below(2), out);
        ASSERT_LE(length, out.size());
        expect_readable(std::span(out).first(length), datagram);
    }
    EXPECT_LE(board->registers().used(), 40U + 32U);
    EXPECT_EQ(board->counts().datagrams, 20'000U);
    EXPECT_GT(board->counts().refused, 0U);
    EXPECT_GT(board->counts().ignored, 0U);
    EXPECT_GT(port.connects + port.sends + port.stops + port.refusals, 0);
}

TEST_P(AnyDatagram, is_read_within_its_bytes) {
    random_datagrams make(GetParam() + 100);
    for (int i = 0; i < 20'000; ++i) {
        const auto datagram = make.below(2) ? make.noise() : make.damaged();
        // In memory of exactly its size a sanitizer sees every byte read beyond.
        const std::vector<std::byte> exact(datagram);
        const auto request = parse_request(exact);
        if (const auto* r = std::get_if<hsb_request>(&request)) {
            ASSERT_GE(r->pairs.size(), 1U);
            for (const auto pair : r->pairs) ASSERT_EQ(pair, pair);
        }
        const auto response = parse_response(exact);
        if (const auto* r = std::get_if<hsb_response>(&response)) {
            for (const auto pair : r->pairs) ASSERT_EQ(pair, pair);
        }
    }
}

TEST_P(AnyDatagram, that_is_a_request_is_written_again_as_it_was) {
    random_datagrams make(GetParam() + 200);
    for (int i = 0; i < 5'000; ++i) {
        const auto datagram = make.request();
        const auto parsed = parse_request(datagram);
        ASSERT_TRUE(std::holds_alternative<hsb_request>(parsed));
        const auto& request = std::get<hsb_request>(parsed);
        hsb_registers registers;
        for (const auto pair : request.pairs) registers.push_back(pair);
        EXPECT_EQ(hsb_datagram(request.command, request.sequence, registers, request.flags), datagram);
    }
}

} // namespace
} // namespace rocio::test

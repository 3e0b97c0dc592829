#include "transport/opcode_sequence.hpp"

#include <gtest/gtest.h>

namespace rocio::transport {
namespace {

using wire::opcode;
using enum packet_place;
using enum message_kind;

TEST(shape_of, tells_kind_place_and_immediate_of_rc_and_uc) {
    for (const std::uint8_t service : {0x00, 0x20}) {
        const auto shape = [&](int operation) {
            return shape_of(opcode(static_cast<std::uint8_t>(service + operation)));
        };
        EXPECT_EQ(shape(0x00), (request_shape{send, first, false}));
        EXPECT_EQ(shape(0x01), (request_shape{send, middle, false}));
        EXPECT_EQ(shape(0x02), (request_shape{send, last, false}));
        EXPECT_EQ(shape(0x03), (request_shape{send, last, true}));
        EXPECT_EQ(shape(0x04), (request_shape{send, only, false}));
        EXPECT_EQ(shape(0x05), (request_shape{send, only, true}));
        EXPECT_EQ(shape(0x06), (request_shape{rdma_write, first, false}));
        EXPECT_EQ(shape(0x07), (request_shape{rdma_write, middle, false}));
        EXPECT_EQ(shape(0x08), (request_shape{rdma_write, last, false}));
        EXPECT_EQ(shape(0x09), (request_shape{rdma_write, last, true}));
        EXPECT_EQ(shape(0x0A), (request_shape{rdma_write, only, false}));
        EXPECT_EQ(shape(0x0B), (request_shape{rdma_write, only, true}));
    }
}

TEST(shape_of, agrees_with_the_codec_and_knows_nothing_else) {
    for (unsigned code = 0; code < 256; ++code) {
        const opcode op(static_cast<std::uint8_t>(code));
        const auto shape = shape_of(op);
        const bool message =
            (op.what() == wire::operation::send || op.what() == wire::operation::rdma_write) &&
            !op.has_ieth() && op.type() != wire::service::ud;
        ASSERT_EQ(shape.has_value(), message) << code;
        if (!shape) continue;
        EXPECT_EQ(starts_message(shape->place), op.starts()) << code;
        EXPECT_EQ(ends_message(shape->place), op.ends()) << code;
        EXPECT_EQ(shape->immediate, op.has_immediate()) << code;
    }
}

/// What is open before: nothing, a SEND, a WRITE. Which of the twelve opcodes may follow.
struct row {
    std::optional<std::uint8_t> before;
    const char* allowed; ///< One character per opcode 0x00..0x0B.
};

TEST(opcode_sequence, opcode_follows_opcode) {
    constexpr const char* idle = "1...111...11";
    constexpr const char* in_send = ".111........";
    constexpr const char* in_write = ".......111..";
    const row rows[] = {
        {std::nullopt, idle}, {0x00, in_send}, {0x01, in_send},  {0x02, idle},     {0x03, idle},
        {0x04, idle},         {0x05, idle},    {0x06, in_write}, {0x07, in_write}, {0x08, idle},
        {0x09, idle},         {0x0A, idle},    {0x0B, idle},
    };
    for (const row& r : rows) {
        for (std::uint8_t next = 0; next < 12; ++next) {
            opcode_sequence sequence;
            if (r.before) {
                const auto before = *shape_of(opcode(*r.before));
                if (!starts_message(before.place)) sequence.advance({before.kind, first, false});
                ASSERT_TRUE(sequence.allows(before));
                sequence.advance(before);
            }
            EXPECT_EQ(sequence.allows(*shape_of(opcode(next))), r.allowed[next] == '1')
                << "before " << (r.before ? int{*r.before} : -1) << " next " << int{next};
        }
    }
}

TEST(opcode_sequence, starts_over_after_reset) {
    opcode_sequence sequence;
    sequence.advance({send, first, false});
    EXPECT_TRUE(sequence.in_message());
    sequence.reset();
    EXPECT_FALSE(sequence.in_message());
    EXPECT_TRUE(sequence.allows({send, only, false}));
}

class length_fits_test : public testing::TestWithParam<std::uint32_t> {};

TEST_P(length_fits_test, demands_a_full_first_and_middle_a_last_with_a_byte_and_nothing_longer) {
    const std::uint32_t mtu = GetParam();
    const std::size_t lengths[] = {0, 1, mtu - 1, mtu, mtu + 1, 4 * mtu};
    const bool full[] = {false, false, false, true, false, false};
    const bool some[] = {false, true, true, true, false, false};
    const bool any[] = {true, true, true, true, false, false};
    for (std::size_t i = 0; i < std::size(lengths); ++i) {
        EXPECT_EQ(length_fits(first, lengths[i], mtu), full[i]) << lengths[i];
        EXPECT_EQ(length_fits(middle, lengths[i], mtu), full[i]) << lengths[i];
        EXPECT_EQ(length_fits(last, lengths[i], mtu), some[i]) << lengths[i];
        EXPECT_EQ(length_fits(only, lengths[i], mtu), any[i]) << lengths[i];
    }
}

INSTANTIATE_TEST_SUITE_P(mtus, length_fits_test, testing::Values(256, 512, 1024, 2048, 4096));

} // namespace
} // namespace rocio::transport

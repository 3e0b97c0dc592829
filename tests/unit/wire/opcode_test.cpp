#include <rocio/wire/opcode.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <string_view>

namespace {

using namespace rocio;
using wire::opcode;
using wire::operation;

/// One row of the standard's opcode table. `place` is first, middle, last or only; `headers` names the
/// extension headers in wire order: D = DETH, R = RETH, A = AETH, X = AtomicETH, Y = AtomicAckETH, I = ImmDt,
/// V = IETH.
struct row {
    unsigned code;
    std::string_view name;
    operation what;
    std::string_view place;
    std::string_view kind; // request or response
    std::string_view headers;
    unsigned extension_bytes;
    bool payload;
};

constexpr row rows[] = {
    {0x00, "RC_SEND_FIRST", operation::send, "first", "request", "", 0, true},
    {0x01, "RC_SEND_MIDDLE", operation::send, "middle", "request", "", 0, true},
    {0x02, "RC_SEND_LAST", operation::send, "last", "request", "", 0, true},
    {0x03, "RC_SEND_LAST_WITH_IMMEDIATE", operation::send, "last", "request", "I", 4, true},
    {0x04, "RC_SEND_ONLY", operation::send, "only", "request", "", 0, true},
    {0x05, "RC_SEND_ONLY_WITH_IMMEDIATE", operation::send, "only", "request", "I", 4, true},
    {0x06, "RC_RDMA_WRITE_FIRST", operation::rdma_write, "first", "request", "R", 16, true},
    {0x07, "RC_RDMA_WRITE_MIDDLE", operation::rdma_write, "middle", "request", "", 0, true},
    {0x08, "RC_RDMA_WRITE_LAST", operation::rdma_write, "last", "request", "", 0, true},
    {0x09, "RC_RDMA_WRITE_LAST_WITH_IMMEDIATE", operation::rdma_write, "last", "request", "I", 4, true},
    {0x0a, "RC_RDMA_WRITE_ONLY", operation::rdma_write, "only", "request", "R", 16, true},
    {0x0b, "RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE", operation::rdma_write, "only", "request", "RI", 20, true},
    {0x0c, "RC_RDMA_READ_REQUEST", operation::read_request, "only", "request", "R", 16, false},
    {0x0d, "RC_RDMA_READ_RESPONSE_FIRST", operation::read_response, "first", "response", "A", 4, true},
    {0x0e, "RC_RDMA_READ_RESPONSE_MIDDLE", operation::read_response, "middle", "response", "", 0, true},
    {0x0f, "RC_RDMA_READ_RESPONSE_LAST", operation::read_response, "last", "response", "A", 4, true},
    {0x10, "RC_RDMA_READ_RESPONSE_ONLY", operation::read_response, "only", "response", "A", 4, true},
    {0x11, "RC_ACKNOWLEDGE", operation::acknowledge, "only", "response", "A", 4, false},
    {0x12, "RC_ATOMIC_ACKNOWLEDGE", operation::atomic_acknowledge, "only", "response", "AY", 12, false},
    {0x13, "RC_COMPARE_SWAP", operation::compare_swap, "only", "request", "X", 28, false},
    {0x14, "RC_FETCH_ADD", operation::fetch_add, "only", "request", "X", 28, false},
    {0x16, "RC_SEND_LAST_WITH_INVALIDATE", operation::send, "last", "request", "V", 4, true},
    {0x17, "RC_SEND_ONLY_WITH_INVALIDATE", operation::send, "only", "request", "V", 4, true},
    {0x20, "UC_SEND_FIRST", operation::send, "first", "request", "", 0, true},
    {0x21, "UC_SEND_MIDDLE", operation::send, "middle", "request", "", 0, true},
    {0x22, "UC_SEND_LAST", operation::send, "last", "request", "", 0, true},
    {0x23, "UC_SEND_LAST_WITH_IMMEDIATE", operation::send, "last", "request", "I", 4, true},
    {0x24, "UC_SEND_ONLY", operation::send, "only", "request", "", 0, true},
    {0x25, "UC_SEND_ONLY_WITH_IMMEDIATE", operation::send, "only", "request", "I", 4, true},
    {0x26, "UC_RDMA_WRITE_FIRST", operation::rdma_write, "first", "request", "R", 16, true},
    {0x27, "UC_RDMA_WRITE_MIDDLE", operation::rdma_write, "middle", "request", "", 0, true},
    {0x28, "UC_RDMA_WRITE_LAST", operation::rdma_write, "last", "request", "", 0, true},
    {0x29, "UC_RDMA_WRITE_LAST_WITH_IMMEDIATE", operation::rdma_write, "last", "request", "I", 4, true},
    {0x2a, "UC_RDMA_WRITE_ONLY", operation::rdma_write, "only", "request", "R", 16, true},
    {0x2b, "UC_RDMA_WRITE_ONLY_WITH_IMMEDIATE", operation::rdma_write, "only", "request", "RI", 20, true},
    {0x64, "UD_SEND_ONLY", operation::send, "only", "request", "D", 8, true},
    {0x65, "UD_SEND_ONLY_WITH_IMMEDIATE", operation::send, "only", "request", "DI", 12, true},
};

std::string place_of(opcode op) {
    if (op.starts()) return op.ends() ? "only" : "first";
    return op.ends() ? "last" : "middle";
}

std::string headers_of(opcode op) {
    std::string text;
    if (op.has_deth()) text += 'D';
    if (op.has_reth()) text += 'R';
    if (op.has_aeth()) text += 'A';
    if (op.has_atomic_eth()) text += 'X';
    if (op.has_atomic_ack_eth()) text += 'Y';
    if (op.has_immediate()) text += 'I';
    if (op.has_ieth()) text += 'V';
    return text;
}

const row* row_of(unsigned code) {
    const auto found = std::ranges::find(rows, code, &row::code);
    return found == std::end(rows) ? nullptr : found;
}

void expect_like(opcode op, const row& r) {
    SCOPED_TRACE(r.name);
    EXPECT_TRUE(op.known());
    EXPECT_EQ(op.name(), r.name);
    EXPECT_EQ(op.what(), r.what);
    EXPECT_EQ(place_of(op), r.place);
    EXPECT_EQ(op.is_request(), r.kind == "request");
    EXPECT_EQ(headers_of(op), r.headers);
    EXPECT_EQ(op.extension_size(), r.extension_bytes);
    EXPECT_EQ(op.has_payload(), r.payload);
}

void expect_unknown(opcode op) {
    SCOPED_TRACE(unsigned{op.value()});
    EXPECT_FALSE(op.known());
    EXPECT_EQ(op.name(), "unknown");
    EXPECT_EQ(op.what(), operation::unknown);
    EXPECT_FALSE(op.starts() || op.ends() || op.is_request() || op.has_payload());
    EXPECT_EQ(headers_of(op), "");
    EXPECT_EQ(op.extension_size(), 0U);
}

TEST(opcode, all_256_codes_are_as_the_standard_says) {
    for (unsigned code = 0; code < 256; ++code) {
        const opcode op{static_cast<std::uint8_t>(code)};
        EXPECT_EQ(op.value(), code);
        if (const row* r = row_of(code)) {
            expect_like(op, *r);
        } else {
            expect_unknown(op);
        }
    }
}

TEST(opcode, the_service_is_in_the_upper_three_bits) {
    EXPECT_EQ(opcode{0x04}.type(), wire::service::rc);
    EXPECT_EQ(opcode{0x24}.type(), wire::service::uc);
    EXPECT_EQ(opcode{0x44}.type(), wire::service::rd);
    EXPECT_EQ(opcode{0x64}.type(), wire::service::ud);
    EXPECT_EQ(opcode{0x81}.type(), wire::service::cnp);
}

TEST(opcode, the_named_constants_are_their_rows) {
    using namespace wire::rc;
    constexpr std::array constants = {
        send_first,
        send_middle,
        send_last,
        send_last_with_immediate,
        send_only,
        send_only_with_immediate,
        write_first,
        write_middle,
        write_last,
        write_last_with_immediate,
        write_only,
        write_only_with_immediate,
        read_request,
        read_response_first,
        read_response_middle,
        read_response_last,
        read_response_only,
        acknowledge,
        atomic_acknowledge,
        compare_swap,
        fetch_add,
    };
    for (unsigned code = 0; code < constants.size(); ++code) EXPECT_EQ(constants[code].value(), code);
    EXPECT_EQ(write_only_with_immediate.name(), "RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE");
    EXPECT_EQ(read_response_only.name(), "RC_RDMA_READ_RESPONSE_ONLY");
    EXPECT_EQ(fetch_add.name(), "RC_FETCH_ADD");
}

TEST(opcode, a_default_made_one_is_rc_send_first_and_equality_is_by_code) {
    EXPECT_EQ(opcode{}, wire::rc::send_first);
    EXPECT_NE(wire::rc::send_only, opcode{0x24});
}

} // namespace

#include "socket_pair_of_ends.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

// Every operation between two devices over sockets.

namespace rocio {
namespace {

using test::connect_ends;
using test::drive;
using test::holds_message;
using test::open_soft;
using test::open_to_peer;
using test::soft_end;
using test::unreliable;

/// 4.3 s: what is sent twice was lost, not late.
constexpr ack_timeout patient{20};
constexpr std::uint32_t slot_bytes = 40'000;

const std::vector<std::uint32_t> sizes{0, 1, 3, 4, 4'095, 4'096, 4'097, 8'192, 8'193, slot_bytes};

struct operation {
    const char* name;
    queue_pair_type type;
    opcode op;
};

class SoftOperation : public ::testing::TestWithParam<operation> {
  protected:
    static test::soft_end_options options() {
        const test::soft_end_options o{.slot_bytes = slot_bytes, .timeout = patient};
        return GetParam().type == queue_pair_type::uc ? unreliable(o) : open_to_peer(o);
    }
    bool takes_receive() const {
        return GetParam().op != opcode::rdma_write && GetParam().op != opcode::rdma_read;
    }
    bool is_read() const { return GetParam().op == opcode::rdma_read; }

    soft_end a{open_soft("127.30.4.1"), options()}, b{open_soft("127.30.4.2"), options()};
};

TEST_P(SoftOperation, CarriesEverySizeBothWays) {
    connect_ends(a, b);
    const auto count = static_cast<std::uint32_t>(sizes.size());
    for (soft_end* e : {&a, &b}) {
        if (takes_receive()) e->post_receives(0, count);
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint32_t seed = (e == &a ? 0 : 100) + i;
            test::fill_message(e->slot((is_read() ? 50 : 128) + i), seed);
        }
    }
    for (const auto& [from, to] : {std::pair{&a, &b}, {&b, &a}})
        for (std::uint32_t i = 0; i < count; ++i)
            ASSERT_EQ(from->post(from->make_rdma(GetParam().op, 128 + i, sizes[i], *to, 50 + i, 7 + i)),
                      errc::success);
    const std::size_t arrivals = takes_receive() ? count : 0;
    ASSERT_TRUE(drive({&a, &b}, [&] {
        return a.sent().size() == count && b.sent().size() == count && a.received().size() == arrivals &&
               b.received().size() == arrivals;
    }));
    // A plain WRITE over UC tells nobody; a turn of each side brings in what is on its way.
    for (int i = 0; i < 3; ++i)
        for (soft_end* e : {&a, &b}) e->turn(std::chrono::steady_clock::now());

    for (const auto& [from, to] : {std::pair{&a, &b}, {&b, &a}}) {
        for (std::uint32_t i = 0; i < count; ++i) {
            EXPECT_EQ(from->sent()[i].status, errc::success);
            EXPECT_EQ(from->sent()[i].id.slot, 128 + i);
            EXPECT_EQ(from->sent()[i].byte_len, is_read() ? sizes[i] : 0);
            const std::uint32_t seed = (from == &a) != is_read() ? i : 100 + i;
            const bool send = GetParam().op == opcode::send || GetParam().op == opcode::send_with_immediate;
            const auto where = is_read() ? from->slot(128 + i) : to->slot(send ? i : 50 + i);
            EXPECT_TRUE(holds_message(where.first(sizes[i]), seed)) << sizes[i];
            if (!takes_receive()) continue;
            const auto& c = to->received()[i];
            EXPECT_EQ(c.byte_len, sizes[i]);
            EXPECT_EQ(c.has_immediate, GetParam().op != opcode::send);
            EXPECT_EQ(c.immediate, GetParam().op != opcode::send ? 7 + i : 0);
        }
        EXPECT_EQ(from->counters().retransmits, 0U);
        EXPECT_EQ(from->counters().psns_missed, 0U);
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, SoftOperation,
    ::testing::Values(
        operation{"rc_send", queue_pair_type::rc, opcode::send},
        operation{"rc_send_with_immediate", queue_pair_type::rc, opcode::send_with_immediate},
        operation{"rc_write", queue_pair_type::rc, opcode::rdma_write},
        operation{"rc_write_with_immediate", queue_pair_type::rc, opcode::rdma_write_with_immediate},
        operation{"rc_read", queue_pair_type::rc, opcode::rdma_read},
        operation{"uc_send", queue_pair_type::uc, opcode::send},
        operation{"uc_send_with_immediate", queue_pair_type::uc, opcode::send_with_immediate},
        operation{"uc_write", queue_pair_type::uc, opcode::rdma_write},
        operation{"uc_write_with_immediate", queue_pair_type::uc, opcode::rdma_write_with_immediate}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(SoftRdmaSockets, LongReadsAndWritesNeverOverrunASocket) {
    const auto options = open_to_peer({.slots = 130, .slot_bytes = 1 << 20, .timeout = patient});
    soft_end a(open_soft("127.30.4.3"), options), b(open_soft("127.30.4.4"), options);
    connect_ends(a, b);
    for (std::uint32_t i = 0; i < 8; ++i) {
        test::fill_message(b.slot(i), i);
        ASSERT_EQ(a.post(a.make_rdma(opcode::rdma_read, 20 + i, 1 << 20, b, i)), errc::success);
    }
    ASSERT_TRUE(drive({&a, &b}, [&] { return a.sent().size() == 8; }));
    for (std::uint32_t i = 0; i < 8; ++i)
        ASSERT_EQ(a.post(a.make_rdma(opcode::rdma_write, 20 + i, 1 << 20, b, 40 + i)), errc::success);
    ASSERT_TRUE(drive({&a, &b}, [&] { return a.sent().size() == 16; }));
    for (std::uint32_t i = 0; i < 8; ++i) {
        EXPECT_TRUE(holds_message(a.slot(20 + i), i));
        EXPECT_TRUE(holds_message(b.slot(40 + i), i)) << "there and back";
    }
    EXPECT_EQ(a.counters().retransmits + b.counters().retransmits, 0U);
    EXPECT_EQ(a.counter("drops.socket_overflow") + b.counter("drops.socket_overflow"), 0U);
}

TEST(SoftRdmaSockets, APollingReceiverKeepsUpWithAnUnreliableSender) {
    const auto options = unreliable({.slot_bytes = 4'096});
    soft_end a(open_soft("127.30.4.5"), options), b(open_soft("127.30.4.6"), options);
    connect_ends(a, b);
    constexpr std::uint32_t messages = 20'000;
    b.post_receives(0, 128);
    std::uint32_t posted = 0, checked = 0;
    ASSERT_TRUE(drive({&a, &b}, [&] {
        for (; posted < messages && posted < a.sent().size() + 100; ++posted)
            EXPECT_EQ(a.post(a.make_rdma(opcode::rdma_write_with_immediate, 128 + posted % 64, 4'096, b,
                                         128 + posted % 64, posted)),
                      errc::success);
        for (; checked < b.received().size(); ++checked) {
            EXPECT_EQ(b.received()[checked].immediate, checked);
            EXPECT_EQ(b.post_receive(b.received()[checked].id.slot), errc::success);
        }
        return ::testing::Test::HasFailure() || checked == messages;
    })) << checked;
    EXPECT_EQ(b.counter("drops.socket_overflow"), 0U);
    EXPECT_EQ(b.counters().psns_missed, 0U);
}

TEST(SoftRdmaSockets, RecoverFromEveryKindOfFault) {
    const fault_plan plan{
        .drop = 0.02, .duplicate = 0.02, .reorder = 0.02, .delay = 0.01, .corrupt = 0.02, .seed = 5};
    const auto options = open_to_peer({.slot_bytes = 20'000});
    soft_end a(open_soft("127.30.4.7", plan), options), b(open_soft("127.30.4.8", plan), options);
    connect_ends(a, b);
    constexpr std::uint32_t messages = 600;
    std::uint32_t posted = 0;
    for (std::uint32_t i = 0; i < 64; ++i) test::fill_message(b.slot(i), 9'000 + i);
    ASSERT_TRUE(drive({&a, &b}, [&] {
        for (; posted < messages && posted < a.sent().size() + 50; ++posted) {
            const std::uint32_t i = 128 + posted % 64;
            const bool read = posted % 2 == 1;
            if (!read) test::fill_message(a.slot(i), posted);
            EXPECT_EQ(a.post(a.make_rdma(read ? opcode::rdma_read : opcode::rdma_write, i,
                                         1 + posted * 31 % 20'000, b, read ? posted % 64 : i)),
                      errc::success);
        }
        return a.sent().size() == messages;
    }));
    for (std::uint32_t n = messages - 50; n < messages; ++n) {
        const std::uint32_t size = 1 + n * 31 % 20'000, i = 128 + n % 64;
        const bool read = n % 2 == 1;
        EXPECT_TRUE(holds_message((read ? a : b).slot(i).first(size), read ? 9'000 + n % 64 : n)) << n;
    }
    for (const auto& c : a.sent()) ASSERT_EQ(c.status, errc::success);
    EXPECT_GT(a.counters().retransmits, 0U);
}

} // namespace
} // namespace rocio

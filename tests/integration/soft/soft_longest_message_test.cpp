#include "soak_count.hpp"
#include "socket_pair_of_ends.hpp"

#include <gtest/gtest.h>

#include <algorithm>

// One long message, there and back: --count N MiB. The full count, 1024, is the longest message there is.

namespace rocio {
namespace {

using test::drive;
using test::holds_message;
using test::open_soft;
using test::soft_end;

TEST(SoftLongestMessage, IsWrittenAndReadBackWhole) {
    const auto size = static_cast<std::uint32_t>(std::min(test::soak_count(), 1024UL)) << 20;
    const auto options =
        test::open_to_peer({.slots = 1, .slot_bytes = size, .depth = 4, .timeout = ack_timeout{20}});
    soft_end a(open_soft("127.30.4.9"), options), b(open_soft("127.30.4.10"), options);
    test::connect_ends(a, b);
    constexpr std::chrono::seconds patience(300);
    test::fill_message(a.slot(0), 1);
    ASSERT_EQ(a.post(a.make_rdma(opcode::rdma_write, 0, size, b, 0)), errc::success);
    ASSERT_TRUE(drive(
        {&a, &b}, [&] { return a.sent().size() == 1; }, patience));
    EXPECT_EQ(a.sent()[0].status, errc::success);
    EXPECT_TRUE(holds_message(b.slot(0), 1));

    test::fill_message(b.slot(0), 2);
    ASSERT_EQ(a.post(a.make_rdma(opcode::rdma_read, 0, size, b, 0)), errc::success);
    ASSERT_TRUE(drive(
        {&a, &b}, [&] { return a.sent().size() == 2; }, patience));
    EXPECT_EQ(a.sent()[1].status, errc::success);
    EXPECT_EQ(a.sent()[1].byte_len, size);
    EXPECT_TRUE(holds_message(a.slot(0), 2));
}

} // namespace
} // namespace rocio

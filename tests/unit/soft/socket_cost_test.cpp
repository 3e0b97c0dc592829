#include "soft/socket_cost.hpp"

#include <gtest/gtest.h>

#include <tuple>
#include <utility>

namespace rocio::soft {
namespace {

constexpr std::uint32_t packet(std::uint32_t payload) {
    return 16 + payload + 4;
} // BTH, immediate, ICRC

TEST(SocketCost, DefaultBufferHolds24DatagramsOf4KiB) {
    EXPECT_EQ(default_receive_buffer / socket_cost(packet(4096)), 24U);
}

/// skb->truesize as the kernel showed it (SK_MEMINFO_RMEM_ALLOC after one datagram).
class Measured : public ::testing::TestWithParam<std::tuple<std::uint32_t, std::uint32_t>> {};

TEST_P(Measured, CostIsNeverBelowWhatTheKernelTakes) {
    const auto [bytes, truesize] = GetParam();
    EXPECT_GE(socket_cost(bytes), truesize);
    EXPECT_LE(socket_cost(bytes), truesize * 2 + 320);
}

INSTANTIATE_TEST_SUITE_P(Linux618, Measured,
                         ::testing::Values(std::tuple{0U, 832U}, std::tuple{20U, 832U},
                                           std::tuple{199U, 832U}, std::tuple{200U, 1280U},
                                           std::tuple{647U, 1280U}, std::tuple{648U, 2304U},
                                           std::tuple{1671U, 2304U}, std::tuple{1672U, 4352U},
                                           std::tuple{3719U, 4352U}, std::tuple{3720U, 8448U},
                                           std::tuple{4116U, 8448U}, std::tuple{7815U, 8448U},
                                           std::tuple{7816U, 16640U}));

/// What the kernel showed of one datagram in a train of 13, taken apart for a socket without UDP_GRO.
TEST(SocketCost, CoversADatagramOfATrainThatIsTakenApart) {
    for (const auto& [bytes, truesize] :
         {std::pair{80U, 912U}, std::pair{600U, 1432U}, std::pair{1056U, 1888U}, std::pair{4116U, 4948U}})
        EXPECT_EQ(train_cost(bytes), truesize);
}

TEST(SocketCost, NeverFallsWithTheLength) {
    for (std::uint32_t n = 1; n < 9'216; ++n) ASSERT_GE(socket_cost(n), socket_cost(n - 1)) << n;
}

} // namespace
} // namespace rocio::soft

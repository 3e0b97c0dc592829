#include "soft/udp_receiver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>

#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace rocio::soft {
namespace {

#ifndef UDP_GRO
constexpr int UDP_GRO = 104;
#endif

/// A socket on loopback that sends to another one, which a udp_receiver reads.
struct UdpReceiver : ::testing::Test {
    UdpReceiver() {
        sockaddr_in own{};
        own.sin_family = AF_INET;
        own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof own;
        EXPECT_EQ(::bind(reader, reinterpret_cast<sockaddr*>(&own), size), 0);
        EXPECT_EQ(::getsockname(reader, reinterpret_cast<sockaddr*>(&own), &size), 0);
        EXPECT_EQ(::connect(writer, reinterpret_cast<sockaddr*>(&own), size), 0);
    }
    ~UdpReceiver() override {
        ::close(reader);
        ::close(writer);
    }

    void send(int datagrams) const {
        for (int i = 0; i < datagrams; ++i) EXPECT_EQ(::send(writer, "data", 4, 0), 4);
    }
    std::size_t receive() { return receiver.receive(out); }
    /// Whether it takes bursts now: only then trains are asked for.
    bool in_burst() const {
        int on = 0;
        socklen_t size = sizeof on;
        EXPECT_EQ(::getsockopt(reader, IPPROTO_UDP, UDP_GRO, &on, &size), 0);
        return on != 0;
    }
    /// As where both ends work all the time: no look is empty. Gives how often the mode changed.
    int receive_without_pause(int datagrams) {
        int changes = 0;
        for (bool before = in_burst(); datagrams != 0; --datagrams) {
            send(1);
            EXPECT_EQ(receive(), 1U);
            changes += std::exchange(before, in_burst()) != before;
        }
        return changes;
    }
    /// A message, its acknowledgement, and nothing more for a while.
    int receive_in_pairs(int pairs) {
        int changes = 0;
        for (; pairs != 0; --pairs) {
            changes += receive_without_pause(2);
            const bool before = in_burst();
            EXPECT_EQ(receive(), 0U);
            changes += in_burst() != before;
        }
        return changes;
    }
    void receive_all(std::size_t datagrams) {
        while (datagrams != 0) {
            const std::size_t n = receive();
            ASSERT_NE(n, 0U);
            datagrams -= n;
        }
    }

    int reader = ::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int writer = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    udp_receiver receiver{reader};
    std::array<received_datagram, 16> out{};
};

TEST_F(UdpReceiver, ABacklogIsTakenInBursts) {
    send(16);
    std::size_t most = 0;
    for (std::size_t left = 16; left != 0;) {
        const std::size_t n = receive();
        ASSERT_NE(n, 0U);
        most = std::max(most, n);
        left -= n;
    }
    EXPECT_GT(most, 1U);
}

TEST_F(UdpReceiver, TheModeDoesNotChangeToAndFroWithoutAPause) {
    EXPECT_LE(receive_without_pause(1'000), 1);
}

TEST_F(UdpReceiver, ABurstEndsWhereverItBeganInAPair) {
    for (const int before : {20, 21, 22, 23}) {
        receive_without_pause(before);
        EXPECT_LE(receive_in_pairs(200), 2) << before;
        EXPECT_FALSE(in_burst()) << before;
    }
}

TEST_F(UdpReceiver, OneBacklogAmongMessagesDoesNotMakeABurstPay) {
    for (int round = 0; round < 5; ++round) {
        receive_without_pause(20);
        if (in_burst()) {
            send(3);
            receive_all(3);
        }
        receive_in_pairs(10);
        receive_without_pause(1); // a lone one argues against bursts
        EXPECT_EQ(receive(), 0U);
    }
    receive_without_pause(20);
    EXPECT_FALSE(in_burst());
}

TEST_F(UdpReceiver, ABurstThatPaidIsTakenUpSoon) {
    for (int round = 0; round < 5; ++round) {
        receive_without_pause(1'000);
        receive_in_pairs(10);
    }
    receive_without_pause(10'000);
    ASSERT_TRUE(in_burst());
    for (int round = 0; round < 11'000; ++round) {
        send(12);
        receive_all(12);
    }
    receive_in_pairs(5);
    ASSERT_FALSE(in_burst());
    receive_without_pause(12);
    EXPECT_TRUE(in_burst());
}

} // namespace
} // namespace rocio::soft

#include "soft/socket_address.hpp"
#include "soft/unique_fd.hpp"

#include <gtest/gtest.h>

#include <array>
#include <utility>

#include <arpa/inet.h>
#include <fcntl.h>
#include <unistd.h>

namespace rocio::soft {
namespace {

TEST(SocketAddress, HoldsAddressAndPortInNetworkOrder) {
    const socket_address a = to_socket_address(gid::from_v4({127, 30, 2, 1}), 4791);
    EXPECT_EQ(a.v4.sin_family, AF_INET);
    EXPECT_EQ(a.v4.sin_port, htons(4791));
    EXPECT_EQ(port_of(a), 4791);
    EXPECT_EQ(size_of(a), sizeof(sockaddr_in));
    std::array<char, INET_ADDRSTRLEN> text{};
    ASSERT_NE(inet_ntop(AF_INET, &a.v4.sin_addr, text.data(), text.size()), nullptr);
    EXPECT_STREQ(text.data(), "127.30.2.1");
}

TEST(SocketAddress, HoldsAnIpv6Address) {
    const socket_address a = to_socket_address(*gid::parse("2001:db8::7"), 4791, 3);
    EXPECT_EQ(a.v6.sin6_family, AF_INET6);
    EXPECT_EQ(port_of(a), 4791);
    EXPECT_EQ(size_of(a), sizeof(sockaddr_in6));
    EXPECT_EQ(a.v6.sin6_scope_id, 0U) << "only link-local addresses have one";
    std::array<char, INET6_ADDRSTRLEN> text{};
    ASSERT_NE(inet_ntop(AF_INET6, &a.v6.sin6_addr, text.data(), text.size()), nullptr);
    EXPECT_STREQ(text.data(), "2001:db8::7");
    EXPECT_EQ(to_socket_address(*gid::parse("fe80::1"), 1, 3).v6.sin6_scope_id, 3U);
    EXPECT_EQ(gid_of(a), *gid::parse("2001:db8::7"));
}

TEST(SocketAddress, GivesBackTheGid) {
    for (const gid::v4_bytes& bytes :
         {gid::v4_bytes{0, 0, 0, 0}, gid::v4_bytes{10, 0, 0, 1}, gid::v4_bytes{255, 254, 253, 252}}) {
        const gid original = gid::from_v4(bytes);
        EXPECT_EQ(gid_of(to_socket_address(original, 1)), original);
        EXPECT_TRUE(gid_of(to_socket_address(original, 1)).is_v4_mapped());
    }
}

bool is_open(int fd) {
    return ::fcntl(fd, F_GETFD) >= 0;
}

TEST(UniqueFd, ClosesOnceWhatItOwns) {
    int raw = -1;
    {
        unique_fd first(::dup(0));
        raw = first.get();
        ASSERT_TRUE(is_open(raw));
        unique_fd second(std::move(first));
        EXPECT_EQ(first.get(), -1);
        EXPECT_EQ(second.get(), raw);
        unique_fd third;
        third = std::move(second);
        EXPECT_TRUE(is_open(raw));
    }
    EXPECT_FALSE(is_open(raw));
}

} // namespace
} // namespace rocio::soft

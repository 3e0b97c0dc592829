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
    const sockaddr_in a = to_sockaddr(gid::from_v4({127, 30, 2, 1}), 4791);
    EXPECT_EQ(a.sin_family, AF_INET);
    EXPECT_EQ(a.sin_port, htons(4791));
    std::array<char, INET_ADDRSTRLEN> text{};
    ASSERT_NE(inet_ntop(AF_INET, &a.sin_addr, text.data(), text.size()), nullptr);
    EXPECT_STREQ(text.data(), "127.30.2.1");
}

TEST(SocketAddress, GivesBackTheGid) {
    for (const gid::v4_bytes& bytes :
         {gid::v4_bytes{0, 0, 0, 0}, gid::v4_bytes{10, 0, 0, 1}, gid::v4_bytes{255, 254, 253, 252}}) {
        const gid original = gid::from_v4(bytes);
        EXPECT_EQ(gid_of(to_sockaddr(original, 1)), original);
        EXPECT_TRUE(gid_of(to_sockaddr(original, 1)).is_v4_mapped());
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

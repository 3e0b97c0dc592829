// Addresses of the seam as rdma_cm's socket addresses, and back.

#include "verbs/cm_address.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include <arpa/inet.h>

namespace rocio::verbs {
namespace {

void expect_same(const cm_endpoint& a, const cm_endpoint& b) {
    EXPECT_EQ(a.address, b.address);
    EXPECT_EQ(a.port, b.port);
    EXPECT_EQ(a.scope, b.scope);
}

TEST(CmAddress, GoesThereAndBack) {
    const cm_endpoint all[]{{gid::parse("10.1.2.3").value(), 4000},
                            {gid::from_v4({0, 0, 0, 0}), 0},
                            {gid::from_v4({255, 255, 255, 255}), 65535},
                            {gid::parse("fd00::1:2").value(), 1},
                            {gid(), 4000},
                            {gid::parse("fe80::1").value(), 258, 7}};
    for (const auto& endpoint : all) {
        const auto address = address_of(endpoint);
        expect_same(endpoint_of(&address.any), endpoint);
    }
}

TEST(CmAddress, OfIpv4IsInNetworkOrder) {
    const auto a = address_of({gid::parse("10.1.2.3").value(), 0x1234, 9});
    EXPECT_EQ(a.any.sa_family, AF_INET);
    EXPECT_EQ(ntohs(a.v4.sin_port), 0x1234);
    EXPECT_EQ(ntohl(a.v4.sin_addr.s_addr), 0x0A010203U);
}

TEST(CmAddress, OfIpv6CarriesItsScope) {
    const auto a = address_of({gid::parse("fe80::ab").value(), 0x1234, 9});
    EXPECT_EQ(a.any.sa_family, AF_INET6);
    EXPECT_EQ(ntohs(a.v6.sin6_port), 0x1234);
    EXPECT_EQ(a.v6.sin6_scope_id, 9U);
    in6_addr expected{};
    ASSERT_EQ(inet_pton(AF_INET6, "fe80::ab", &expected), 1);
    EXPECT_EQ(std::memcmp(&a.v6.sin6_addr, &expected, sizeof expected), 0);
}

TEST(CmAddress, AnyAddressKeepsItsFamily) {
    EXPECT_EQ(address_of({gid::from_v4({0, 0, 0, 0}), 1}).any.sa_family, AF_INET);
    EXPECT_EQ(address_of({gid(), 1}).any.sa_family, AF_INET6);
}

TEST(CmAddress, OfNothingAndOfOtherFamiliesIsNone) {
    expect_same(endpoint_of(nullptr), {});
    sockaddr unix_socket{};
    unix_socket.sa_family = AF_UNIX;
    expect_same(endpoint_of(&unix_socket), {});
}

TEST(CmAddress, AsText) {
    EXPECT_EQ(text_of({gid::parse("10.0.0.1").value(), 4000}), "10.0.0.1:4000");
    EXPECT_EQ(text_of({gid::parse("fd00::1").value(), 4000}), "[fd00::1]:4000");
}

} // namespace
} // namespace rocio::verbs

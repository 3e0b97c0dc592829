#include "verbs/interface_prefixes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace rocio::verbs {
namespace {

ibv_gid_entry native_entry(std::string_view address, std::uint32_t index, std::uint32_t type) {
    ibv_gid_entry out{};
    const auto value = gid::parse(address).value();
    std::memcpy(out.gid.raw, value.bytes().data(), sizeof out.gid.raw);
    out.gid_index = index;
    out.port_num = 1;
    out.gid_type = type;
    return out;
}

const std::vector<interface_prefix> prefixes{
    {gid::parse("10.0.0.1").value(), "eth1", 16},
    {gid::parse("10.0.0.1").value(), "eth0", 20},
    {gid::parse("fe80::1").value(), "eth0", 64},
    {gid::parse("fd00::1").value(), "eth0", 48},
};

TEST(GidEntry, CarriesIndexAddressTypeAndInterface) {
    const auto out = entry_of(native_entry("10.0.0.1", 255, IBV_GID_TYPE_ROCE_V2), "eth0", prefixes);
    EXPECT_EQ(out.index, 255U);
    EXPECT_EQ(out.value, gid::from_v4({10, 0, 0, 1}));
    EXPECT_EQ(out.type, gid_type::roce_v2);
    EXPECT_EQ(out.netdev, "eth0");
}

TEST(GidEntry, EveryTypeIsTold) {
    EXPECT_EQ(entry_of(native_entry("10.0.0.1", 0, IBV_GID_TYPE_ROCE_V1), "", {}).type, gid_type::roce_v1);
    EXPECT_EQ(entry_of(native_entry("10.0.0.1", 0, IBV_GID_TYPE_ROCE_V2), "", {}).type, gid_type::roce_v2);
    EXPECT_EQ(entry_of(native_entry("fe80::1", 0, IBV_GID_TYPE_IB), "", {}).type, gid_type::infiniband);
    EXPECT_EQ(entry_of(native_entry("fe80::1", 0, 99), "", {}).type, gid_type::infiniband);
}

TEST(GidEntry, ThePrefixIsThatOfTheSameAddressOnTheSameInterface) {
    const auto prefix = [](std::string_view address, const char* netdev) {
        return entry_of(native_entry(address, 0, IBV_GID_TYPE_ROCE_V2), netdev, prefixes).prefix;
    };
    EXPECT_EQ(prefix("10.0.0.1", "eth0"), 20U);
    EXPECT_EQ(prefix("10.0.0.1", "eth1"), 16U);
    EXPECT_EQ(prefix("10.0.0.1", "eth2"), std::nullopt);
    EXPECT_EQ(prefix("10.0.0.2", "eth0"), std::nullopt);
    EXPECT_EQ(prefix("fd00::1", "eth0"), 48U);
}

TEST(GidEntry, ATableWithHolesKeepsItsIndicesForTheChoice) {
    std::vector<gid_table_entry> table;
    for (const auto& native :
         {native_entry("fe80::1", 0, IBV_GID_TYPE_ROCE_V1), native_entry("fe80::1", 1, IBV_GID_TYPE_ROCE_V2),
          native_entry("10.0.0.1", 6, IBV_GID_TYPE_ROCE_V1),
          native_entry("10.0.0.1", 7, IBV_GID_TYPE_ROCE_V2)})
        table.push_back(entry_of(native, "eth0", prefixes));
    // 10.0.15.9 is in the interface's /20, not in the /24 that is assumed where nothing is known.
    const auto choice = choose_gid(table, {.index = {}, .peer = gid::from_v4({10, 0, 15, 9})});
    ASSERT_TRUE(choice.chosen) << choice.error.text;
    EXPECT_EQ(choice.chosen->index, 7U);
}

TEST(InterfacePrefixes, ThisMachineHasItsLoopback) {
    const auto all = interface_prefixes();
    const auto loopback = std::find_if(all.begin(), all.end(), [](const auto& p) {
        return p.address == gid::from_v4({127, 0, 0, 1});
    });
    ASSERT_NE(loopback, all.end());
    EXPECT_EQ(loopback->netdev, "lo");
    EXPECT_EQ(loopback->bits, 8U);
}

} // namespace
} // namespace rocio::verbs

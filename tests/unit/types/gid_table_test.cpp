#include <rocio/types/gid_table.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

using namespace rocio;
using testing::AllOf;
using testing::HasSubstr;

using table = std::vector<gid_table_entry>;

gid of(std::string_view text) {
    return gid::parse(text).value();
}

gid_table_entry v2(std::uint32_t index, std::string_view address, std::optional<unsigned> prefix = {}) {
    return {index, of(address), gid_type::roce_v2, "eth0", prefix};
}

gid_table_entry v1(std::uint32_t index, std::string_view address) {
    return {index, of(address), gid_type::roce_v1, "eth0", {}};
}

gid_table_entry hole(std::uint32_t index) {
    return {index, gid{}, gid_type::roce_v2, "", {}};
}

gid_choice choose(const table& t, std::optional<std::string_view> peer = {},
                  std::optional<std::uint32_t> index = {}) {
    gid_request request;
    request.index = index;
    if (peer) request.peer = of(*peer);
    return choose_gid(t, request);
}

std::optional<std::uint32_t> chosen_index(const gid_choice& choice) {
    EXPECT_EQ(choice.chosen.has_value(), !choice.error) << choice.error.message();
    if (!choice.chosen) return std::nullopt;
    return choice.chosen->index;
}

std::string reason_of(const gid_choice& choice, std::uint32_t index) {
    const auto found =
        std::ranges::find_if(choice.refused, [&](const gid_refusal& r) { return r.entry.index == index; });
    return found == choice.refused.end() ? "not refused" : found->reason;
}

TEST(choose_gid, finds_the_v2_entry_in_the_subnet_of_the_fpga) {
    const table t = {v1(0, "10.0.2.10"), v2(1, "fe80::1"), v2(2, "10.0.2.10")};
    const auto choice = choose(t, "10.0.2.50");
    EXPECT_EQ(chosen_index(choice), 2U);
    EXPECT_EQ(choice.refused.size(), 2U);
    EXPECT_EQ(reason_of(choice, 0), "RoCE v1, only RoCE v2 serves");
    EXPECT_EQ(reason_of(choice, 1), "IPv6, the peer has IPv4 address 10.0.2.50");
}

TEST(choose_gid, refuses_an_ipv4_entry_outside_the_subnet_of_the_fpga) {
    const auto choice = choose({v2(0, "192.168.1.5")}, "10.0.2.50");
    EXPECT_EQ(chosen_index(choice), std::nullopt);
    EXPECT_EQ(choice.error.code, errc::no_usable_gid);
    EXPECT_EQ(reason_of(choice, 0), "peer 10.0.2.50 is outside its /24 subnet");
    EXPECT_THAT(
        choice.error.text,
        AllOf(HasSubstr("no GID table entry serves for peer 10.0.2.50"),
              HasSubstr("index 0: 192.168.1.5 RoCE v2 on eth0 (peer 10.0.2.50 is outside its /24 subnet)"),
              HasSubstr("Give the interface an IPv4 address in the subnet of 10.0.2.50"),
              HasSubstr("name a RoCE v2 entry by its GID index")));
}

TEST(choose_gid, takes_the_v2_of_two_entries_with_one_address) {
    const auto choice = choose({v1(0, "10.0.0.2"), v2(1, "10.0.0.2")});
    EXPECT_EQ(chosen_index(choice), 1U);
    EXPECT_EQ(choice.chosen->type, gid_type::roce_v2);
}

TEST(choose_gid, says_so_when_all_entries_are_v1) {
    const auto choice = choose({v1(0, "fe80::1"), v1(1, "10.0.0.2")});
    EXPECT_EQ(chosen_index(choice), std::nullopt);
    EXPECT_EQ(choice.error.code, errc::no_usable_gid);
    EXPECT_THAT(choice.error.text,
                HasSubstr("index 1: 10.0.0.2 RoCE v1 on eth0 (RoCE v1, only RoCE v2 serves)"));
}

TEST(choose_gid, prefers_ipv4_to_link_local) {
    EXPECT_EQ(chosen_index(choose({v2(0, "fe80::1"), v2(1, "10.1.2.3")})), 1U);
}

TEST(choose_gid, prefers_unique_local_to_link_local) {
    const auto choice = choose({v2(0, "fe80::1"), v2(1, "fd93::1")});
    EXPECT_EQ(chosen_index(choice), 1U);
    EXPECT_EQ(reason_of(choice, 0), "link-local, serves only a link-local peer");
}

TEST(choose_gid, prefers_ipv4_to_global_ipv6_when_no_peer_is_known) {
    const auto choice =
        choose({v2(0, "2001:db8::1"), v2(1, "fe80::1"), v2(2, "10.1.2.3"), v2(3, "10.9.9.9")});
    EXPECT_EQ(chosen_index(choice), 2U);
    EXPECT_EQ(reason_of(choice, 0), "usable, index 2 is preferred");
    EXPECT_EQ(reason_of(choice, 3), "usable, index 2 is preferred");
}

TEST(choose_gid, takes_the_entry_of_the_peers_subnet_among_several) {
    const table t = {v2(3, "10.0.1.1"), v2(4, "10.0.2.1"), v2(5, "10.0.3.1")};
    EXPECT_EQ(chosen_index(choose(t, "10.0.2.200")), 4U);
    EXPECT_EQ(chosen_index(choose(t, "10.0.3.200")), 5U);
}

TEST(choose_gid, goes_by_the_prefix_of_the_interface) {
    EXPECT_EQ(chosen_index(choose({v2(0, "10.0.2.1", 16)}, "10.0.77.1")), 0U);
    EXPECT_EQ(chosen_index(choose({v2(0, "10.0.2.1", 30)}, "10.0.2.9")), std::nullopt);
    EXPECT_EQ(chosen_index(choose({v2(0, "127.0.0.2", 8)}, "127.9.9.9")), 0U);
    const auto choice = choose({v2(0, "10.0.2.1", 30)}, "10.0.2.9");
    EXPECT_EQ(reason_of(choice, 0), "peer 10.0.2.9 is outside its /30 subnet");
}

TEST(choose_gid, a_prefix_wider_than_the_address_means_the_address) {
    EXPECT_EQ(chosen_index(choose({v2(0, "10.0.2.1", 128)}, "10.0.2.1")), 0U);
    EXPECT_EQ(chosen_index(choose({v2(0, "10.0.2.1", 128)}, "10.0.2.2")), std::nullopt);
}

TEST(choose_gid, takes_the_lowest_index_of_equals_whatever_their_order) {
    EXPECT_EQ(chosen_index(choose({v2(7, "10.0.2.1"), v2(3, "10.0.2.2")}, "10.0.2.9")), 3U);
    EXPECT_EQ(chosen_index(choose({v2(3, "10.0.2.2"), v2(7, "10.0.2.1")}, "10.0.2.9")), 3U);
}

TEST(choose_gid, skips_holes) {
    const auto choice = choose({hole(0), v2(1, "0.0.0.0"), v2(2, "10.0.0.1"), hole(3)});
    EXPECT_EQ(chosen_index(choice), 2U);
    EXPECT_EQ(reason_of(choice, 0), "empty entry");
    EXPECT_EQ(reason_of(choice, 1), "empty entry");
    EXPECT_EQ(reason_of(choice, 3), "empty entry");
}

/// The layouts of two drivers with the same addresses: the choice follows the address, not the index.
TEST(choose_gid, finds_the_same_address_in_the_tables_of_different_drivers) {
    const table mlx5 = {v1(0, "fe80::1"), v2(1, "fe80::1"), v1(2, "10.0.0.7"), v2(3, "10.0.0.7")};
    const table irdma = {v2(0, "fe80::1"), v2(1, "10.0.0.7")};
    for (const auto& t : {mlx5, irdma}) {
        const auto choice = choose(t, "10.0.0.1");
        ASSERT_TRUE(choice.chosen.has_value());
        EXPECT_EQ(choice.chosen->value, of("10.0.0.7"));
        EXPECT_EQ(choice.chosen->type, gid_type::roce_v2);
    }
}

TEST(choose_gid, fails_with_the_table_when_only_link_local_is_there) {
    const auto choice = choose({v2(0, "fe80::1")}, "10.0.0.1");
    EXPECT_EQ(chosen_index(choice), std::nullopt);
    EXPECT_EQ(choice.error.code, errc::no_usable_gid);
    EXPECT_THAT(choice.error.text, HasSubstr("index 0: fe80::1 RoCE v2 on eth0"));
    EXPECT_EQ(choose({v2(0, "fe80::1")}).error.code, errc::no_usable_gid);
}

TEST(choose_gid, fails_on_an_empty_table) {
    const auto choice = choose({});
    EXPECT_EQ(choice.error.code, errc::no_usable_gid);
    EXPECT_THAT(choice.error.text, HasSubstr("The GID table is empty."));
}

TEST(choose_gid, an_ipv6_peer_gets_an_ipv6_entry_its_own_subnet_first) {
    const table t = {v2(0, "10.0.0.1"), v2(1, "fe80::1"), v2(2, "2001:db8:1::1"), v2(3, "fd00::1")};
    EXPECT_EQ(chosen_index(choose(t, "fd00::9")), 3U);
    EXPECT_EQ(chosen_index(choose(t, "2001:db8:1::9")), 2U);
    const auto routed = choose(t, "2001:db8:77::9");
    EXPECT_EQ(chosen_index(routed), 2U);
    EXPECT_EQ(reason_of(routed, 0), "IPv4, the peer has IPv6 address 2001:db8:77::9");
    EXPECT_EQ(reason_of(routed, 1), "link-local, the peer is not");
    EXPECT_EQ(reason_of(routed, 3), "usable, index 2 is preferred");
}

TEST(choose_gid, a_link_local_peer_gets_the_link_local_entry) {
    EXPECT_EQ(chosen_index(choose({v2(0, "fd00::1"), v2(1, "fe80::1")}, "fe80::9")), 1U);
}

TEST(choose_gid, an_index_asked_for_is_taken_though_others_rank_higher) {
    const table t = {v2(0, "fe80::1"), v2(1, "10.0.0.1"), v2(2, "10.0.1.1")};
    const auto choice = choose(t, {}, 0);
    EXPECT_EQ(chosen_index(choice), 0U);
    EXPECT_EQ(reason_of(choice, 1), "not the index asked for");
    EXPECT_EQ(chosen_index(choose(t, "10.0.0.9", 2)), 2U) << "the way to a peer behind a router";
}

TEST(choose_gid, an_index_outside_the_table_is_refused_with_the_table) {
    const auto choice = choose({v2(0, "10.0.0.1"), v1(1, "10.0.0.1")}, {}, 255);
    EXPECT_EQ(chosen_index(choice), std::nullopt);
    EXPECT_EQ(choice.error.code, errc::invalid_gid_index);
    EXPECT_THAT(choice.error.text, AllOf(HasSubstr("GID index 255 is outside the table"),
                                         HasSubstr("index 0: 10.0.0.1 RoCE v2 on eth0"),
                                         HasSubstr("index 1: 10.0.0.1 RoCE v1 on eth0")));
}

/// rdma_rxe reads empty entries without an error, so a zero GID must be noticed here.
TEST(choose_gid, an_index_whose_entry_is_empty_is_refused_by_its_number) {
    const auto choice = choose({v2(0, "10.0.0.1"), hole(5)}, {}, 5);
    EXPECT_EQ(chosen_index(choice), std::nullopt);
    EXPECT_EQ(choice.error.code, errc::invalid_gid_index);
    EXPECT_THAT(choice.error.text, HasSubstr("GID index 5 cannot be used: empty entry"));
}

TEST(choose_gid, an_index_of_a_v1_entry_is_refused) {
    const auto choice = choose({v1(0, "10.0.0.1"), v2(1, "10.0.0.1")}, {}, 0);
    EXPECT_EQ(chosen_index(choice), std::nullopt);
    EXPECT_EQ(choice.error.code, errc::no_usable_gid);
    EXPECT_THAT(choice.error.text, HasSubstr("GID index 0 cannot be used: RoCE v1, only RoCE v2 serves"));
}

TEST(choose_gid, an_index_of_the_other_address_family_is_refused) {
    const auto choice = choose({v2(0, "fd00::1"), v2(1, "10.0.0.1")}, "10.0.0.9", 0);
    EXPECT_EQ(choice.error.code, errc::no_usable_gid);
    EXPECT_THAT(choice.error.text, HasSubstr("IPv6, the peer has IPv4 address 10.0.0.9"));
}

TEST(choose_gid, every_entry_is_chosen_or_refused) {
    const table t = {v1(0, "10.0.0.1"), v2(1, "fe80::1"), hole(2), v2(3, "10.0.0.1"), v2(4, "10.0.0.2")};
    for (const auto& choice :
         {choose(t), choose(t, "10.0.0.9"), choose(t, "1.2.3.4"), choose(t, {}, 3), choose(t, {}, 9)}) {
        EXPECT_EQ(choice.refused.size() + (choice.chosen ? 1 : 0), t.size());
        for (const auto& r : choice.refused) EXPECT_FALSE(r.reason.empty());
    }
}

} // namespace

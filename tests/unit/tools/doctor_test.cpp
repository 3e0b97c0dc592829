#include "doctor/findings.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace {

using namespace rocio;
using namespace rocio::tools;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

gid_table_entry entry(std::uint32_t index, const char* address, unsigned prefix = 24) {
    return {index, *gid::parse(address), gid_type::roce_v2, "eth1", prefix};
}

/// A machine with a NIC where nothing is wrong.
system_facts healthy() {
    system_facts f;
    port_facts nic;
    nic.device = "mlx5_0";
    nic.kind = "verbs";
    nic.active = true;
    nic.active_mtu = mtu::b4096;
    nic.netdev = "eth1";
    nic.netdev_mtu = 9000;
    nic.gids = {entry(0, "fe80::1", 64), entry(1, "192.168.2.1")};
    f.ports = {nic};
    f.receive_buffer_default = f.receive_buffer_most = 212'992;
    return f;
}

std::vector<finding> of_level(const system_facts& facts, severity level) {
    auto all = examine(facts);
    std::erase_if(all, [&](const finding& f) { return f.level != level; });
    return all;
}

/// The only problem.
finding problem_of(const system_facts& facts) {
    const auto problems = of_level(facts, severity::problem);
    EXPECT_EQ(problems.size(), 1U);
    return problems.empty() ? finding{} : problems.front();
}

TEST(doctor, finds_nothing_wrong_with_a_healthy_machine) {
    EXPECT_TRUE(of_level(healthy(), severity::problem).empty());
    EXPECT_TRUE(of_level(healthy(), severity::note).empty());
    EXPECT_FALSE(of_level(healthy(), severity::ok).empty());
}

TEST(doctor, a_machine_without_system_devices_is_no_problem) {
    auto f = healthy();
    f.ports.front().kind = "soft";
    f.no_system_devices = "No RDMA devices found: modprobe rdma_rxe";
    f.limits.lockable = 65'536;
    EXPECT_TRUE(of_level(f, severity::problem).empty());
    EXPECT_EQ(of_level(f, severity::note).size(), 2U);
}

TEST(doctor, locked_memory_that_a_capability_allows_is_no_problem) {
    auto f = healthy();
    f.limits.lockable = 65'536;
    EXPECT_EQ(problem_of(f).subject, "memlock");
    f.limits.may_lock_more = true;
    EXPECT_TRUE(of_level(f, severity::problem).empty());
}

/// What is said of `subject`.
std::string said_of(const system_facts& facts, const std::string& subject) {
    for (const auto& f : examine(facts)) {
        if (f.subject == subject) return f.text;
    }
    return {};
}

TEST(doctor, tells_which_huge_pages_can_be_had) {
    auto f = healthy();
    EXPECT_EQ(said_of(f, "huge pages"), "no 2 MiB pages, no 1 GiB pages; transparent: none");
    f.limits.mib2 = {2U << 20, "/proc/sys/vm/nr_hugepages", 64, 60};
    f.limits.transparent = "madvise";
    EXPECT_EQ(
        said_of(f, "huge pages"),
        "60 of 64 2 MiB pages free (/proc/sys/vm/nr_hugepages), no 1 GiB pages; transparent: \"madvise\"");
}

TEST(doctor, tells_the_numa_nodes_where_there_are_several) {
    auto f = healthy();
    f.limits.nodes = {0};
    EXPECT_EQ(said_of(f, "NUMA nodes"), "");
    f.limits.nodes = {0, 1};
    EXPECT_THAT(said_of(f, "NUMA nodes"), HasSubstr("0, 1"));
}

TEST(doctor, tells_which_priorities_can_be_had) {
    auto f = healthy();
    EXPECT_EQ(said_of(f, "real-time priority"), "any");
    f.limits.priority = 50;
    EXPECT_EQ(said_of(f, "real-time priority"), "1 to 50 (RLIMIT_RTPRIO)");
    f.limits.priority = 0;
    EXPECT_THAT(said_of(f, "real-time priority"), HasSubstr("RLIMIT_RTPRIO is 0"));
    f.limits.may_set_priority = true;
    EXPECT_EQ(said_of(f, "real-time priority"), "any (CAP_SYS_NICE)");
}

TEST(doctor, a_machine_without_any_address_is_one) {
    auto f = healthy();
    f.ports.clear();
    EXPECT_EQ(problem_of(f).subject, "devices");
}

TEST(doctor, names_a_port_without_link_and_the_command) {
    auto f = healthy();
    f.ports.front().active = false;
    EXPECT_THAT(problem_of(f).text, HasSubstr("down (eth1)"));
    EXPECT_EQ(problem_of(f).mend, "ip link set eth1 up");
}

TEST(doctor, names_a_port_without_a_usable_gid) {
    auto f = healthy();
    f.ports.front().gids = {entry(0, "fe80::1", 64)};
    EXPECT_THAT(problem_of(f).text, HasSubstr("no usable GID"));
    EXPECT_THAT(problem_of(f).mend, HasSubstr("ip addr add"));
}

TEST(doctor, names_a_device_that_cannot_be_opened) {
    auto f = healthy();
    f.ports.front().refusal = "permission denied: /dev/infiniband/uverbs0";
    EXPECT_THAT(problem_of(f).text, HasSubstr("uverbs0"));
}

TEST(doctor, names_a_short_memlock_limit) {
    auto f = healthy();
    f.limits.lockable = 65'536;
    EXPECT_EQ(problem_of(f).subject, "memlock");
    EXPECT_THAT(problem_of(f).text, HasSubstr("65.5 kB"));
    EXPECT_THAT(problem_of(f).mend, HasSubstr("ulimit -l unlimited"));
    f.limits.lockable = 64ULL << 20;
    EXPECT_TRUE(of_level(f, severity::problem).empty());
}

TEST(doctor, notes_a_small_interface_mtu) {
    auto f = healthy();
    f.ports.front().netdev_mtu = 1500;
    f.ports.front().active_mtu = mtu::b1024;
    const auto notes = of_level(f, severity::note);
    ASSERT_EQ(notes.size(), 1U);
    EXPECT_THAT(notes.front().text, AllOf(HasSubstr("1024"), HasSubstr("1500")));
    EXPECT_THAT(notes.front().mend, HasSubstr("mtu 9000"));
}

TEST(doctor, notes_who_holds_the_udp_port) {
    auto f = healthy();
    f.udp_4791_holder = "the kernel module rdma_rxe";
    f.held_by_kernel = true;
    ASSERT_EQ(of_level(f, severity::note).size(), 1U);
    EXPECT_THAT(of_level(f, severity::note).front().mend, HasSubstr("rmmod rdma_rxe"));
    f.udp_4791_holder = "UDP port 4791 on 127.0.0.1 is in use by process 7 (recv); stop it";
    f.held_by_kernel = false;
    EXPECT_EQ(of_level(f, severity::note).front().text, f.udp_4791_holder);
    EXPECT_EQ(of_level(f, severity::note).front().mend, "");
}

system_facts with_peer(std::optional<mtu> largest, std::optional<mtu> silent) {
    auto f = healthy();
    f.peer = peer_facts{*gid::parse("192.168.2.9"), "eth1", true, largest, silent};
    return f;
}

TEST(doctor, finds_a_path_that_is_narrower_than_the_port) {
    const auto p = problem_of(with_peer(mtu::b1024, mtu::b2048));
    EXPECT_THAT(p.text, AllOf(HasSubstr("1024"), HasSubstr("2048"), HasSubstr("eth1")));
    EXPECT_THAT(p.mend, HasSubstr("--mtu 1024"));
}

TEST(doctor, is_content_with_a_path_as_wide_as_the_port) {
    EXPECT_TRUE(of_level(with_peer(mtu::b4096, {}), severity::problem).empty());
    auto narrow = with_peer(mtu::b1024, mtu::b2048);
    narrow.ports.front().active_mtu = mtu::b1024;
    EXPECT_TRUE(of_level(narrow, severity::problem).empty());
}

TEST(doctor, does_not_blame_a_peer_that_answers_nothing) {
    EXPECT_TRUE(of_level(with_peer({}, mtu::b256), severity::problem).empty());
    EXPECT_THAT(of_level(with_peer({}, mtu::b256), severity::note).front().text, HasSubstr("no probe"));
}

TEST(doctor, names_a_peer_without_route_or_neighbour) {
    auto f = with_peer({}, mtu::b256);
    f.peer->neighbour = false;
    EXPECT_THAT(problem_of(f).text, HasSubstr("no neighbour entry"));
    f.peer->route_netdev.clear();
    EXPECT_THAT(problem_of(f).text, HasSubstr("no route"));
}

TEST(doctor, ranks_the_gid_table_with_the_reason_each_entry_lost) {
    auto port = healthy().ports.front();
    port.gids.push_back(entry(2, "10.0.0.1"));
    const auto lines = gid_lines(port, gid::parse("10.0.0.7"));
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_THAT(lines[0], AllOf(HasSubstr("index 2"), HasSubstr("chosen")));
    EXPECT_THAT(lines, Contains(AllOf(HasSubstr("index 1"), HasSubstr("192.168.2.1"))));
}

} // namespace

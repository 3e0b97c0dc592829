#include "soft/port_owner.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

namespace rocio::soft {
namespace {

namespace fs = std::filesystem;

const gid address = gid::from_v4({127, 0, 0, 2});

constexpr const char* heading = "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when "
                                "retrnsmt   uid  timeout inode ref pointer drops\n";

std::string line(const std::string& local, unsigned inode) {
    return " 1234: " + local + " 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 " +
           std::to_string(inode) + " 2 0000000000000000 0\n";
}

/// A made-up /proc and /sys/module.
struct PortOwner : ::testing::Test {
    PortOwner() {
        fs::create_directories(proc / "net");
        fs::create_directories(modules);
        table("udp", "");
        table("udp6", "");
    }
    ~PortOwner() override { fs::remove_all(root); }

    void table(const char* name, const std::string& lines) {
        std::ofstream(proc / "net" / name) << heading << lines;
    }
    void process(unsigned pid, const char* name, unsigned inode) {
        const fs::path dir = proc / std::to_string(pid);
        fs::create_directories(dir / "fd");
        std::ofstream(dir / "comm") << name << '\n';
        fs::create_symlink("/dev/null", dir / "fd/0");
        fs::create_symlink("socket:[" + std::to_string(inode) + "]", dir / "fd/7");
    }
    port_owner find() { return find_port_owner(address, 4791, proc, modules); }

    fs::path root = fs::temp_directory_path() / ("rocio_port_owner_" + std::to_string(getpid()));
    fs::path proc = root / "proc";
    fs::path modules = root / "module";
};

TEST_F(PortOwner, NamesTheProcessThatHoldsTheAddress) {
    table("udp", line("0200007F:12B7", 555));
    process(4711, "other_daemon", 554);
    process(4712, "rocio recv", 555);
    EXPECT_EQ(find().who, port_owner::kind::process);
    EXPECT_EQ(find().text, "process 4712 (rocio recv)");
}

TEST_F(PortOwner, NamesAProcessOnTheWildcardAddressEvenWithRxeLoaded) {
    table("udp", line("00000000:12B7", 77));
    process(12, "greedy", 77);
    fs::create_directories(modules / "rdma_rxe");
    EXPECT_EQ(find().text, "process 12 (greedy)");
}

TEST_F(PortOwner, NamesRxeWhenNoProcessHoldsTheWildcard) {
    table("udp", line("00000000:12B7", 0));
    fs::create_directories(modules / "rdma_rxe");
    process(12, "innocent", 78);
    EXPECT_EQ(find().who, port_owner::kind::kernel);
}

TEST_F(PortOwner, NamesRxeOnTheIpv6Wildcard) {
    table("udp6", line("00000000000000000000000000000000:12B7", 4242));
    fs::create_directories(modules / "rdma_rxe");
    EXPECT_EQ(find().who, port_owner::kind::kernel);
}

TEST_F(PortOwner, DoesNotBlameRxeForASocketOnThisVeryAddress) {
    table("udp", line("0200007F:12B7", 9));
    fs::create_directories(modules / "rdma_rxe");
    EXPECT_EQ(find().who, port_owner::kind::unknown);
}

TEST_F(PortOwner, IgnoresOtherAddressesAndPorts) {
    table("udp", line("0300007F:12B7", 9) + line("0200007F:12B8", 9) + line("0200007F:0012B7F", 9));
    process(5, "neighbour", 9);
    EXPECT_EQ(find().who, port_owner::kind::nobody);
}

TEST_F(PortOwner, SurvivesATableOfNonsense) {
    table("udp", "\n\n:\n1: 2\n 9: 0200007F:12B7 x\n" + std::string(10'000, 'z') + "\n");
    EXPECT_EQ(find().who, port_owner::kind::nobody);
}

TEST_F(PortOwner, KnowsNothingWithoutProc) {
    EXPECT_EQ(find_port_owner(address, 4791, root / "absent", root / "absent").who, port_owner::kind::nobody);
}

} // namespace
} // namespace rocio::soft

#include "raw_udp_socket.hpp"
#include "socket_pair_of_ends.hpp"

#include <rocio/open/open_device.hpp>
#include <rocio/soft/local_address.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace rocio {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

error_info open_error(const std::string& name) {
    std::shared_ptr<device> out;
    error_info error = open_device(name, out);
    EXPECT_EQ(out, nullptr);
    return error;
}

std::set<int> open_descriptors() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
        names.push_back(entry.path().filename().string());
    std::set<int> out;
    for (const auto& n : names)
        if (::fcntl(std::stoi(n), F_GETFD) >= 0) out.insert(std::stoi(n)); // not the one that did the listing
    return out;
}

TEST(SoftOpen, OpensByNameAndCallsItselfSo) {
    const auto standard = open_device("soft:127.30.2.1");
    EXPECT_EQ(standard->name(), "soft:127.30.2.1");
    EXPECT_EQ(standard->udp_port(), 4791);
    EXPECT_GE(standard->event_fd(), 0);
    const auto free_port = open_device("soft:127.30.2.1:0");
    EXPECT_NE(free_port->udp_port(), 4791);
    EXPECT_EQ(free_port->name(), "soft:127.30.2.1:" + std::to_string(free_port->udp_port()));
}

TEST(SoftOpen, KnowsTheLoopbackInterfaceForEveryAddressOfItsSubnet) {
    const auto device = open_device("soft:127.30.2.2");
    std::vector<gid_table_entry> table;
    ASSERT_FALSE(device->gid_table(1, table));
    ASSERT_EQ(table.size(), 1U);
    EXPECT_EQ(table[0].value, gid::from_v4({127, 30, 2, 2}));
    EXPECT_EQ(table[0].netdev, "lo");
    EXPECT_EQ(table[0].prefix, 8U);
    port_attributes port;
    ASSERT_FALSE(device->query_port(1, port));
    EXPECT_EQ(port.netdev, "lo");
    EXPECT_EQ(port.active_mtu, mtu::b4096);
    EXPECT_EQ(port.state, port_state::active);
    EXPECT_GT(device->capabilities(1).receive_buffer, 0U);
}

TEST(SoftOpen, APortInUseNamesTheProcessThatHoldsIt) {
    const auto first = open_device("soft:127.30.2.3");
    const error_info error = open_error("soft:127.30.2.3");
    EXPECT_EQ(error.code, errc::address_in_use);
    EXPECT_THAT(error.text,
                AllOf(HasSubstr("UDP port 4791"), HasSubstr("127.30.2.3"),
                      HasSubstr("process " + std::to_string(::getpid())), HasSubstr("127.x.y.z")));
    EXPECT_FALSE(open_error("soft:127.30.2.3").text.empty());
    EXPECT_EQ(open_device("soft:127.30.2.4")->name(), "soft:127.30.2.4") << "another address is free";
}

TEST(SoftOpen, APortHeldOnTheWildcardAddressIsInUseToo) {
    const test::raw_udp_socket holder("0.0.0.0");
    const error_info error = open_error("soft:127.30.2.5:" + std::to_string(holder.port()));
    EXPECT_EQ(error.code, errc::address_in_use);
    EXPECT_THAT(error.text, HasSubstr("process " + std::to_string(::getpid())));
}

TEST(SoftOpen, TheAddressIsFreeAgainOnceTheDeviceIsGone) {
    for (int i = 0; i < 3; ++i) {
        auto device = open_device("soft:127.30.2.6");
        EXPECT_EQ(open_error("soft:127.30.2.6").code, errc::address_in_use);
    }
}

TEST(SoftOpen, AnAddressOfNoInterfaceIsNamed) {
    const error_info error = open_error("soft:203.0.113.7"); // TEST-NET-3: nobody's
    EXPECT_EQ(error.code, errc::address_not_available);
    EXPECT_THAT(error.text, AllOf(HasSubstr("203.0.113.7"), HasSubstr("interface")));
}

TEST(SoftOpen, EveryDescriptorClosesOnExec) {
    const auto before = open_descriptors();
    const auto device = open_device("soft:127.30.2.7");
    list_devices();
    std::size_t fresh = 0;
    for (const int fd : open_descriptors()) {
        if (before.count(fd) != 0) continue;
        ++fresh;
        EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0) << "descriptor " << fd;
        EXPECT_NE(::fcntl(fd, F_GETFL) & O_NONBLOCK, 0) << "descriptor " << fd;
    }
    EXPECT_EQ(fresh, 1U) << "one socket, and nothing left behind by the listing";
}

TEST(SoftOpen, WithoutDescriptorsFailsWithTheSystemsErrorAndRecovers) {
    // UndefinedBehaviorSanitizer looks at a type it has not met through a pipe, so it must have met this one.
    ASSERT_FALSE(error_code(EMFILE, boost::system::system_category()).message().empty());
    rlimit saved{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &saved), 0);
    rlimit none = saved;
    none.rlim_cur = static_cast<rlim_t>(*open_descriptors().rbegin()) + 1;
    std::vector<int> fillers;
    for (int fd; (fd = ::fcntl(0, F_DUPFD_CLOEXEC, 0)) >= 0 && fd < static_cast<int>(none.rlim_cur);)
        fillers.push_back(fd); // the gaps below the limit
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    std::shared_ptr<device> out;
    const error_info error = open_device("soft:127.30.2.8", out);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &saved), 0);
    for (const int fd : fillers) ::close(fd);
    EXPECT_EQ(error.code, error_code(EMFILE, boost::system::system_category()));
    EXPECT_THAT(error.text, HasSubstr("UDP socket"));
    EXPECT_FALSE(open_device("soft:127.30.2.8", out));
}

TEST(LocalAddresses, FindLoopbackByAnyOfItsAddresses) {
    const auto found = soft::find_local_address(gid::from_v4({127, 99, 98, 97}));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->netdev, "lo");
    EXPECT_TRUE(found->loopback);
    EXPECT_FALSE(soft::find_local_address(gid::from_v4({203, 0, 113, 7})));
}

} // namespace
} // namespace rocio

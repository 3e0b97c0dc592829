// Takes the link of the first device down and up again. On a machine whose network must stay up:
// --gtest_filter=-VerbsLink.*
#include "test_devices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace rocio::test {
namespace {

using ::testing::HasSubstr;

/// An interface that is up again when the test is over.
class link_switch {
  public:
    explicit link_switch(const std::string& netdev) : fd_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
        std::strncpy(request_.ifr_name, netdev.c_str(), IFNAMSIZ - 1);
    }
    ~link_switch() {
        set(true);
        close(fd_);
    }
    link_switch(const link_switch&) = delete;
    link_switch& operator=(const link_switch&) = delete;

    void set(bool up) {
        EXPECT_EQ(ioctl(fd_, SIOCGIFFLAGS, &request_), 0);
        const int flags = up ? request_.ifr_flags | IFF_UP : request_.ifr_flags & ~IFF_UP;
        request_.ifr_flags = static_cast<short>(flags);
        EXPECT_EQ(ioctl(fd_, SIOCSIFFLAGS, &request_), 0);
    }

  private:
    int fd_;
    ifreq request_{};
};

class VerbsLink : public ::testing::Test {
  protected:
    std::shared_ptr<verbs_device> dev_ = test_devices::open_first();

    port_attributes port() {
        port_attributes out;
        EXPECT_FALSE(dev_->query_port(1, out));
        return out;
    }
    /// Events up to the one wanted; fails when it does not come.
    device_event await(device_event_kind wanted) {
        device_event event;
        while (readable(dev_->async_event_fd())) {
            while (dev_->next_event(event))
                if (event.kind == wanted) return event;
        }
        ADD_FAILURE() << "no event " << to_string(wanted) << " within ten seconds";
        return {};
    }
};

TEST_F(VerbsLink, DownAndUpAreToldOfThePortThatStillNamesItsInterface) {
    const std::string netdev = port().netdev;
    ASSERT_FALSE(netdev.empty());
    link_switch link(netdev);

    link.set(false);
    EXPECT_EQ(await(device_event_kind::port_error).port, 1U);
    EXPECT_EQ(port().state, port_state::down);
    EXPECT_EQ(port().netdev, netdev);
    EXPECT_EQ(dev_->snapshot().port_state, "down");

    link.set(true);
    EXPECT_EQ(await(device_event_kind::port_active).port, 1U);
    EXPECT_EQ(port().state, port_state::active);
    EXPECT_EQ(port().netdev, netdev);
}

TEST_F(VerbsLink, ConnectingOverADownPortSaysSo) {
    verbs_pair pair;
    seam_end lone(dev_);
    const auto to = lone.connection_to(pair.b);
    link_switch link(port().netdev);
    link.set(false);
    await(device_event_kind::port_error);
    const error_info bad = lone.qp().to_ready_to_receive(to);
    EXPECT_EQ(bad.code, errc::port_down);
    EXPECT_THAT(bad.text, HasSubstr(dev_->name()));
    link.set(true);
    await(device_event_kind::port_active);
}

} // namespace
} // namespace rocio::test

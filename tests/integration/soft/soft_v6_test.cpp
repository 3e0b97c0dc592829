// The soft device over IPv6: one loopback address, so the ends have UDP ports of their own.

#include "socket_pair_of_ends.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocio {
namespace {

using test::connect_ends;
using test::drive;
using test::soft_end;
using test::soft_end_options;

std::shared_ptr<soft_device> open_v6(const std::optional<fault_plan>& faults = std::nullopt) {
    soft_device_config config;
    config.address = "::1";
    config.udp_port = 0;
    config.faults = faults;
    std::shared_ptr<soft_device> out;
    throw_if(soft_device::open(config, out));
    return out;
}

struct SoftV6 : ::testing::Test {
    void send_and_check(soft_end& a, soft_end& b, std::uint32_t messages) {
        connect_ends(a, b);
        b.post_receives(0, 64);
        std::uint32_t posted = 0, checked = 0;
        const bool all = drive({&a, &b}, [&] {
            for (; posted < messages && posted < a.sent().size() + 40; ++posted) {
                const auto i = 128 + posted % 64;
                test::fill_message(a.slot(i), posted);
                EXPECT_EQ(a.post_send(i, 4096, posted), errc::success);
            }
            for (; checked < b.received().size(); ++checked) {
                const auto c = b.received()[checked];
                EXPECT_EQ(c.immediate, checked);
                EXPECT_TRUE(test::holds_message(b.slot(c.id.slot), checked));
                EXPECT_EQ(b.post_receive(c.id.slot), errc::success);
            }
            return checked == messages && a.sent().size() == messages;
        });
        EXPECT_TRUE(all) << checked << " of " << messages;
    }
};

TEST_F(SoftV6, NamesItsAddressInBrackets) {
    const auto device = open_v6();
    EXPECT_EQ(device->name(), "soft:[::1]:" + std::to_string(device->udp_port()));
    std::vector<gid_table_entry> table;
    ASSERT_FALSE(device->gid_table(1, table));
    EXPECT_EQ(table.front().value, *gid::parse("::1"));
    EXPECT_EQ(table.front().netdev, "lo");
    EXPECT_EQ(table.front().prefix, 128U);
}

TEST_F(SoftV6, CarriesMessagesInBothModesOfTheSocket) {
    soft_end a(open_v6()), b(open_v6());
    send_and_check(a, b, 500);
    EXPECT_EQ(b.counters().messages_received, 500U);
}

TEST_F(SoftV6, RepairsWhatABadNetworkDoes) {
    const fault_plan bad{.drop = 0.03, .duplicate = 0.03, .reorder = 0.03, .corrupt = 0.02, .seed = 6};
    soft_end a(open_v6(bad)), b(open_v6(bad));
    send_and_check(a, b, 500);
    EXPECT_GT(a.counters().retransmits, 0U);
}

TEST_F(SoftV6, RefusesAPeerOfTheOtherFamily) {
    soft_end six(open_v6()), four(test::open_soft("127.30.66.1"));
    for (soft_end* end : {&six, &four}) {
        soft_end& other = end == &six ? four : six;
        const auto e = end->qp().to_ready_to_receive(end->towards(other.as_peer()));
        EXPECT_EQ(e.code, errc::invalid_peer_parameters);
        EXPECT_THAT(e.text, ::testing::HasSubstr("both"));
    }
}

TEST_F(SoftV6, PortInUseNamesTheHolder) {
    const auto holder = open_v6();
    soft_device_config config;
    config.address = "::1";
    config.udp_port = holder->udp_port();
    std::shared_ptr<soft_device> none;
    const auto e = soft_device::open(config, none);
    EXPECT_EQ(e.code, errc::address_in_use);
    EXPECT_THAT(e.text, ::testing::HasSubstr("process " + std::to_string(::getpid())));
}

} // namespace
} // namespace rocio

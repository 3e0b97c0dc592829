#include "link_probe.hpp"

#include <rocio/soft/simulated_network.hpp>

#include <gtest/gtest.h>

namespace rocio::soft {
namespace {

using test::link_probe;

const gid a_address = gid::from_v4({10, 0, 0, 1});
const gid b_address = gid::from_v4({10, 0, 0, 2});

TEST(SimulatedNetwork, DeliversThePiecesOfADatagramAsOneInOrder) {
    simulated_network network;
    link_probe a(network.attach(a_address, 5000)), b(network.attach(b_address));
    const destination to{b_address, 4791};
    EXPECT_EQ(a.send(to, {"head", "payload", "tail"}), 1U);
    EXPECT_EQ(a.send(to, {"second"}), 1U);
    EXPECT_EQ(b.receive(), "headpayloadtail");
    EXPECT_EQ(b.last_source(), a_address);
    EXPECT_EQ(b.last_source_port(), 5000);
    EXPECT_EQ(b.receive(), "second");
    EXPECT_EQ(b.receive(), "");
}

TEST(SimulatedNetwork, CountsDatagramsForNobody) {
    simulated_network network;
    link_probe a(network.attach(a_address));
    a.send({b_address, 4791}, {"x"});
    EXPECT_EQ(network.lost(), 1U);
    {
        link_probe b(network.attach(b_address));
        a.send({b_address, 4791}, {"x"});
        a.send({b_address, 4792}, {"x"});
        EXPECT_EQ(network.lost(), 2U);
    }
    a.send({b_address, 4791}, {"x"});
    EXPECT_EQ(network.lost(), 3U);
}

TEST(SimulatedNetwork, ReportsBackPressureAtItsLimit) {
    simulated_network network;
    link_probe a(network.attach(a_address)), b(network.attach(b_address));
    network.limit_sends(2);
    EXPECT_EQ(a.send_many({b_address, 4791}, 5), 2U);
    EXPECT_EQ(a.counter("send_would_block"), 1U);
    network.limit_sends(9);
    EXPECT_EQ(a.send_many({b_address, 4791}, 3), 3U);
    EXPECT_EQ(b.receive_all().size(), 5U);
}

TEST(SimulatedNetwork, InjectsAnythingFromAnybody) {
    simulated_network network;
    link_probe b(network.attach(b_address));
    network.inject({a_address, 99, true, {}}, b_address);
    received_datagram d[2];
    ASSERT_EQ(b.link().receive(d, {}), 1U);
    EXPECT_TRUE(d[0].truncated);
    EXPECT_TRUE(d[0].bytes.empty());
    EXPECT_EQ(d[0].source_port, 99);
}

TEST(SimulatedNetwork, MayEndBeforeItsLinks) {
    auto network = std::make_unique<simulated_network>();
    link_probe a(network->attach(a_address)), b(network->attach(b_address));
    network.reset();
    EXPECT_EQ(a.send({b_address, 4791}, {"still"}), 1U);
    EXPECT_EQ(b.receive(), "still");
}

TEST(SimulatedNetwork, ASecondLinkOnAnAddressTakesItOver) {
    simulated_network network;
    link_probe a(network.attach(a_address)), first(network.attach(b_address));
    {
        link_probe second(network.attach(b_address));
        a.send({b_address, 4791}, {"x"});
        EXPECT_EQ(first.receive(), "");
        EXPECT_EQ(second.receive(), "x");
    }
    a.send({b_address, 4791}, {"y"});
    EXPECT_EQ(first.receive(), "") << "a link that was cut off stays cut off";
}

} // namespace
} // namespace rocio::soft

#include "link_probe.hpp"

#include <rocio/soft/fault_link.hpp>
#include <rocio/soft/simulated_network.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <vector>

namespace rocio::soft {
namespace {

using test::link_probe;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAreArray;
using namespace std::chrono_literals;

constexpr time_point t0 = time_point{} + 1h;
const gid sender_address = gid::from_v4({10, 0, 0, 1});
const destination to_receiver{gid::from_v4({10, 0, 0, 2}), 4791};

struct FaultLink : ::testing::Test {
    link_probe sender(const fault_plan& plan) {
        return link_probe(std::make_unique<fault_link>(network.attach(sender_address), plan));
    }
    std::vector<std::string> numbers(std::size_t n) {
        std::vector<std::string> out;
        for (std::size_t i = 0; i < n; ++i) out.push_back(std::to_string(i));
        return out;
    }

    simulated_network network;
    link_probe receiver{network.attach(to_receiver.address)};
};

TEST_F(FaultLink, WithoutFaultsPassesEverythingOn) {
    auto link = sender({});
    EXPECT_EQ(link.send_many(to_receiver, 40, t0), 40U);
    EXPECT_EQ(receiver.receive_all(), numbers(40));
    EXPECT_EQ(link.link().next_deadline(), time_point::max());
    EXPECT_EQ(link.link().address(), sender_address);
}

TEST_F(FaultLink, DropsAll) {
    auto link = sender({.drop = 1});
    EXPECT_EQ(link.send_many(to_receiver, 10, t0), 10U) << "a lost datagram counts as taken";
    EXPECT_THAT(receiver.receive_all(), IsEmpty());
    EXPECT_EQ(link.counter("faults.dropped"), 10U);
}

TEST_F(FaultLink, DuplicatesAll) {
    auto link = sender({.duplicate = 1});
    link.send_many(to_receiver, 2, t0);
    EXPECT_THAT(receiver.receive_all(), ElementsAre("0", "0", "1", "1"));
    EXPECT_EQ(link.counter("faults.duplicated"), 2U);
}

TEST_F(FaultLink, CorruptsACopyNotTheSendersBytes) {
    auto link = sender({.corrupt = 1});
    const std::string text(100, 'a');
    link.send(to_receiver, {text}, t0);
    const std::string arrived = receiver.receive();
    ASSERT_EQ(arrived.size(), text.size());
    EXPECT_NE(arrived, text);
    EXPECT_EQ(text, std::string(100, 'a'));
    EXPECT_EQ(link.counter("faults.corrupted"), 1U);
}

TEST_F(FaultLink, HoldsADelayedDatagramUntilItsTime) {
    auto link = sender({.delay = 1, .delay_time = 500us});
    link.send(to_receiver, {"late"}, t0);
    EXPECT_EQ(receiver.receive(), "");
    const auto due = link.link().next_deadline();
    ASSERT_GE(due, t0);
    ASSERT_LT(due, t0 + 500us);
    EXPECT_FALSE(link.link().progress(due - 1ns));
    EXPECT_EQ(receiver.receive(), "");
    EXPECT_TRUE(link.link().progress(due));
    EXPECT_EQ(receiver.receive(), "late");
    EXPECT_EQ(link.link().next_deadline(), time_point::max());
}

TEST_F(FaultLink, ReleasesAReorderedDatagramWithoutFurtherTraffic) {
    auto link = sender({.reorder = 1, .reorder_hold = 300us});
    link.send(to_receiver, {"alone"}, t0);
    EXPECT_EQ(receiver.receive(), "");
    ASSERT_EQ(link.link().next_deadline(), t0 + 300us);
    EXPECT_TRUE(link.link().progress(t0 + 300us));
    EXPECT_EQ(receiver.receive(), "alone");
}

TEST_F(FaultLink, ReordersByNoMoreThanTheDistanceWithinOneBatch) {
    auto link = sender({.reorder = 0.2, .reorder_distance = 3});
    link.send_many(to_receiver, 500, t0);
    link.link().progress(t0 + 1s);
    const auto arrived = receiver.receive_all();
    EXPECT_THAT(arrived, UnorderedElementsAreArray(numbers(500)));
    EXPECT_NE(arrived, numbers(500));
    std::size_t late = 0;
    for (std::size_t at = 0; at < arrived.size(); ++at) {
        const auto number = static_cast<std::size_t>(std::stoul(arrived[at]));
        // Behind at most 3 later ones, and those of its neighbours that were held with it.
        if (at > number) late = std::max(late, at - number);
    }
    EXPECT_GE(late, 1U);
    EXPECT_LE(late, 3U);
}

TEST_F(FaultLink, HoldsABoundedNumber) {
    auto link = sender({.delay = 1, .delay_time = 1s});
    EXPECT_EQ(link.send_many(to_receiver, fault_link::max_held + 50, t0), fault_link::max_held + 50);
    EXPECT_THAT(receiver.receive_all(), SizeIs(50)) << "those beyond the limit leave at once";
    link.link().progress(t0 + 1s);
    EXPECT_THAT(receiver.receive_all(), SizeIs(fault_link::max_held));
}

TEST_F(FaultLink, RepeatsItselfWhateverTheBatches) {
    const fault_plan plan{.drop = 0.1, .duplicate = 0.1, .corrupt = 0.1, .seed = 5};
    auto whole = sender(plan);
    whole.send_many(to_receiver, 200, t0);
    const auto expected = receiver.receive_all();

    auto single = sender(plan);
    for (std::size_t i = 0; i < 200; ++i) single.send(to_receiver, {std::to_string(i)}, t0);
    EXPECT_EQ(receiver.receive_all(), expected);
}

TEST_F(FaultLink, UnderBackPressureLosesAndRepeatsNothing) {
    const fault_plan plan{.drop = 0.2, .corrupt = 0.2, .seed = 9};
    auto free = sender(plan);
    free.send_many(to_receiver, 100, t0);
    const auto expected = receiver.receive_all();

    auto slow = sender(plan);
    std::vector<std::string> texts = numbers(100);
    std::vector<outgoing_datagram> datagrams;
    for (const auto& t : texts) datagrams.push_back({&to_receiver, std::as_bytes(std::span(t)), {}, {}});
    std::size_t taken = 0;
    while (taken < datagrams.size()) {
        network.limit_sends(3);
        taken += slow.link().send(std::span(datagrams).subspan(taken), t0);
    }
    EXPECT_EQ(receiver.receive_all(), expected);
    EXPECT_EQ(slow.counter("faults.dropped"), free.counter("faults.dropped"));
}

TEST_F(FaultLink, KeepsAHeldDatagramWhenTheInnerLinkRefusesIt) {
    auto link = sender({.delay = 1, .delay_time = 10us});
    link.send(to_receiver, {"held"}, t0);
    network.limit_sends(0);
    EXPECT_FALSE(link.link().progress(t0 + 1ms));
    network.limit_sends(1);
    EXPECT_TRUE(link.link().progress(t0 + 2ms));
    EXPECT_EQ(receiver.receive(), "held");
}

TEST_F(FaultLink, LeavesReceivedDatagramsAlone) {
    auto link = sender({.drop = 1, .corrupt = 1});
    receiver.send({sender_address, 4791}, {"untouched"});
    EXPECT_EQ(link.receive(), "untouched");
}

} // namespace
} // namespace rocio::soft

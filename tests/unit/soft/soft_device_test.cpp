#include "simulated_pair.hpp"
#include "soft_end.hpp"

#include <rocio/soft/simulated_network.hpp>
#include <rocio/soft/soft_device.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

namespace rocio {
namespace {

using test::simulated_pair;
using test::soft_end;
using test::v4;
using ::testing::AllOf;
using ::testing::HasSubstr;

struct SoftDevice : ::testing::Test {
    soft::simulated_network network;
    std::shared_ptr<soft_device> device = soft_device::over(network.attach(v4(10, 0, 0, 1)));
};

TEST_F(SoftDevice, CallsItselfAsItIsOpened) {
    EXPECT_EQ(device->name(), "soft:10.0.0.1");
    EXPECT_EQ(soft_device::over(network.attach(v4(10, 0, 0, 2), 5000))->name(), "soft:10.0.0.2:5000");
    EXPECT_EQ(device->kind(), "soft");
    EXPECT_EQ(device->udp_port(), 4791);
}

TEST_F(SoftDevice, HasOneRoceV2GidWhichIsItsAddress) {
    std::vector<gid_table_entry> table;
    ASSERT_FALSE(device->gid_table(1, table));
    ASSERT_EQ(table.size(), 1U);
    EXPECT_EQ(table[0].index, 0U);
    EXPECT_EQ(table[0].value, v4(10, 0, 0, 1));
    EXPECT_EQ(table[0].type, gid_type::roce_v2);
    EXPECT_EQ(table[0].netdev, "sim0");
    EXPECT_EQ(table[0].prefix, 24U);
    EXPECT_EQ(device->gid_table(2, table).code, errc::invalid_argument);
}

TEST_F(SoftDevice, TakesItsMtuAndStateFromTheInterface) {
    port_attributes port;
    ASSERT_FALSE(device->query_port(1, port));
    EXPECT_EQ(port.state, port_state::active);
    EXPECT_EQ(port.active_mtu, mtu::b4096);
    EXPECT_EQ(port.netdev_mtu, 9'000U);
    EXPECT_EQ(port.netdev, "sim0");
    EXPECT_EQ(device->query_port(0, port).code, errc::invalid_argument);

    const auto narrow = soft_device::over(network.attach(v4(10, 0, 0, 3), 4791, {"eth1", 16, 1'500, false}));
    ASSERT_FALSE(narrow->query_port(1, port));
    EXPECT_EQ(port.active_mtu, mtu::b1024);
    EXPECT_EQ(port.state, port_state::down) << "the interface is down";
}

TEST_F(SoftDevice, PromisesExactIcrcAndNoSegmentedTrains) {
    EXPECT_TRUE(device->capabilities(1).exact_icrc);
    EXPECT_EQ(device->capabilities(1).segment_train, 0);
}

TEST_F(SoftDevice, RefusesQueuesOutsideItsLimitsByName) {
    std::unique_ptr<device_completion_queue> cq;
    EXPECT_EQ(device->create_completion_queue(0, cq).code, errc::limit_exceeded);
    EXPECT_EQ(device->create_completion_queue(device->limits().max_completions + 1, cq).code,
              errc::limit_exceeded);
    ASSERT_FALSE(device->create_completion_queue(16, cq));
    EXPECT_EQ(cq->depth(), 16U);

    std::unique_ptr<device_queue_pair> qp;
    device_queue_pair_config config;
    EXPECT_EQ(device->create_queue_pair(config, qp).code, errc::invalid_argument) << "no completion queue";
    config.completions = cq.get();
    config.send_depth = 0;
    EXPECT_THAT(device->create_queue_pair(config, qp).text,
                AllOf(HasSubstr("send_depth"), HasSubstr("65536")));
    config.send_depth = 1;
    config.receive_depth = 65'537;
    EXPECT_THAT(device->create_queue_pair(config, qp).text,
                AllOf(HasSubstr("receive_depth"), HasSubstr("65537")));
    config.receive_depth = 1;
    config.max_inline = 2'000;
    EXPECT_THAT(device->create_queue_pair(config, qp).text, HasSubstr("max_inline"));
    config.max_inline = 0;
    config.port = 2;
    EXPECT_EQ(device->create_queue_pair(config, qp).code, errc::invalid_argument);
    config.port = 1;
    config.type = queue_pair_type::uc;
    EXPECT_FALSE(device->create_queue_pair(config, qp));
    config.type = queue_pair_type::rc;
    EXPECT_FALSE(device->create_queue_pair(config, qp));
    EXPECT_EQ(qp->state(), queue_pair_state::reset);
}

TEST_F(SoftDevice, RefusesACompletionQueueOfAnotherDevice) {
    const auto other = soft_device::over(network.attach(v4(10, 0, 0, 2)));
    std::unique_ptr<device_completion_queue> cq;
    ASSERT_FALSE(other->create_completion_queue(16, cq));
    device_queue_pair_config config;
    config.completions = cq.get();
    std::unique_ptr<device_queue_pair> qp;
    const error_info error = device->create_queue_pair(config, qp);
    EXPECT_EQ(error.code, errc::invalid_argument);
    EXPECT_THAT(error.text, HasSubstr("soft:10.0.0.1"));
}

TEST_F(SoftDevice, RegistersMemoryUntilTheRegionIsDestroyed) {
    std::array<std::byte, 100> bytes;
    std::unique_ptr<device_memory_region> region;
    ASSERT_FALSE(device->register_memory(bytes, {memory_access::local_write, 0x1000}, region));
    EXPECT_EQ(region->iova(), 0x1000U);
    EXPECT_EQ(region->bytes().data(), bytes.data());
    EXPECT_EQ(region->bytes().size(), bytes.size());
    EXPECT_EQ(region->local_key().value, region->remote_key().value);

    std::unique_ptr<device_memory_region> plain;
    ASSERT_FALSE(device->register_memory(bytes, {}, plain));
    EXPECT_EQ(plain->iova(), reinterpret_cast<std::uintptr_t>(bytes.data()));
    EXPECT_NE(plain->local_key().value, region->local_key().value);

    soft_end end(device);
    EXPECT_EQ(end.counter("memory_regions"), 3U);
    region.reset();
    EXPECT_EQ(end.counter("memory_regions"), 2U);
}

TEST_F(SoftDevice, RefusesARegionThatCannotBe) {
    std::array<std::byte, 100> bytes;
    std::unique_ptr<device_memory_region> region;
    EXPECT_TRUE(device->register_memory({}, {}, region));
    EXPECT_TRUE(device->register_memory(bytes, {memory_access::remote_write, 0}, region));
    const error_info error =
        device->register_memory(bytes, {memory_access::local_write, UINT64_MAX - 10}, region);
    EXPECT_EQ(error.code, errc::invalid_argument);
    EXPECT_THAT(error.text, HasSubstr("100 bytes"));
    EXPECT_EQ(region, nullptr);
}

TEST_F(SoftDevice, BelongsToTheFirstEngineUntilItLetsGo) {
    const int first = 1, second = 2;
    EXPECT_EQ(device->bind(&first), errc::success);
    EXPECT_EQ(device->bind(&first), errc::success);
    EXPECT_EQ(device->bind(&second), errc::device_bound);
    device->unbind(&second);
    EXPECT_EQ(device->bind(&second), errc::device_bound);
    device->unbind(&first);
    EXPECT_EQ(device->bind(&second), errc::success);
}

TEST_F(SoftDevice, WaitsForNothingWhenIdle) {
    soft_end end(device);
    EXPECT_FALSE(device->progress(device::time_point{} + std::chrono::hours(1)));
    EXPECT_EQ(device->next_deadline(), device::time_point::max());
    EXPECT_EQ(device->event_fd(), -1) << "the simulated link has no descriptor";
    device_event event;
    EXPECT_FALSE(device->next_event(event));
}

TEST_F(SoftDevice, ItsObjectsOutliveIt) {
    std::unique_ptr<device_completion_queue> cq;
    ASSERT_FALSE(device->create_completion_queue(16, cq));
    std::array<std::byte, 64> bytes;
    std::unique_ptr<device_memory_region> region;
    ASSERT_FALSE(device->register_memory(bytes, {}, region));
    device_queue_pair_config config;
    config.completions = cq.get();
    std::unique_ptr<device_queue_pair> qp;
    ASSERT_FALSE(device->create_queue_pair(config, qp));
    ASSERT_FALSE(qp->to_init({}));
    const receive_request r{{0, 0, 5}, {bytes.data(), 64, region->local_key()}};
    ASSERT_EQ(qp->post_receive({&r, 1}).accepted, 1U);
    device.reset();
    EXPECT_FALSE(qp->to_error());
    work_completion c;
    errc error = errc::success;
    ASSERT_EQ(cq->poll({&c, 1}, error), 1U);
    EXPECT_EQ(c.status, errc::work_request_flushed);
    EXPECT_EQ(c.id.slot, 5U);
}

TEST_F(SoftDevice, SnapshotNamesEveryCounterOnce) {
    std::vector<std::string> names;
    const device_snapshot s = device->snapshot();
    for (const auto& c : s.counters) {
        names.push_back(c.name);
        EXPECT_EQ(c.value, 0U) << c.name;
    }
    auto distinct = names;
    std::sort(distinct.begin(), distinct.end());
    EXPECT_EQ(std::adjacent_find(distinct.begin(), distinct.end()), distinct.end());
    EXPECT_THAT(names,
                ::testing::IsSupersetOf({"packets_in", "bytes_out", "drops.bad_icrc", "drops.foreign_source",
                                         "drops.unknown_queue_pair", "events_lost", "queue_pairs"}));
    EXPECT_EQ(s.name, "soft:10.0.0.1");
    EXPECT_EQ(s.kind, "soft");
    EXPECT_EQ(s.port_state, "active");
    EXPECT_EQ(s.active_mtu, 4096U);
    EXPECT_EQ(s.gids.size(), 1U);
}

struct Connecting : SoftDevice {
    soft_end end{device};
    connect_attributes good = [] {
        connect_attributes a;
        a.peer.address = v4(10, 0, 0, 2);
        a.peer.queue_pair = qpn{77};
        a.local.path_mtu = mtu::b4096;
        return a;
    }();

    error_info connect(connect_attributes a) { return end.qp().to_ready_to_receive(a); }
};

TEST_F(Connecting, GoesThroughTheStates) {
    EXPECT_EQ(end.qp().state(), queue_pair_state::init);
    ASSERT_FALSE(connect(good));
    EXPECT_EQ(end.qp().state(), queue_pair_state::ready_to_receive);
    ASSERT_FALSE(end.qp().to_ready_to_send(good));
    EXPECT_EQ(end.qp().state(), queue_pair_state::ready_to_send);
    ASSERT_FALSE(end.qp().to_error());
    EXPECT_EQ(end.qp().state(), queue_pair_state::error);
    device_event event;
    EXPECT_FALSE(device->next_event(event)) << "asked for, hence no event";
}

TEST_F(Connecting, NamesTheStateThatAStepNeeds) {
    EXPECT_THAT(end.qp().to_init({}).text, AllOf(HasSubstr("RESET"), HasSubstr("INIT")));
    const error_info early = end.qp().to_ready_to_send(good);
    EXPECT_EQ(early.code, errc::invalid_state);
    EXPECT_THAT(early.text, AllOf(HasSubstr("RTR"), HasSubstr("it is in INIT")));
    ASSERT_FALSE(connect(good));
    EXPECT_EQ(connect(good).code, errc::invalid_state);
}

TEST_F(Connecting, RefusesAPortOrGidIndexItDoesNotHave) {
    std::unique_ptr<device_queue_pair> qp;
    device_queue_pair_config config;
    config.completions = &end.cq();
    ASSERT_FALSE(device->create_queue_pair(config, qp));
    EXPECT_EQ(qp->to_init({.port = 2}).code, errc::invalid_argument);
    EXPECT_EQ(qp->to_init({.gid_index = 1}).code, errc::invalid_gid_index);
    EXPECT_FALSE(qp->to_init({}));
}

TEST_F(Connecting, RefusesAPeerThatCannotBe) {
    auto a = good;
    a.peer.address = gid{};
    EXPECT_EQ(connect(a).code, errc::invalid_peer_parameters);
    a.peer.address = *gid::parse("fd00::1");
    EXPECT_THAT(connect(a).text, AllOf(HasSubstr("fd00::1"), HasSubstr("10.0.0.1")));
    a = good;
    a.peer.udp_port = 0;
    EXPECT_EQ(connect(a).code, errc::invalid_peer_parameters);
    a = good;
    a.peer.queue_pair = qpn{1};
    EXPECT_EQ(connect(a).code, errc::invalid_peer_parameters);
    EXPECT_FALSE(connect(good)) << "a refusal changes nothing";
}

TEST_F(Connecting, RefusesAPathMtuTheInterfaceDoesNotCarryWithBothNumbers) {
    soft_end narrow(soft_device::over(network.attach(v4(10, 0, 0, 3), 4791, {"eth1", 24, 1'500, true})));
    const error_info error = narrow.qp().to_ready_to_receive(good);
    EXPECT_EQ(error.code, errc::path_mtu_too_large);
    EXPECT_THAT(error.text,
                AllOf(HasSubstr("4096"), HasSubstr("1500"), HasSubstr("1024"), HasSubstr("eth1")));
    auto fits = good;
    fits.local.path_mtu = mtu::b1024;
    EXPECT_FALSE(narrow.qp().to_ready_to_receive(fits));
}

TEST_F(Connecting, RefusesRetryCountsAboveSeven) {
    ASSERT_FALSE(connect(good));
    auto a = good;
    a.local.retry_count = 8;
    EXPECT_THAT(end.qp().to_ready_to_send(a).text, HasSubstr("retry_count 8"));
}

TEST(SoftDeviceOpen, RefusesWhatIsNoAddress) {
    std::shared_ptr<soft_device> device;
    soft_device_config config;
    config.address = "localhost";
    EXPECT_EQ(soft_device::open(config, device).code, errc::invalid_argument);
    for (const char* address : {"0.0.0.0", "239.1.2.3", "::", "ff02::1"}) {
        config.address = address;
        const error_info e = soft_device::open(config, device);
        EXPECT_EQ(e.code, errc::invalid_argument) << address;
        EXPECT_THAT(e.text, HasSubstr(address));
    }
    config.address = "127.0.0.1";
    config.faults = fault_plan{.drop = 2};
    EXPECT_THAT(soft_device::open(config, device).text, HasSubstr("drop"));
    EXPECT_EQ(device, nullptr);
}

} // namespace
} // namespace rocio

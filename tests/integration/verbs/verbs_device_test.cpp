#include "test_devices.hpp"

#include <rocio/verbs/native.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>

namespace rocio::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(VerbsDevice, OpensByTheNameItLists) {
    const auto devices = test_devices::from_environment();
    EXPECT_THAT(verbs_device::names(), Contains(devices.first));
    EXPECT_FALSE(verbs_device::why_none());
    const auto dev = test_devices::open(devices.first);
    EXPECT_EQ(dev->name(), devices.first);
    EXPECT_EQ(dev->kind(), "verbs");
    EXPECT_EQ(dev->udp_port(), 4791U);
    EXPECT_FALSE(dev->capabilities(1).exact_icrc);
}

TEST(VerbsDevice, AnUnknownNameListsTheDevicesThereAre) {
    std::shared_ptr<verbs_device> out;
    const error_info bad = verbs_device::open("mlx5_99", out);
    EXPECT_EQ(bad.code, errc::device_not_found);
    EXPECT_THAT(bad.text, AllOf(HasSubstr("mlx5_99"), HasSubstr("not found"),
                                HasSubstr(test_devices::from_environment().first)));
    EXPECT_EQ(out, nullptr);
    EXPECT_EQ(verbs_device::open("", out).code, errc::invalid_argument);
}

TEST(VerbsDevice, TellsItsLimits) {
    const auto limits = test_devices::open_first()->limits();
    EXPECT_GT(limits.max_queue_pairs, 16U);
    EXPECT_GE(limits.max_work_requests, 1024U);
    EXPECT_GE(limits.max_completions, 4096U);
    EXPECT_GE(limits.max_inline, 64U);
    EXPECT_GE(limits.max_message, 1U << 20);
    EXPECT_GE(limits.max_region, 1U << 30);
    EXPECT_GE(limits.ports, 1U);
}

TEST(VerbsDevice, ThePortNamesItsInterfaceAndBothMtus) {
    const auto dev = test_devices::open_first();
    port_attributes port;
    ASSERT_FALSE(dev->query_port(1, port));
    EXPECT_EQ(port.state, port_state::active);
    EXPECT_THAT(port.netdev, Not(IsEmpty()));
    EXPECT_GE(port.netdev_mtu, 1280U);
    EXPECT_LE(bytes(port.active_mtu), port.netdev_mtu);
    for (const unsigned wrong : {0U, dev->limits().ports + 1U}) {
        const error_info bad = dev->query_port(static_cast<std::uint8_t>(wrong), port);
        EXPECT_EQ(bad.code, errc::invalid_argument);
        EXPECT_THAT(bad.text, AllOf(HasSubstr("port"), HasSubstr(std::to_string(wrong) + " asked")));
    }
}

TEST(VerbsDevice, TheGidTableHasTypesInterfacesAndPrefixes) {
    const auto dev = test_devices::open_first();
    port_attributes port;
    ASSERT_FALSE(dev->query_port(1, port));
    std::vector<gid_table_entry> table;
    ASSERT_FALSE(dev->gid_table(1, table));
    ASSERT_FALSE(table.empty());
    for (const auto& entry : table) {
        EXPECT_FALSE(entry.value.is_zero()) << entry.index;
        EXPECT_EQ(entry.netdev, port.netdev) << entry.index;
    }
    const auto chosen = choose_gid(table, {}).chosen;
    ASSERT_TRUE(chosen);
    EXPECT_EQ(chosen->type, gid_type::roce_v2);
    EXPECT_TRUE(chosen->prefix) << "the interface's own address has a subnet";
}

TEST(VerbsDevice, AnEmptyOrMissingGidIsRefusedBeforeTheQueuePairNeedsIt) {
    const auto dev = test_devices::open_first();
    std::unique_ptr<device_completion_queue> queue;
    ASSERT_FALSE(dev->create_completion_queue(16, queue));
    device_queue_pair_config config;
    config.completions = queue.get();
    std::unique_ptr<device_queue_pair> pair;
    ASSERT_FALSE(dev->create_queue_pair(config, pair));

    std::vector<gid_table_entry> table;
    ASSERT_FALSE(dev->gid_table(1, table));
    std::uint32_t empty = 0;
    while (std::any_of(table.begin(), table.end(), [&](const auto& e) { return e.index == empty; })) ++empty;
    const error_info hole = pair->to_init({1, empty, memory_access::local_read});
    EXPECT_EQ(hole.code, errc::invalid_gid_index);
    EXPECT_THAT(hole.text, HasSubstr("GID index " + std::to_string(empty)));
    const error_info beyond = pair->to_init({1, 70'000, memory_access::local_read});
    EXPECT_EQ(beyond.code, errc::invalid_gid_index);
    EXPECT_THAT(beyond.text, AllOf(HasSubstr("70000"), HasSubstr("entries")));
    EXPECT_EQ(pair->state(), queue_pair_state::reset);
}

TEST(VerbsDevice, LimitsAreRefusedByNameWithBothNumbers) {
    const auto dev = test_devices::open_first();
    const auto limits = dev->limits();
    std::unique_ptr<device_completion_queue> queue;
    const error_info deep = dev->create_completion_queue(limits.max_completions + 1, queue);
    EXPECT_EQ(deep.code, errc::limit_exceeded);
    EXPECT_THAT(deep.text, HasSubstr(std::to_string(limits.max_completions)));
    ASSERT_FALSE(dev->create_completion_queue(100, queue));
    EXPECT_GE(queue->depth(), 100U);

    device_queue_pair_config config;
    config.completions = queue.get();
    config.send_depth = limits.max_work_requests + 1;
    std::unique_ptr<device_queue_pair> pair;
    const error_info wide = dev->create_queue_pair(config, pair);
    EXPECT_EQ(wide.code, errc::limit_exceeded);
    EXPECT_THAT(wide.text, AllOf(HasSubstr("send_depth"), HasSubstr(std::to_string(config.send_depth)),
                                 HasSubstr(std::to_string(limits.max_work_requests))));
}

TEST(VerbsDevice, AQueuePairTellsWhatItGotAndTheMeasuredInlineLimitHolds) {
    const auto dev = test_devices::open_first();
    std::unique_ptr<device_completion_queue> queue;
    ASSERT_FALSE(dev->create_completion_queue(100, queue));
    for (const auto type : {queue_pair_type::rc, queue_pair_type::uc}) {
        device_queue_pair_config config;
        config.type = type;
        config.completions = queue.get();
        config.send_depth = 10;
        config.receive_depth = 20;
        config.max_inline = dev->limits().max_inline;
        std::unique_ptr<device_queue_pair> pair;
        ASSERT_FALSE(dev->create_queue_pair(config, pair));
        EXPECT_GE(pair->capacity().send_depth, 10U);
        EXPECT_GE(pair->capacity().receive_depth, 20U);
        EXPECT_GE(pair->capacity().max_inline, config.max_inline);
    }
}

TEST(VerbsDevice, EveryOpenServesOneEngine) {
    const auto one = test_devices::open_first(), other = test_devices::open_first();
    const int engine = 0, second = 0;
    EXPECT_EQ(one->bind(&engine), errc::success);
    EXPECT_EQ(one->bind(&engine), errc::success);
    EXPECT_EQ(one->bind(&second), errc::device_bound);
    EXPECT_EQ(other->bind(&second), errc::success);
    one->unbind(&second);
    EXPECT_EQ(one->bind(&second), errc::device_bound) << "only its own engine lets go";
    one->unbind(&engine);
    EXPECT_EQ(one->bind(&second), errc::success);
}

TEST(VerbsDevice, AQueueOfAnotherOpenIsRefused) {
    const auto one = test_devices::open_first(), other = test_devices::open_first();
    std::unique_ptr<device_completion_queue> queue;
    ASSERT_FALSE(one->create_completion_queue(16, queue));
    device_queue_pair_config config;
    config.completions = queue.get();
    std::unique_ptr<device_queue_pair> pair;
    EXPECT_EQ(other->create_queue_pair(config, pair).code, errc::invalid_argument);
    config.completions = nullptr;
    EXPECT_EQ(one->create_queue_pair(config, pair).code, errc::invalid_argument);
}

TEST(VerbsDevice, NativeHandlesAreThoseBehindTheObjects) {
    seam_end end(test_devices::open_first());
    EXPECT_EQ(verbs::native_handle(end.qp())->qp_num, end.qp().number().value());
    EXPECT_EQ(verbs::native_handle(end.region())->rkey, end.region().remote_key().value);
    EXPECT_EQ(verbs::native_handle(end.cq())->context, verbs::native_context(end.dev()));
    EXPECT_EQ(verbs::native_protection_domain(end.dev())->context, verbs::native_context(end.dev()));
}

TEST(VerbsDevice, TheSnapshotHasTheKernelsCounters) {
    verbs_pair pair;
    pair.b.post_receives(1);
    send_request request;
    request.buffer = pair.a.buffer(0, 100);
    ASSERT_EQ(pair.a.send(request).accepted, 1U);
    EXPECT_EQ(pair.b.await().status, errc::success);

    const auto shot = pair.a.dev().snapshot();
    EXPECT_EQ(shot.kind, "verbs");
    EXPECT_EQ(shot.port_state, "active");
    EXPECT_GE(shot.active_mtu, 256U);
    EXPECT_FALSE(shot.gids.empty());
    const auto counted = std::count_if(shot.counters.begin(), shot.counters.end(), [](const auto& c) {
        return c.name.starts_with("hw_counters.") && c.value > 0;
    });
    EXPECT_GT(counted, 0);
}

std::ptrdiff_t open_descriptors() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
}

TEST(VerbsDevice, TwoHundredLivesLeaveNoDescriptorBehind) {
    { seam_end warm_up(test_devices::open_first()); }
    const auto before = open_descriptors();
    for (int i = 0; i < 200; ++i) {
        seam_end_options small;
        small.memory = 4096;
        small.completions = 16;
        small.depth = 4;
        small.type = i % 2 == 0 ? queue_pair_type::rc : queue_pair_type::uc;
        seam_end end(test_devices::open_first(), small);
        end.post_receives(2, 64);
        if (i % 3 == 0) {
            ASSERT_EQ(end.cq().arm(), errc::success);
            ASSERT_FALSE(end.qp().to_error());
        }
    }
    EXPECT_EQ(open_descriptors(), before);
}

TEST(VerbsDevice, ObjectsKeepTheirContextAlive) {
    auto dev = test_devices::open_first();
    std::vector<std::byte> bytes(4096);
    std::unique_ptr<device_memory_region> region;
    ASSERT_FALSE(dev->register_memory(bytes, {}, region));
    dev.reset();
    EXPECT_NE(region->local_key().value, 0U);
    EXPECT_EQ(region->bytes().data(), bytes.data());
}

} // namespace
} // namespace rocio::test

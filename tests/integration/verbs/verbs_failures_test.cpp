#include "test_devices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace rocio::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

send_request small_send(seam_end& from, std::uint32_t slot = 0) {
    send_request out;
    out.id = {5, 6, slot};
    out.buffer = from.buffer(0, 16);
    return out;
}

void expect_only_what_a_failure_tells(const work_completion& got, errc status, const seam_end&, wr_id id) {
    EXPECT_EQ(got.status, status) << make_error_code(got.status).message();
    EXPECT_EQ(got.id, id);
    EXPECT_EQ(got.byte_len, 0U);
    EXPECT_EQ(got.immediate, 0U);
    EXPECT_FALSE(got.has_immediate);
}

TEST(VerbsFailures, WithoutAReceiveTheSenderWaitsForOne) {
    verbs_pair pair;
    ASSERT_EQ(pair.a.send(small_send(pair.a)).accepted, 1U);
    EXPECT_FALSE(readable(pair.a.dev().event_fd(), std::chrono::milliseconds{20}));
    EXPECT_TRUE(pair.a.poll_once().empty());
    pair.b.post_receives(1);
    EXPECT_EQ(pair.b.await().status, errc::success);
    EXPECT_EQ(pair.a.await().status, errc::success);
}

TEST(VerbsFailures, RnrRetriesEnd) {
    seam_end_options impatient;
    impatient.rnr_retry = 1;
    verbs_pair pair{impatient, {}};
    ASSERT_EQ(pair.a.send(small_send(pair.a, 1)).accepted, 1U);
    const auto got = pair.a.await();
    expect_only_what_a_failure_tells(got, errc::rnr_retry_exceeded, pair.a, {5, 6, 1});
    EXPECT_EQ(got.queue_pair, pair.a.qp().number());
    EXPECT_EQ(pair.a.qp().state(), queue_pair_state::error);
}

TEST(VerbsFailures, AWrongKeyIsRefusedByThePeerAndEndsBothSides) {
    verbs_pair pair;
    pair.b.post_receives(2);
    auto request = small_send(pair.a, 2);
    request.op = opcode::rdma_write;
    request.remote_address = pair.b.remote_address(0);
    request.remote_key = {pair.b.region().remote_key().value ^ 0x5500};
    ASSERT_EQ(pair.a.send(request).accepted, 1U);
    expect_only_what_a_failure_tells(pair.a.await(), errc::remote_access_error, pair.a, {5, 6, 2});
    for (int i = 0; i < 2; ++i) EXPECT_EQ(pair.b.await().status, errc::work_request_flushed);
    EXPECT_EQ(pair.b.qp().state(), queue_pair_state::error);
}

TEST(VerbsFailures, AnAddressOutsideTheRegionIsRefused) {
    verbs_pair pair;
    auto request = small_send(pair.a);
    request.op = opcode::rdma_read;
    request.remote_address = pair.b.remote_address(pair.b.memory().size() - 8);
    request.remote_key = pair.b.region().remote_key();
    ASSERT_EQ(pair.a.send(request).accepted, 1U);
    EXPECT_EQ(pair.a.await().status, errc::remote_access_error);
}

TEST(VerbsFailures, APeerThatDoesNotAnswerIsGivenUpAfterTheRetries) {
    seam_end_options brisk;
    brisk.timeout = ack_timeout{10}; // 4 ms
    brisk.retry_count = 2;
    verbs_pair pair{brisk, {}};
    pair.b.destroy_queue_pair();
    ASSERT_EQ(pair.a.send(small_send(pair.a, 3)).accepted, 1U);
    expect_only_what_a_failure_tells(pair.a.await(), errc::retry_exceeded, pair.a, {5, 6, 3});
}

TEST(VerbsFailures, ErrorStateFlushesEverythingPosted) {
    verbs_pair pair;
    pair.a.post_receives(20);
    ASSERT_EQ(pair.a.send(small_send(pair.a, 40)).accepted, 1U); // waits: the peer has no receive
    ASSERT_FALSE(pair.a.qp().to_error());
    EXPECT_EQ(pair.a.qp().state(), queue_pair_state::error);

    std::vector<std::uint32_t> flushed;
    for (int i = 0; i < 21; ++i) {
        const auto got = pair.a.await();
        EXPECT_EQ(got.status, errc::work_request_flushed);
        if (got.id.owner == 1) flushed.push_back(got.id.slot);
    }
    ASSERT_EQ(flushed.size(), 20U);
    for (std::uint32_t i = 0; i < 20; ++i) EXPECT_EQ(flushed[i], i);
    EXPECT_FALSE(pair.a.qp().to_error()) << "once more is fine";
}

TEST(VerbsFailures, ToErrorWorksInEveryState) {
    const auto dev = test_devices::open_first();
    std::unique_ptr<device_completion_queue> queue;
    ASSERT_FALSE(dev->create_completion_queue(16, queue));
    device_queue_pair_config config;
    config.completions = queue.get();
    std::unique_ptr<device_queue_pair> fresh;
    ASSERT_FALSE(dev->create_queue_pair(config, fresh));
    EXPECT_EQ(fresh->state(), queue_pair_state::reset);
    EXPECT_FALSE(fresh->to_error());
    EXPECT_EQ(fresh->state(), queue_pair_state::error);

    seam_end in_init(dev);
    in_init.post_receives(1);
    EXPECT_FALSE(in_init.qp().to_error());
    EXPECT_EQ(in_init.await().status, errc::work_request_flushed);
}

TEST(VerbsFailures, StepsOutOfOrderNameTheStateTheyNeed) {
    verbs_pair pair;
    EXPECT_THAT(pair.a.qp().to_init({}).text, AllOf(HasSubstr("RESET"), HasSubstr("RTS")));
    const auto again = pair.a.connection_to(pair.b);
    EXPECT_EQ(pair.a.qp().to_ready_to_receive(again).code, errc::invalid_state);
    EXPECT_EQ(pair.a.qp().to_ready_to_send(again).code, errc::invalid_state);
}

TEST(VerbsFailures, PostingTellsHowManyWereAcceptedAndWhyTheNextWasNot) {
    seam_end_options options;
    options.depth = 8;
    options.max_inline = 16;
    verbs_pair pair{options, {}};
    auto& qp = pair.a.qp();
    const auto room = qp.capacity();
    EXPECT_GE(room.receive_depth, 8U);
    EXPECT_GE(room.max_inline, 16U);

    // Providers round up, so the place where it ends is theirs.
    std::vector<receive_request> receives(8 * room.receive_depth, {{1, 1, 1}, pair.a.buffer(0, 16)});
    const auto full = qp.post_receive(receives);
    EXPECT_EQ(full.reason, errc::queue_full);
    EXPECT_GE(full.accepted, 8U);
    EXPECT_LT(full.accepted, receives.size());

    std::vector<send_request> sends(3, small_send(pair.a));
    const std::vector<std::byte> long_bytes(room.max_inline + 1);
    sends[2].inlined = true;
    sends[2].inline_data = long_bytes;
    const auto outcome = qp.post_send(sends);
    EXPECT_EQ(outcome.accepted, 2U);
    EXPECT_EQ(outcome.reason, errc::inline_too_long);
    EXPECT_EQ(qp.post_send({}).accepted, 0U);
    EXPECT_EQ(qp.post_send({}).reason, errc::success);
}

TEST(VerbsFailures, AFullSendQueueIsBackPressureAndRecovers) {
    seam_end_options shallow;
    shallow.depth = 4;
    verbs_pair pair{shallow, {}};
    std::vector<send_request> sends(8 * pair.a.qp().capacity().send_depth, small_send(pair.a));
    const auto outcome = pair.a.qp().post_send(sends);
    EXPECT_EQ(outcome.reason, errc::queue_full);
    EXPECT_GE(outcome.accepted, 4U);
    pair.b.post_receives(static_cast<std::uint32_t>(outcome.accepted) + 1);
    for (std::size_t i = 0; i < outcome.accepted; ++i) EXPECT_EQ(pair.a.await().status, errc::success);
    EXPECT_EQ(pair.a.send(small_send(pair.a)).accepted, 1U);
    EXPECT_EQ(pair.a.await().status, errc::success);
}

TEST(VerbsFailures, PostingInTheWrongStateIsRefused) {
    const auto dev = test_devices::open_first();
    seam_end end(dev);
    EXPECT_EQ(end.send(small_send(end)).reason, errc::invalid_state);
    EXPECT_EQ(end.receive({{1, 1, 1}, end.buffer(0, 16)}).accepted, 1U);
}

TEST(VerbsFailures, APeerOfAnotherFamilyIsNamedWithTheGidIndex) {
    verbs_pair pair;
    seam_end lone(test_devices::open_first());
    auto to = lone.connection_to(pair.b);
    to.peer.address = *gid::parse(lone.address().value.is_v4_mapped() ? "fd00:77::1" : "10.77.0.1");
    const error_info bad = lone.qp().to_ready_to_receive(to);
    ASSERT_TRUE(bad);
    EXPECT_THAT(bad.text, AllOf(HasSubstr(to.peer.address.to_address_string()), HasSubstr("GID index")));
    EXPECT_EQ(lone.qp().state(), queue_pair_state::init);
}

/// Takes CAP_IPC_LOCK, which overrides RLIMIT_MEMLOCK, and lowers the limit; gives both back.
class short_of_locked_memory {
  public:
    explicit short_of_locked_memory(rlim_t bytes) {
        EXPECT_EQ(syscall(SYS_capget, &header_, before_), 0);
        __user_cap_data_struct less[2] = {before_[0], before_[1]};
        less[0].effective &= ~(1U << CAP_IPC_LOCK);
        EXPECT_EQ(syscall(SYS_capset, &header_, less), 0);
        EXPECT_EQ(getrlimit(RLIMIT_MEMLOCK, &limit_), 0);
        const rlimit lower{bytes, limit_.rlim_max};
        EXPECT_EQ(setrlimit(RLIMIT_MEMLOCK, &lower), 0);
    }
    ~short_of_locked_memory() {
        setrlimit(RLIMIT_MEMLOCK, &limit_);
        syscall(SYS_capset, &header_, before_);
    }
    short_of_locked_memory(const short_of_locked_memory&) = delete;
    short_of_locked_memory& operator=(const short_of_locked_memory&) = delete;

  private:
    __user_cap_header_struct header_{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct before_[2]{};
    rlimit limit_{};
};

TEST(VerbsFailures, ShortageOfLockedMemoryNamesTheLimit) {
    const short_of_locked_memory shortage(64 * 1024);
    const auto dev = test_devices::open_first();
    std::vector<std::byte> bytes(4 << 20);
    std::unique_ptr<device_memory_region> region;
    const error_info bad = dev->register_memory(bytes, {}, region);
    EXPECT_EQ(bad.code, errc::registration_failed);
    EXPECT_EQ(region, nullptr);
    EXPECT_THAT(bad.text, AllOf(HasSubstr("RLIMIT_MEMLOCK"), HasSubstr("65536"), HasSubstr("4194304"),
                                HasSubstr("ulimit -l")));
    EXPECT_FALSE(dev->register_memory(std::span(bytes).first(4096), {}, region)) << "less fits";
}

TEST(VerbsFailures, RegionsThatCannotBeAreRefusedWithTheReason) {
    const auto dev = test_devices::open_first();
    std::vector<std::byte> bytes(4096);
    std::unique_ptr<device_memory_region> region;
    EXPECT_EQ(dev->register_memory({}, {}, region).code, errc::invalid_argument);
    EXPECT_THAT(dev->register_memory(bytes, {memory_access::remote_write, {}}, region).text,
                HasSubstr("local_write"));
    EXPECT_THAT(dev->register_memory(bytes, {memory_access::local_write, ~std::uint64_t{0}}, region).text,
                HasSubstr("64 bits"));
    const auto address = std::uint64_t{reinterpret_cast<std::uintptr_t>(bytes.data())};
    EXPECT_THAT(dev->register_memory(bytes, {memory_access::local_write, address + 1}, region).text,
                AllOf(HasSubstr("iova " + std::to_string(address + 1)), HasSubstr("page")));
    auto* const unmapped = reinterpret_cast<std::byte*>(0x1000);
    const error_info hole = dev->register_memory({unmapped, 4096}, {}, region);
    EXPECT_EQ(hole.code, errc::invalid_argument);
    EXPECT_THAT(hole.text, HasSubstr("mapped"));
    EXPECT_EQ(region, nullptr);
}

} // namespace
} // namespace rocio::test

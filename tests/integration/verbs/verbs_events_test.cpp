#include "test_devices.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rocio::test {
namespace {

using std::chrono::milliseconds;

send_request small_send(seam_end& from) {
    send_request out;
    out.buffer = from.buffer(0, 16);
    return out;
}

TEST(VerbsEvents, DescriptorsNeverBlock) {
    const auto dev = test_devices::open_first();
    for (const int descriptor : {dev->event_fd(), dev->async_event_fd()}) {
        ASSERT_GE(descriptor, 0);
        EXPECT_NE(fcntl(descriptor, F_GETFL) & O_NONBLOCK, 0);
        EXPECT_NE(fcntl(descriptor, F_GETFD) & FD_CLOEXEC, 0);
    }
    dev->drain_events();
    device_event event;
    EXPECT_FALSE(dev->next_event(event));
}

TEST(VerbsEvents, TrafficDrivenByEventsAlone) {
    verbs_pair pair;
    for (int i = 0; i < 100; ++i) {
        pair.b.post_receives(1);
        ASSERT_EQ(pair.a.send(small_send(pair.a)).accepted, 1U);
        EXPECT_EQ(pair.b.await_by_event().byte_len, 16U);
        EXPECT_EQ(pair.a.await_by_event().status, errc::success);
    }
}

TEST(VerbsEvents, DrainingEmptiesTheDescriptorUntilTheNextArm) {
    verbs_pair pair;
    pair.b.post_receives(3);
    ASSERT_EQ(pair.b.cq().arm(), errc::success);
    ASSERT_EQ(pair.a.send(small_send(pair.a)).accepted, 1U);
    ASSERT_TRUE(readable(pair.b.dev().event_fd()));
    pair.b.dev().drain_events();
    EXPECT_FALSE(readable(pair.b.dev().event_fd(), milliseconds{0}));

    // Not armed: the next completion is silent, and there all the same.
    ASSERT_EQ(pair.a.send(small_send(pair.a)).accepted, 1U);
    EXPECT_EQ(pair.b.await().status, errc::success);
    EXPECT_EQ(pair.b.await().status, errc::success);
    EXPECT_FALSE(readable(pair.b.dev().event_fd(), milliseconds{0}));

    ASSERT_EQ(pair.b.cq().arm(), errc::success);
    ASSERT_EQ(pair.a.send(small_send(pair.a)).accepted, 1U);
    EXPECT_TRUE(readable(pair.b.dev().event_fd()));
}

/// Ends on one opened device: their completion queues share its channel.
struct one_channel {
    std::shared_ptr<verbs_device> dev = test_devices::open_first();
    std::vector<std::unique_ptr<seam_end>> ends;

    explicit one_channel(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) ends.push_back(std::make_unique<seam_end>(dev));
    }
    /// Flushes one receive into each armed queue.
    void raise_one_event_each() {
        for (auto& end : ends) {
            end->post_receives(1);
            EXPECT_EQ(end->cq().arm(), errc::success);
            EXPECT_FALSE(end->qp().to_error());
        }
    }
};

TEST(VerbsEvents, EventsOfSeveralQueuesAreCountedInTheirOwn) {
    one_channel many{5};
    for (int round = 0; round < 3; ++round) {
        many.raise_one_event_each();
        for (auto& end : many.ends) EXPECT_EQ(end->await().status, errc::work_request_flushed);
        many.dev->drain_events();
        EXPECT_FALSE(readable(many.dev->event_fd(), milliseconds{0}));
        for (auto& end : many.ends) {
            end->destroy_queue_pair();
            end->add_queue_pair();
        }
    }
    many.ends.clear(); // an event counted in the wrong queue would make this wait for ever
}

TEST(VerbsEvents, QueuesWithPendingEventsAreDestroyedAtOnce) {
    one_channel many{4};
    many.raise_one_event_each();
    ASSERT_TRUE(readable(many.dev->event_fd()));
    many.ends.erase(many.ends.begin(), many.ends.begin() + 2); // before anybody drained
    many.dev->drain_events();
    many.ends.clear();
    many.dev->drain_events();
    EXPECT_FALSE(readable(many.dev->event_fd(), milliseconds{0}));
}

TEST(VerbsEvents, ADeviceWithPendingEventsIsClosedAtOnce) {
    auto dev = test_devices::open_first();
    auto end = std::make_unique<seam_end>(dev);
    end->post_receives(8);
    ASSERT_EQ(end->cq().arm(), errc::success);
    ASSERT_FALSE(end->qp().to_error());
    ASSERT_TRUE(readable(dev->event_fd()));
    dev.reset();
    end.reset();
}

TEST(VerbsEvents, AForkedChildDoesNotTakeThePagesAway) {
    verbs_pair pair;
    int to_child[2];
    ASSERT_EQ(pipe(to_child), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        char byte = 0;
        close(to_child[1]);
        (void)!read(to_child[0], &byte, 1);
        _exit(0);
    }
    close(to_child[0]);

    // The child shares the pages, so this write would copy them, and the device would keep the old ones.
    pair.a.write(0, "after the fork..");
    pair.b.post_receives(1);
    ASSERT_EQ(pair.a.send(small_send(pair.a)).accepted, 1U);
    EXPECT_EQ(pair.b.await().byte_len, 16U);
    EXPECT_EQ(pair.b.text(0, 16), "after the fork..");

    close(to_child[1]);
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

} // namespace
} // namespace rocio::test

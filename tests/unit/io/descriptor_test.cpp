// File descriptors: none leaks into children, none is closed twice.

#include "queue_pair_fixture.hpp"
#include "recorder.hpp"

#include <optional>
#include <set>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace rocio::test {
namespace {

std::set<int> open_descriptors() {
    std::set<int> all;
    for (int fd = 0; fd < 1024; ++fd) {
        if (::fcntl(fd, F_GETFD) >= 0) all.insert(fd);
    }
    return all;
}

class engine_descriptors : public queue_pair_fixture {
  protected:
    void park(queue_pair& qp) {
        qp.async_receive(memory.buffer(0, 64), [](error_code, received_message) {});
        poll();
        ASSERT_GT(engine().snapshot().waits, 0U);
    }
};

TEST_F(engine_descriptors, all_close_on_exec) {
    const auto before = open_descriptors();
    auto qp = connected();
    park(qp);
    std::size_t ours = 0;
    for (const int fd : open_descriptors()) {
        if (before.contains(fd)) continue;
        ++ours;
        EXPECT_TRUE(::fcntl(fd, F_GETFD) & FD_CLOEXEC) << "descriptor " << fd;
    }
    EXPECT_GE(ours, 2U) << "the device's two descriptors are waited for on copies";
    dev->complete_receive(0, bytes_of("x"));
    run();
}

TEST_F(engine_descriptors, go_when_nothing_is_outstanding) {
    engine();
    const auto before = open_descriptors();
    auto qp = connected();
    park(qp);
    EXPECT_GT(open_descriptors().size(), before.size());
    dev->complete_receive(0, bytes_of("x"));
    run();
    EXPECT_EQ(open_descriptors(), before);
}

TEST_F(engine_descriptors, go_while_the_engine_spins) {
    engine();
    const auto before = open_descriptors();
    auto qp = connected();
    park(qp);
    const auto parked = open_descriptors().size();
    engine().set_policy(polling_policy::spin());
    const auto turns = engine().snapshot().turns;
    run_until([&] { return engine().snapshot().turns > turns; });
    EXPECT_EQ(open_descriptors().size(), parked - 1) << "only asynchronous events are still waited for";
    dev->complete_receive(0, bytes_of("x"));
    run();
    EXPECT_EQ(open_descriptors(), before);
}

TEST_F(engine_descriptors, of_the_device_are_never_closed) {
    const int events = dev->event_fd(), async_events = dev->async_event_fd();
    for (int i = 0; i < 3; ++i) {
        auto qp = connected();
        park(qp);
        auto moved = std::move(qp);
        auto assigned = connected();
        assigned = std::move(moved);
        assigned.close();
        run();
    }
    EXPECT_GE(::fcntl(events, F_GETFD), 0);
    EXPECT_GE(::fcntl(async_events, F_GETFD), 0);
}

TEST_F(engine_descriptors, do_not_take_over_a_number_that_is_used_again) {
    auto qp = std::make_optional(connected());
    park(*qp);
    const auto with_engine = open_descriptors();
    qp.reset();
    run();
    // Fill every number that became free, then let the engine close whatever it still believes to own.
    std::vector<int> strangers;
    for (int i = 0; i < 8; ++i) strangers.push_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    EXPECT_TRUE(with_engine.contains(strangers.front())) << "a number of the engine's is in use again";
    {
        auto again = connected();
        park(again);
        again.close();
    }
    run();
    for (const int fd : strangers) {
        EXPECT_GE(::fcntl(fd, F_GETFD), 0) << "a stranger's descriptor was closed";
        ::close(fd);
    }
}

} // namespace
} // namespace rocio::test

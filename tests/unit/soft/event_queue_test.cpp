#include "soft/event_queue.hpp"

#include <gtest/gtest.h>

namespace rocio::soft {
namespace {

device_event fatal(std::uint32_t number) {
    return {device_event_kind::queue_pair_fatal, 0, qpn{number}};
}

TEST(EventQueue, GivesEventsInTheirOrder) {
    event_queue queue;
    queue.push(fatal(17));
    queue.push(fatal(18));
    device_event e;
    ASSERT_TRUE(queue.pop(e));
    EXPECT_EQ(e.queue_pair, qpn{17});
    ASSERT_TRUE(queue.pop(e));
    EXPECT_EQ(e.queue_pair, qpn{18});
    EXPECT_FALSE(queue.pop(e));
    EXPECT_TRUE(queue.empty());
}

TEST(EventQueue, DropsAndCountsTheOldestWhenNobodyTakesThem) {
    event_queue queue;
    for (std::uint32_t i = 0; i < event_queue::capacity + 10; ++i) queue.push(fatal(100 + i));
    EXPECT_EQ(queue.lost().value(), 10U);
    device_event e;
    for (std::uint32_t i = 0; i < event_queue::capacity; ++i) {
        ASSERT_TRUE(queue.pop(e));
        ASSERT_EQ(e.queue_pair, qpn{110 + i});
    }
    EXPECT_FALSE(queue.pop(e));
}

} // namespace
} // namespace rocio::soft

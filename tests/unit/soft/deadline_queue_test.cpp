#include "soft/deadline_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <vector>

namespace rocio::soft {
namespace {

using namespace std::chrono_literals;
using time_point = std::chrono::steady_clock::time_point;

constexpr time_point t0 = time_point{} + 1h;
constexpr time_point never = time_point::max();

TEST(DeadlineQueue, IsEmptyUntilSomethingIsWaitedFor) {
    deadline_queue<deadline_node> queue;
    deadline_node node;
    queue.update(node, never);
    EXPECT_EQ(queue.size(), 0U);
    EXPECT_EQ(queue.earliest(), never);
    EXPECT_EQ(queue.take_due(t0), nullptr);
}

TEST(DeadlineQueue, GivesWhatIsDueEarliestFirst) {
    deadline_queue<deadline_node> queue;
    std::vector<deadline_node> nodes(3);
    queue.update(nodes[0], t0 + 30us);
    queue.update(nodes[1], t0 + 10us);
    queue.update(nodes[2], t0 + 20us);
    EXPECT_EQ(queue.earliest(), t0 + 10us);
    EXPECT_EQ(queue.take_due(t0 + 9us), nullptr);
    EXPECT_EQ(queue.take_due(t0 + 25us), &nodes[1]);
    EXPECT_EQ(queue.take_due(t0 + 25us), &nodes[2]);
    EXPECT_EQ(queue.take_due(t0 + 25us), nullptr);
    EXPECT_EQ(queue.size(), 1U);
}

TEST(DeadlineQueue, MovesAnEarlierDeadlineForwardAtOnce) {
    deadline_queue<deadline_node> queue;
    deadline_node late, other;
    queue.update(late, t0 + 100us);
    queue.update(other, t0 + 50us);
    queue.update(late, t0 + 10us);
    EXPECT_EQ(queue.earliest(), t0 + 10us);
    EXPECT_EQ(queue.take_due(t0 + 10us), &late);
}

TEST(DeadlineQueue, LetsALaterDeadlineComeUpAtItsOldTimeOnce) {
    deadline_queue<deadline_node> queue;
    deadline_node node;
    queue.update(node, t0 + 10us);
    queue.update(node, t0 + 100us);
    ASSERT_EQ(queue.take_due(t0 + 10us), &node);
    queue.update(node, t0 + 100us);
    EXPECT_EQ(queue.take_due(t0 + 99us), nullptr);
    EXPECT_EQ(queue.take_due(t0 + 100us), &node);
}

TEST(DeadlineQueue, ForgetsAnErasedNodeWhereverItStands) {
    for (std::size_t victim = 0; victim < 7; ++victim) {
        deadline_queue<deadline_node> queue;
        std::vector<deadline_node> nodes(7);
        for (std::size_t i = 0; i < nodes.size(); ++i) queue.update(nodes[i], t0 + i * 1us);
        queue.erase(nodes[victim]);
        queue.erase(nodes[victim]);
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (i == victim) continue;
            ASSERT_EQ(queue.take_due(never), &nodes[i]) << "without " << victim;
        }
        EXPECT_EQ(queue.size(), 0U);
    }
}

TEST(DeadlineQueue, AgreesWithASortedListUnderRandomUse) {
    std::mt19937 random(7);
    deadline_queue<deadline_node> queue;
    std::vector<deadline_node> nodes(64);
    for (int step = 0; step < 20'000; ++step) {
        deadline_node& node = nodes[random() % nodes.size()];
        if (random() % 4 == 0) {
            queue.erase(node);
        } else {
            queue.update(node, t0 + std::chrono::microseconds(random() % 1000));
        }
        time_point least = never;
        for (const auto& n : nodes)
            if (n.place != deadline_node::nowhere) least = std::min(least, n.deadline);
        ASSERT_EQ(queue.earliest(), least) << "step " << step;
    }
}

} // namespace
} // namespace rocio::soft

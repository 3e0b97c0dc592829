#include <rocio/async/operation.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace rocio::async {
namespace {

/// Says how it ended.
class test_operation : public operation_base {
  public:
    test_operation(int n, std::vector<int>& log) : operation_base(&test_operation::end), name(n), log_(log) {}
    int name;

  private:
    static void end(operation_base* base, bool invoke) {
        auto* self = static_cast<test_operation*>(base);
        self->log_.push_back(invoke ? self->name : -self->name);
    }
    std::vector<int>& log_;
};

class operation_queue_test : public ::testing::Test {
  protected:
    std::vector<int> log;
    test_operation a{1, log}, b{2, log}, c{3, log}, d{4, log};
    operation_queue<test_operation> queue;

    std::vector<int> drain() {
        std::vector<int> names;
        while (auto* op = queue.pop()) names.push_back(op->name);
        return names;
    }
};

TEST_F(operation_queue_test, is_first_in_first_out) {
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(queue.pop(), nullptr);
    for (auto* op : {&a, &b, &c}) queue.push(op);
    EXPECT_EQ(queue.front(), &a);
    EXPECT_THAT(drain(), ::testing::ElementsAre(1, 2, 3));
    EXPECT_TRUE(queue.empty());
    queue.push(&d);
    EXPECT_THAT(drain(), ::testing::ElementsAre(4));
}

TEST_F(operation_queue_test, takes_a_chain_behind_its_own) {
    for (auto* first : {&a, &c}) {
        auto* last = first == &a ? &b : &d;
        first->next = last;
        last->next = &a; // whatever was there
        queue.append(first, last);
    }
    EXPECT_EQ(queue.back(), &d);
    EXPECT_THAT(drain(), ::testing::ElementsAre(1, 2, 3, 4));
    queue.append(&a, &a);
    queue.push(&b);
    EXPECT_THAT(drain(), ::testing::ElementsAre(1, 2));
}

TEST_F(operation_queue_test, destroys_what_is_left_without_completing_it) {
    {
        operation_queue<test_operation> dying;
        dying.push(&a);
        dying.push(&b);
    }
    EXPECT_THAT(log, ::testing::ElementsAre(-1, -2));
}

TEST_F(operation_queue_test, removes_from_every_position) {
    for (auto* removed : {&a, &b, &c}) {
        for (auto* op : {&a, &b, &c}) queue.push(op);
        EXPECT_TRUE(queue.remove(removed));
        EXPECT_FALSE(queue.remove(removed));
        queue.push(&d);
        std::vector<int> left;
        for (auto* op : {&a, &b, &c, &d}) {
            if (op != removed) left.push_back(op->name);
        }
        EXPECT_EQ(drain(), left);
    }
}

TEST_F(operation_queue_test, finds_by_cancellation_key) {
    int key_of_b = 0, nobodys = 0;
    b.cancellation_key = &key_of_b;
    for (auto* op : {&a, &b, &c}) queue.push(op);
    EXPECT_EQ(queue.take_by_key(&nobodys), nullptr);
    EXPECT_EQ(queue.take_by_key(&key_of_b), &b);
    EXPECT_EQ(queue.take_by_key(&key_of_b), nullptr);
    EXPECT_THAT(drain(), ::testing::ElementsAre(1, 3));
}

TEST_F(operation_queue_test, puts_another_queue_in_front) {
    operation_queue<test_operation> first;
    queue.push(&c);
    queue.prepend(first);
    first.push(&a);
    first.push(&b);
    queue.prepend(first);
    EXPECT_TRUE(first.empty());
    first.push(&d);
    EXPECT_THAT(drain(), ::testing::ElementsAre(1, 2, 3));
    queue.prepend(first);
    queue.push(&a);
    EXPECT_THAT(drain(), ::testing::ElementsAre(4, 1));
}

TEST_F(operation_queue_test, moves) {
    queue.push(&a);
    queue.push(&b);
    operation_queue<test_operation> other(std::move(queue));
    EXPECT_TRUE(queue.empty());
    queue.push(&c);
    queue = std::move(other);
    EXPECT_THAT(log, ::testing::ElementsAre(-3)) << "what was assigned over is destroyed";
    EXPECT_THAT(drain(), ::testing::ElementsAre(1, 2));
}

} // namespace
} // namespace rocio::async

#include <rocio/io/detail/work_queue.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace rocio::detail {
namespace {

/// Only its address matters here.
class nothing : public async::operation_base {
  public:
    nothing() : operation_base([](operation_base*, bool) {}) {}
};

class work_queue_test : public ::testing::Test {
  protected:
    wr_id put(nothing& op) {
        auto* place = queue.free_place();
        const auto id = place->id;
        queue.put(*place, &op);
        return id;
    }

    nothing a, b, c;
    work_queue<nothing> queue{10, 2};
};

TEST_F(work_queue_test, names_its_places_behind_the_first_slot) {
    queue.name_places({7, 9, 0});
    EXPECT_EQ(put(a), (wr_id{7, 9, 10}));
    EXPECT_EQ(put(b), (wr_id{7, 9, 11}));
    EXPECT_EQ(queue.free_place(), nullptr);
}

TEST_F(work_queue_test, gives_each_operation_once_and_its_place_to_the_next) {
    queue.name_places({});
    const auto first = put(a), second = put(b);
    EXPECT_FALSE(queue.idle());
    EXPECT_EQ(queue.take(second.slot), &b);
    EXPECT_EQ(queue.take(second.slot), nullptr);
    EXPECT_EQ(put(c).slot, second.slot);
    EXPECT_EQ(queue.take(first.slot), &a);
    EXPECT_EQ(queue.take(second.slot), &c);
    EXPECT_TRUE(queue.idle());
}

TEST_F(work_queue_test, knows_no_slots_of_others) {
    queue.name_places({});
    put(a);
    for (const std::uint32_t slot : {0U, 9U, 11U, 12U, 0xFFFFFFFFU}) EXPECT_EQ(queue.take(slot), nullptr);
    EXPECT_EQ(queue.take(10), &a);
}

TEST_F(work_queue_test, may_be_emptied_and_named_anew) {
    queue.name_places({1, 1, 0});
    put(a);
    put(b);
    std::vector<nothing*> taken;
    queue.take_each([&](nothing* op) { taken.push_back(op); });
    EXPECT_EQ(taken, (std::vector<nothing*>{&a, &b}));
    EXPECT_TRUE(queue.idle());
    queue.name_places({1, 2, 0});
    EXPECT_EQ(put(c).generation, 2U);
}

} // namespace
} // namespace rocio::detail

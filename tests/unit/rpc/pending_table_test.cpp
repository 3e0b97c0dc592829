#include <rocio/rpc/detail/call_base.hpp>
#include <rocio/rpc/detail/deadline_heap.hpp>
#include <rocio/rpc/detail/pending_table.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <random>
#include <vector>

namespace rocio::rpc::detail {
namespace {

/// A call that is never completed.
class bare_call final : public call_base {
  public:
    bare_call() : call_base([](async::operation_base*, bool) {}) {}
    explicit bare_call(int after) : bare_call() { deadline = time_point(std::chrono::nanoseconds(after)); }

    std::size_t argument_size() const noexcept override { return 0; }
    void encode_arguments(std::span<std::byte>) const noexcept override {}
    bool decode_results(std::span<const std::byte>) noexcept override { return true; }
    void fail(const error_code&) noexcept override {}
};

TEST(pending_table_test, finds_what_was_put_in) {
    pending_table table(4);
    bare_call a, b;
    EXPECT_EQ(table.find(1), nullptr);
    table.insert(1, a);
    table.insert(0xFFFFFFFF, b);
    EXPECT_EQ(table.find(1), &a);
    EXPECT_EQ(table.find(0xFFFFFFFF), &b);
    EXPECT_EQ(table.size(), 2U);
}

TEST(pending_table_test, forgets_what_was_taken_out) {
    pending_table table(4);
    bare_call a;
    table.insert(7, a);
    EXPECT_TRUE(table.erase(7));
    EXPECT_FALSE(table.erase(7));
    EXPECT_EQ(table.find(7), nullptr);
    EXPECT_EQ(table.size(), 0U);
}

TEST(pending_table_test, finds_those_behind_a_hole) {
    pending_table table(4); // 8 places
    bare_call a, b, c;
    table.insert(3, a); // all three want the same place
    table.insert(11, b);
    table.insert(19, c);
    EXPECT_TRUE(table.erase(3));
    EXPECT_EQ(table.find(11), &b);
    EXPECT_EQ(table.find(19), &c);
    EXPECT_TRUE(table.erase(11));
    EXPECT_EQ(table.find(19), &c);
}

TEST(pending_table_test, moves_nothing_in_front_of_its_own_place) {
    pending_table table(4);
    bare_call a, b, c;
    table.insert(7, a);  // the last place
    table.insert(15, b); // wraps to the first
    table.insert(1, c);  // its own place
    EXPECT_TRUE(table.erase(7));
    EXPECT_EQ(table.find(15), &b);
    EXPECT_EQ(table.find(1), &c);
}

TEST(pending_table_test, holds_nothing_with_a_capacity_of_0) {
    pending_table table(0);
    EXPECT_EQ(table.find(0), nullptr);
    EXPECT_FALSE(table.erase(0));
}

TEST(pending_table_test, visits_all_and_is_cleared) {
    pending_table table(8);
    std::list<bare_call> calls(8);
    std::uint32_t id = 100;
    for (auto& call : calls) table.insert(id++, call);
    std::size_t seen = 0;
    table.for_each([&](call_base&) { ++seen; });
    EXPECT_EQ(seen, 8U);
    table.clear();
    EXPECT_EQ(table.size(), 0U);
    EXPECT_EQ(table.find(100), nullptr);
}

TEST(pending_table_test, agrees_with_a_map) {
    constexpr std::size_t capacity = 16;
    std::mt19937 random(4);
    pending_table table(capacity);
    std::map<std::uint32_t, bare_call> model;
    for (int step = 0; step < 50'000; ++step) {
        const std::uint32_t id = random() % 64 * (random() % 2 ? 1 : 32); // crowded places
        if (const auto at = model.find(id); at != model.end()) {
            EXPECT_EQ(table.find(id), &at->second);
            if (random() % 2) {
                EXPECT_TRUE(table.erase(id));
                model.erase(at);
            }
        } else {
            EXPECT_EQ(table.find(id), nullptr);
            if (model.size() < capacity) table.insert(id, model[id]);
        }
        ASSERT_EQ(table.size(), model.size());
    }
    for (auto& [id, call] : model) EXPECT_EQ(table.find(id), &call);
}

TEST(deadline_heap_test, gives_the_earliest) {
    bare_call late(30), soon(10), middle(20);
    deadline_heap heap;
    EXPECT_TRUE(heap.empty());
    heap.insert(late);
    EXPECT_EQ(&heap.earliest(), &late);
    heap.insert(soon);
    heap.insert(middle);
    EXPECT_EQ(&heap.earliest(), &soon);
    heap.erase(soon);
    EXPECT_EQ(&heap.earliest(), &middle);
}

TEST(deadline_heap_test, overlooks_the_removal_of_what_it_does_not_hold) {
    bare_call in(1), out(2);
    deadline_heap heap;
    heap.insert(in);
    heap.erase(out);
    EXPECT_EQ(heap.size(), 1U);
    heap.erase(in);
    heap.erase(in);
    EXPECT_TRUE(heap.empty());
    EXPECT_EQ(in.heap_place, call_base::in_no_heap);
}

TEST(deadline_heap_test, takes_a_call_again_after_its_removal) {
    bare_call call(5);
    deadline_heap heap;
    for (int i = 0; i < 3; ++i) {
        heap.insert(call);
        EXPECT_EQ(&heap.earliest(), &call);
        heap.erase(call);
    }
    EXPECT_TRUE(heap.empty());
}

TEST(deadline_heap_test, agrees_with_a_sorted_list) {
    std::mt19937 random(9);
    deadline_heap heap;
    std::list<bare_call> calls;
    std::vector<bare_call*> model;
    for (int step = 0; step < 20'000; ++step) {
        if (model.size() < 40 && random() % 2) {
            model.push_back(&calls.emplace_back(static_cast<int>(random() % 1000)));
            heap.insert(*model.back());
        } else if (!model.empty()) {
            const auto at = model.begin() + static_cast<std::ptrdiff_t>(random() % model.size());
            heap.erase(**at);
            model.erase(at);
        }
        ASSERT_EQ(heap.size(), model.size());
        if (model.empty()) continue;
        const auto earliest = *std::ranges::min_element(model, {}, [](auto* c) { return c->deadline; });
        ASSERT_EQ(heap.earliest().deadline, earliest->deadline);
        for (const auto* call : model) ASSERT_LT(call->heap_place, model.size());
    }
}

TEST(deadline_heap_test, empties_in_order) {
    std::mt19937 random(2);
    std::list<bare_call> calls;
    deadline_heap heap;
    for (int i = 0; i < 500; ++i) heap.insert(calls.emplace_back(static_cast<int>(random() % 100)));
    auto before = call_base::time_point::min();
    while (!heap.empty()) {
        auto& earliest = heap.earliest();
        EXPECT_GE(earliest.deadline, before);
        before = earliest.deadline;
        heap.erase(earliest);
    }
}

} // namespace
} // namespace rocio::rpc::detail

#include "soft/soft_completion_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace rocio::soft {
namespace {

/// Writes completions first, first + 1, … as far as there is room; gives how many.
std::uint32_t fill(soft_completion_queue& queue, std::uint32_t first, std::uint32_t count) {
    std::uint32_t written = 0;
    while (written < count) {
        const auto places = queue.free_places();
        if (places.empty()) break;
        const std::size_t n = std::min<std::size_t>(places.size(), count - written);
        for (std::size_t i = 0; i < n; ++i) places[i].id.slot = first + written++;
        queue.filled(n);
    }
    return written;
}

std::vector<std::uint32_t> take(soft_completion_queue& queue, std::size_t most,
                                errc expected = errc::success) {
    std::vector<work_completion> out(most);
    errc error = errc::success;
    out.resize(queue.poll(out, error));
    EXPECT_EQ(error, expected);
    std::vector<std::uint32_t> slots;
    for (const auto& c : out) slots.push_back(c.id.slot);
    return slots;
}

TEST(SoftCompletionQueue, GivesCompletionsInOrderAcrossItsEnd) {
    soft_completion_queue queue(nullptr, 5);
    std::uint32_t written = 0, read = 0;
    for (int round = 0; round < 50; ++round) {
        written += fill(queue, written, 1 + static_cast<std::uint32_t>(round) % 4);
        for (const std::uint32_t slot : take(queue, 1 + static_cast<std::size_t>(round) % 3))
            ASSERT_EQ(slot, read++);
    }
    for (const std::uint32_t slot : take(queue, 5)) ASSERT_EQ(slot, read++);
    EXPECT_EQ(read, written);
}

TEST(SoftCompletionQueue, HoldsExactlyItsDepth) {
    soft_completion_queue queue(nullptr, 7);
    EXPECT_EQ(queue.depth(), 7U);
    EXPECT_EQ(fill(queue, 0, 100), 7U);
    EXPECT_TRUE(queue.free_places().empty());
    EXPECT_EQ(take(queue, 100).size(), 7U);
}

TEST(SoftCompletionQueue, WhenOverrunGivesWhatItHasAndThenAnErrorForEver) {
    soft_completion_queue queue(nullptr, 2);
    fill(queue, 0, 2);
    EXPECT_TRUE(queue.mark_overrun());
    EXPECT_FALSE(queue.mark_overrun());
    EXPECT_EQ(take(queue, 8).size(), 2U);
    EXPECT_TRUE(take(queue, 8, errc::local_operation_error).empty());
    EXPECT_TRUE(take(queue, 8, errc::local_operation_error).empty());
}

} // namespace
} // namespace rocio::soft

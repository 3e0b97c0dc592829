#include "transport/retry_budget.hpp"

#include <gtest/gtest.h>

namespace rocio::transport {
namespace {

TEST(retry_budget, gives_as_many_tries_as_its_limit) {
    for (std::uint32_t limit = 0; limit <= 7; ++limit) {
        retry_budget budget(limit);
        std::uint32_t taken = 0;
        while (budget.take()) ++taken;
        EXPECT_EQ(taken, limit);
        EXPECT_FALSE(budget.take());
    }
}

TEST(retry_budget, is_full_again_after_progress) {
    retry_budget budget(2);
    budget.take();
    budget.take();
    budget.restore();
    EXPECT_TRUE(budget.take());
    EXPECT_TRUE(budget.take());
    EXPECT_FALSE(budget.take());
}

TEST(retry_budget, never_ends_when_endless) {
    retry_budget budget(retry_budget::endless);
    for (int i = 0; i < 100'000; ++i) ASSERT_TRUE(budget.take());
}

} // namespace
} // namespace rocio::transport

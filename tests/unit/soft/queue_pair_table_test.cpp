#include "soft/queue_pair_table.hpp"
#include "soft/soft_queue_pair.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

namespace rocio::soft {
namespace {

/// The table only stores the addresses.
soft_queue_pair& queue_pair(std::uintptr_t i) {
    return *reinterpret_cast<soft_queue_pair*>(4096 + i * 64);
}

TEST(QueuePairTable, FindsWhatWasInsertedAndNothingElse) {
    queue_pair_table table(1000);
    const qpn number = table.insert(queue_pair(1));
    EXPECT_EQ(table.find(number), &queue_pair(1));
    EXPECT_EQ(table.find(qpn{number.value() + 1}), nullptr);
    EXPECT_EQ(table.find(qpn{number.value() ^ 0x800000U}), nullptr) << "same place, another number";
    table.erase(number);
    EXPECT_EQ(table.find(number), nullptr);
    EXPECT_EQ(table.size(), 0U);
}

TEST(QueuePairTable, NeverGivesAManagementNumber) {
    for (const std::uint32_t start : {0U, 1U, 0x10U, 0x11U, 0xFFFFFFU, 0x1000000U, 0xFFFFFFFFU}) {
        queue_pair_table table(start);
        for (std::uintptr_t i = 0; i < 40; ++i) {
            const qpn number = table.insert(queue_pair(i));
            ASSERT_GE(number.value(), queue_pair_table::first_number) << "start " << start;
            table.erase(number);
        }
    }
}

TEST(QueuePairTable, DoesNotUseANumberAgainSoon) {
    queue_pair_table table(0xFFFFF0);
    std::set<std::uint32_t> seen;
    for (std::uintptr_t i = 0; i < 10'000; ++i) {
        const qpn number = table.insert(queue_pair(i));
        ASSERT_TRUE(seen.insert(number.value()).second) << number.value();
        table.erase(number);
    }
}

TEST(QueuePairTable, KeepsAllWhileItGrows) {
    queue_pair_table table(12'345);
    std::vector<qpn> numbers;
    for (std::uintptr_t i = 0; i < 5'000; ++i) numbers.push_back(table.insert(queue_pair(i)));
    EXPECT_EQ(table.size(), 5'000U);
    for (std::uintptr_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(table.find(numbers[i]), &queue_pair(i));
}

TEST(QueuePairTable, FindsARoomBesideLongLivedOnes) {
    queue_pair_table table(0xFFFFFE);
    std::vector<qpn> kept;
    for (std::uintptr_t i = 0; i < 3'000; ++i) {
        const qpn number = table.insert(queue_pair(i));
        if (i % 3 == 0) {
            kept.push_back(number);
        } else {
            table.erase(number);
        }
    }
    for (std::size_t i = 0; i < kept.size(); ++i) ASSERT_EQ(table.find(kept[i]), &queue_pair(i * 3));
}

} // namespace
} // namespace rocio::soft

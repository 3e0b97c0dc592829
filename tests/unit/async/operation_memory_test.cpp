#include <rocio/async/operation_memory.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace rocio::async {
namespace {

TEST(operation_memory_test, gives_blocks_that_are_aligned_and_do_not_overlap) {
    operation_memory memory;
    struct block {
        void* data;
        std::size_t size;
    };
    std::vector<block> blocks;
    std::minstd_rand random(5);
    for (int i = 0; i < 500; ++i) {
        const std::size_t size = 1 + random() % 2000;
        void* p = memory.allocate(size);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % alignof(std::max_align_t), 0U);
        std::memset(p, i & 0xFF, size);
        blocks.push_back({p, size});
    }
    for (int i = 0; i < 500; ++i) {
        const auto* bytes = static_cast<const unsigned char*>(blocks[static_cast<std::size_t>(i)].data);
        for (std::size_t k = 0; k < blocks[static_cast<std::size_t>(i)].size; ++k)
            ASSERT_EQ(bytes[k], i & 0xFF);
    }
    for (const auto& b : blocks) memory.deallocate(b.data, b.size);
}

TEST(operation_memory_test, gives_a_block_again_to_the_next_of_its_size) {
    operation_memory memory;
    for (const std::size_t size : {1U, 64U, 65U, 200U, 1024U}) {
        void* first = memory.allocate(size);
        memory.deallocate(first, size);
        void* second = memory.allocate(size);
        EXPECT_EQ(first, second) << size;
        memory.deallocate(second, size);
    }
}

TEST(operation_memory_test, gives_all_blocks_again_however_many_there_were) {
    operation_memory memory;
    std::set<void*> first, second;
    for (int i = 0; i < 300; ++i) first.insert(memory.allocate(200));
    for (void* block : first) memory.deallocate(block, 200);
    for (int i = 0; i < 300; ++i) second.insert(memory.allocate(200));
    for (void* block : second) memory.deallocate(block, 200);
    EXPECT_EQ(first.size(), 300U);
    std::vector<void*> again;
    std::set_intersection(first.begin(), first.end(), second.begin(), second.end(),
                          std::back_inserter(again));
    EXPECT_EQ(again.size(), 300U);
}

TEST(operation_memory_test, takes_blocks_that_another_thread_gave_out) {
    operation_memory memory;
    for (int round = 0; round < 3; ++round) {
        std::vector<void*> blocks;
        for (int i = 0; i < 200; ++i) blocks.push_back(memory.allocate(100));
        std::thread([&] {
            for (void* block : blocks) memory.deallocate(block, 100);
            void* mine = memory.allocate(100);
            memory.deallocate(mine, 100);
        }).join();
    }
}

TEST(operation_memory_test, keeps_sizes_apart) {
    operation_memory memory;
    void* small = memory.allocate(64);
    memory.deallocate(small, 64);
    void* large = memory.allocate(65);
    EXPECT_NE(small, large);
    memory.deallocate(large, 65);
}

TEST(operation_memory_test, may_be_used_by_several_threads) {
    operation_memory memory;
    const auto churn = [&](unsigned seed) {
        std::minstd_rand random(seed);
        std::vector<std::pair<unsigned char*, std::size_t>> mine;
        for (int i = 0; i < 5000; ++i) {
            if (mine.size() < 20 && random() % 2 == 0) {
                const std::size_t size = 1 + random() % 300;
                auto* p = static_cast<unsigned char*>(memory.allocate(size));
                p[0] = static_cast<unsigned char>(seed);
                mine.emplace_back(p, size);
            } else if (!mine.empty()) {
                EXPECT_EQ(mine.back().first[0], seed);
                memory.deallocate(mine.back().first, mine.back().second);
                mine.pop_back();
            }
        }
        for (const auto& [p, size] : mine) memory.deallocate(p, size);
    };
    std::vector<std::thread> threads;
    for (unsigned seed = 1; seed <= 4; ++seed) threads.emplace_back(churn, seed);
    for (auto& t : threads) t.join();
}

} // namespace
} // namespace rocio::async

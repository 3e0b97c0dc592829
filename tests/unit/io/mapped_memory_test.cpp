#include "process_rights.hpp"
#include "scripted_device.hpp"

#include <rocio/io/detail/mapped_memory.hpp>
#include <rocio/io/machine_limits.hpp>
#include <rocio/io/memory_region.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <limits>
#include <span>

#include <linux/mempolicy.h>
#include <sys/mman.h>

namespace rocio::detail {
namespace {

using test::lower_limit;
using test::without_capability;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t mib = 1U << 20;

std::size_t page_size() {
    return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// How many of the first `bytes` are in memory.
std::size_t resident(const mapped_memory& memory, std::size_t bytes) {
    std::vector<unsigned char> pages(bytes / page_size());
    EXPECT_EQ(::mincore(memory.data(), bytes, pages.data()), 0);
    return page_size() * static_cast<std::size_t>(
                             std::ranges::count_if(pages, [](unsigned char p) { return (p & 1U) != 0; }));
}

/// VmLck of /proc/self/status.
std::size_t locked() {
    std::ifstream in("/proc/self/status");
    for (std::string word; in >> word;) {
        std::size_t kib = 0;
        if (word == "VmLck:" && in >> kib) return kib * 1024;
    }
    return 0;
}

bool is_zero(const mapped_memory& memory, std::size_t bytes) {
    const auto all = std::span(memory.data(), bytes);
    return std::ranges::all_of(all, [](std::byte b) { return b == std::byte{0}; });
}

TEST(MappedMemory, has_ordinary_pages_that_nobody_has_touched_unless_asked_otherwise) {
    const mapped_memory memory(4 * mib - 1, {});
    ASSERT_NE(memory.data(), nullptr);
    EXPECT_EQ(resident(memory, 4 * mib), 0U);
    EXPECT_EQ(memory.got().bytes, 4 * mib);
    EXPECT_EQ(memory.got().pages, huge_pages::no);
    EXPECT_EQ(memory.got().page_size, page_size());
    EXPECT_FALSE(memory.got().prefaulted);
    EXPECT_FALSE(memory.got().locked);
    EXPECT_EQ(memory.got().numa_node, std::nullopt);
    EXPECT_THAT(memory.got().warnings, IsEmpty());
}

TEST(MappedMemory, of_no_bytes_or_of_too_many_is_none) {
    EXPECT_EQ(mapped_memory(0, {}).data(), nullptr);
    for (const auto kind : {huge_pages::no, huge_pages::transparent, huge_pages::mib2, huge_pages::gib1}) {
        for (const auto size : {std::numeric_limits<std::size_t>::max(), std::size_t{1} << 60}) {
            const mapped_memory memory(size, {.huge_pages = kind});
            EXPECT_EQ(memory.data(), nullptr);
            EXPECT_THROW((void)memory.data_or_throw(), std::bad_alloc);
        }
    }
}

TEST(MappedMemory, prefaulted_is_in_memory_before_it_is_touched) {
    const mapped_memory memory(4 * mib, {.prefault = true});
    EXPECT_TRUE(memory.got().prefaulted);
    EXPECT_EQ(resident(memory, 4 * mib), 4 * mib);
    EXPECT_TRUE(is_zero(memory, 4 * mib));
}

TEST(MappedMemory, locked_counts_as_such_and_is_in_memory_until_it_goes) {
    const without_capability as_a_user(CAP_IPC_LOCK);
    const auto before = locked();
    {
        const mapped_memory memory(mib, {.lock = true});
        ASSERT_TRUE(memory.got().locked) << memory.got().warnings.at(0);
        EXPECT_TRUE(memory.got().prefaulted);
        EXPECT_EQ(locked(), before + mib);
        EXPECT_EQ(resident(memory, mib), mib);
    }
    EXPECT_EQ(locked(), before);
}

TEST(MappedMemory, that_cannot_be_locked_names_the_limit_and_is_there_all_the_same) {
    const without_capability as_a_user(CAP_IPC_LOCK);
    for (const auto limit : {rlim_t{0}, rlim_t{65536}}) {
        const lower_limit lower(RLIMIT_MEMLOCK, limit);
        const mapped_memory memory(mib, {.lock = true});
        EXPECT_FALSE(memory.got().locked);
        EXPECT_THAT(
            memory.got().warnings,
            ElementsAre(AllOf(HasSubstr("1048576 bytes cannot be locked"), HasSubstr("RLIMIT_MEMLOCK"),
                              HasSubstr(std::to_string(limit) + " bytes"), HasSubstr("ulimit -l"))));
        ASSERT_NE(memory.data(), nullptr);
        EXPECT_TRUE(is_zero(memory, mib));
        EXPECT_EQ(locked(), 0U) << "nothing stays half locked";
    }
}

TEST(MappedMemory, of_transparent_huge_pages_begins_and_ends_at_one) {
    const mapped_memory memory(3 * mib, {.huge_pages = huge_pages::transparent, .prefault = true});
    ASSERT_NE(memory.data(), nullptr);
    const auto setting = read_machine_limits().transparent;
    if (setting != "always" && setting != "madvise") {
        EXPECT_EQ(memory.got().pages, huge_pages::no);
        EXPECT_THAT(memory.got().warnings, ElementsAre(HasSubstr("transparent huge pages")));
        return;
    }
    EXPECT_EQ(memory.got().pages, huge_pages::transparent);
    EXPECT_EQ(memory.got().bytes, 4 * mib);
    EXPECT_EQ(std::bit_cast<std::uintptr_t>(memory.data()) % (2 * mib), 0U);
    ASSERT_TRUE(memory.got().huge_bytes.has_value());
    EXPECT_LE(*memory.got().huge_bytes, 4 * mib);
    EXPECT_TRUE(is_zero(memory, 4 * mib));
}

TEST(MappedMemory, of_transparent_huge_pages_does_not_know_how_many_it_will_get) {
    const mapped_memory memory(mib, {.huge_pages = huge_pages::transparent});
    EXPECT_FALSE(memory.got().prefaulted);
    EXPECT_EQ(memory.got().huge_bytes, std::nullopt);
}

class ReservedPages : public ::testing::TestWithParam<huge_pages> {
  protected:
    static constexpr std::uint64_t size_of(huge_pages kind) {
        return kind == huge_pages::gib1 ? std::uint64_t{1} << 30 : std::uint64_t{2} << 20;
    }
    const std::optional<machine_limits::huge_page_pool> pool = read_machine_limits().pool(GetParam());
};

TEST_P(ReservedPages, beyond_what_is_reserved_are_replaced_and_the_setting_is_named) {
    const auto free = pool ? pool->free : 0;
    const auto bytes = static_cast<std::size_t>((free + 1) * size_of(GetParam()));
    const mapped_memory memory(bytes, {.huge_pages = GetParam()});
    ASSERT_NE(memory.data(), nullptr);
    ASSERT_NE(memory.got().pages, GetParam()) << "vm.nr_overcommit_hugepages is not 0 here";
    const auto limit = pool ? pool->setting : std::string("/sys/kernel/mm/hugepages");
    EXPECT_THAT(memory.got().warnings, ElementsAre(AllOf(HasSubstr(limit), HasSubstr("used instead"))));
    memory.data()[bytes - 1] = std::byte{1};
    EXPECT_EQ(memory.data()[0], std::byte{0});
}

TEST_P(ReservedPages, are_taken_and_given_back) {
    if (!pool || pool->free == 0) GTEST_SKIP() << "no page of this size is reserved here";
    {
        const mapped_memory memory(1, {.huge_pages = GetParam()});
        EXPECT_THAT(memory.got().warnings, IsEmpty());
        EXPECT_EQ(memory.got().pages, GetParam());
        EXPECT_EQ(memory.got().bytes, size_of(GetParam()));
        EXPECT_EQ(memory.got().huge_bytes, size_of(GetParam()));
        EXPECT_EQ(memory.got().page_size, size_of(GetParam()));
        EXPECT_TRUE(memory.got().prefaulted);
        EXPECT_EQ(read_machine_limits().pool(GetParam())->free, pool->free - 1);
    }
    EXPECT_EQ(read_machine_limits().pool(GetParam())->free, pool->free);
}

INSTANTIATE_TEST_SUITE_P(of, ReservedPages, ::testing::Values(huge_pages::mib2, huge_pages::gib1));

TEST(MappedMemory, of_a_numa_node_has_it_as_its_preferred_one) {
    const auto nodes = read_machine_limits().nodes;
    if (nodes.empty()) GTEST_SKIP() << "the kernel tells of no NUMA nodes";
    const mapped_memory memory(mib, {.numa_node = nodes.back(), .prefault = true});
    if (!memory.got().numa_node) GTEST_SKIP() << memory.got().warnings.at(0);
    EXPECT_EQ(memory.got().numa_node, nodes.back());
    int policy = -1;
    std::array<unsigned long, 16> mask{};
    ASSERT_EQ(
        ::syscall(SYS_get_mempolicy, &policy, mask.data(), 1024UL, memory.data() + mib / 2, MPOL_F_ADDR), 0);
    EXPECT_EQ(policy, MPOL_PREFERRED);
    EXPECT_EQ(mask.at(nodes.back() / 64), 1UL << (nodes.back() % 64));
}

TEST(MappedMemory, of_a_numa_node_that_does_not_exist_names_those_that_do) {
    const mapped_memory memory(mib, {.numa_node = 4711, .prefault = true});
    EXPECT_EQ(memory.got().numa_node, std::nullopt);
    EXPECT_THAT(memory.got().warnings, ElementsAre(HasSubstr("NUMA node 4711 was asked for")));
    for (const auto node : read_machine_limits().nodes)
        EXPECT_THAT(memory.got().warnings.at(0), HasSubstr(std::to_string(node)));
    EXPECT_TRUE(memory.got().prefaulted);
}

TEST(MappedMemory, of_a_region_tells_what_it_got) {
    const auto dev = std::make_shared<test::scripted_device>();
    const memory_region region(dev, 100, {}, {.numa_node = 4711, .prefault = true});
    EXPECT_TRUE(region.memory().prefaulted);
    EXPECT_EQ(region.memory().warnings.size(), 1U);
    std::byte mine[16];
    EXPECT_EQ(memory_region(dev, std::span(mine)).memory().bytes, 0U);
}

} // namespace
} // namespace rocio::detail

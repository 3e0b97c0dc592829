// What is said where a machine does not give what memory_options ask for; on machines that do not exist.

#include "io/memory_texts.hpp"

#include <gmock/gmock.h>

#include <cerrno>

namespace rocio {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

machine_limits machine(std::uint64_t reserved, std::uint64_t free) {
    machine_limits m;
    m.mib2 = {2U << 20, "/proc/sys/vm/nr_hugepages", reserved, free};
    m.transparent = "madvise";
    m.nodes = {0, 2};
    m.lockable = 8U << 20;
    m.locked = 4096;
    return m;
}

TEST(MemoryTexts, too_few_huge_pages_name_how_many_are_to_be_reserved) {
    // 9 MiB need 5 pages; 2 of the 8 are free, so 3 are missing.
    EXPECT_THAT(
        memory_texts::no_huge_pages(machine(8, 2), huge_pages::mib2, 9U << 20, huge_pages::transparent),
        AllOf(HasSubstr("9437184 bytes need 5 2 MiB pages"), HasSubstr("2 of 8"),
              HasSubstr("echo 11 > /proc/sys/vm/nr_hugepages"),
              HasSubstr("transparent huge pages are used instead")));
}

TEST(MemoryTexts, enough_huge_pages_that_are_refused_are_not_blamed_on_their_number) {
    EXPECT_THAT(
        memory_texts::no_huge_pages(machine(8, 8), huge_pages::mib2, 1, huge_pages::no),
        AllOf(HasSubstr("control group"), Not(HasSubstr("echo")), HasSubstr("ordinary pages are used")));
}

TEST(MemoryTexts, size_of_page_that_the_machine_has_not) {
    EXPECT_THAT(memory_texts::no_huge_pages(machine(8, 8), huge_pages::gib1, 1, huge_pages::mib2),
                AllOf(HasSubstr("no 1 GiB pages"), HasSubstr("2 MiB pages are used instead")));
}

TEST(MemoryTexts, transparent_huge_pages_that_are_off_name_the_file) {
    auto m = machine(0, 0);
    m.transparent = "never";
    EXPECT_THAT(memory_texts::no_transparent_pages(m),
                AllOf(HasSubstr("/sys/kernel/mm/transparent_hugepage/enabled"), HasSubstr("never"),
                      HasSubstr("madvise")));
    m.transparent.clear();
    EXPECT_THAT(memory_texts::no_transparent_pages(m), HasSubstr("the kernel has no"));
}

TEST(MemoryTexts, nodes_that_exist_are_named) {
    EXPECT_THAT(memory_texts::no_such_node(machine(0, 0), 1), AllOf(HasSubstr("node 1"), HasSubstr("0, 2")));
    EXPECT_THAT(memory_texts::no_such_node({}, 1), HasSubstr("/sys/devices/system/node"));
    EXPECT_THAT(memory_texts::node_refused(1, EPERM),
                AllOf(HasSubstr("node 1"), HasSubstr("Operation not permitted"), HasSubstr("CAP_SYS_NICE")));
    EXPECT_THAT(memory_texts::node_full(1, 3, 256), AllOf(HasSubstr("3 lie on other"), HasSubstr("of 256")));
}

TEST(MemoryTexts, lock_names_what_was_asked_for_what_is_allowed_and_what_is_used) {
    EXPECT_THAT(memory_texts::not_locked(machine(0, 0), 9U << 20, ENOMEM),
                AllOf(HasSubstr("9437184 bytes"), HasSubstr("RLIMIT_MEMLOCK allows 8388608 bytes"),
                      HasSubstr("4096 are locked already"), HasSubstr("LimitMEMLOCK=infinity")));
    EXPECT_THAT(memory_texts::not_locked({}, 1, ENOMEM), HasSubstr("is unlimited"));
}

TEST(MachineLimits, sets_of_numbers_are_read_as_linux_writes_them) {
    EXPECT_THAT(parse_number_list("0\n"), ElementsAre(0U));
    EXPECT_THAT(parse_number_list("0-2,7"), ElementsAre(0U, 1U, 2U, 7U));
    EXPECT_THAT(parse_number_list("1,3-4\n"), ElementsAre(1U, 3U, 4U));
    for (const auto* nothing : {"", "\n", "x", "-", "0-4294967295"})
        EXPECT_THAT(parse_number_list(nothing), IsEmpty()) << nothing;
    EXPECT_THAT(parse_number_list("5-x"), IsEmpty());
    EXPECT_THAT(parse_number_list("3,"), ElementsAre(3U));
}

} // namespace
} // namespace rocio

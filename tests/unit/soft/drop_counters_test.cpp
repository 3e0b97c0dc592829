#include "soft/drop_counters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace rocio::soft {
namespace {

constexpr auto reasons = static_cast<std::size_t>(drop_reason::count_);

TEST(DropCounters, EveryReasonHasANameOfItsOwn) {
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < reasons; ++i) {
        const auto name = to_string(static_cast<drop_reason>(i));
        EXPECT_NE(name, "unknown");
        EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_4"), std::string_view::npos) << name;
        EXPECT_TRUE(names.insert(name).second) << name;
    }
    EXPECT_EQ(to_string(drop_reason::count_), "unknown");
}

TEST(DropCounters, CountEachReasonApart) {
    drop_counters counters;
    for (std::size_t i = 0; i < reasons; ++i)
        for (std::size_t n = 0; n <= i; ++n) counters.add(static_cast<drop_reason>(i));
    std::vector<device_snapshot::counter> all;
    counters.append_counters(all);
    ASSERT_EQ(all.size(), reasons);
    for (std::size_t i = 0; i < reasons; ++i) {
        EXPECT_EQ(all[i].name, "drops." + std::string(to_string(static_cast<drop_reason>(i))));
        EXPECT_EQ(all[i].value, i + 1);
        EXPECT_EQ(counters.of(static_cast<drop_reason>(i)), i + 1);
    }
}

TEST(DropCounters, EveryMalformationHasAReasonOfTheSameMeaning) {
    const std::vector<std::pair<wire::malformed, drop_reason>> expected{
        {wire::malformed::too_short, drop_reason::too_short},
        {wire::malformed::not_multiple_of_4, drop_reason::not_multiple_of_4},
        {wire::malformed::bad_version, drop_reason::bad_version},
        {wire::malformed::unknown_opcode, drop_reason::unknown_opcode},
        {wire::malformed::pad_exceeds_payload, drop_reason::pad_exceeds_payload},
        {wire::malformed::unexpected_payload, drop_reason::unexpected_payload},
    };
    for (const auto& [m, reason] : expected) EXPECT_EQ(reason_of(m), reason) << wire::to_string(m);
}

} // namespace
} // namespace rocio::soft

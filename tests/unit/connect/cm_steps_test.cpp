// What an event means in a stage: all pairs, written down by hand from the meaning of the events.

#include "connect/cm_steps.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

namespace rocio::detail {
namespace {

using enum cm_event_kind;

constexpr std::array all_kinds{address_resolved, address_error,    route_resolved, route_error,
                               connect_request,  connect_response, connect_error,  unreachable,
                               rejected,         established,      disconnected,   device_removal,
                               address_change,   time_wait_exit};

/// One letter per kind, in the order of all_kinds: '.' ignored, 'D' done, 'F' failed.
struct row {
    cm_stage stage;
    const char* name;
    const char* meaning;
};

constexpr row table[]{
    // address:                        ok/err, route: ok/err, request, response, connect error, unreachable,
    //                                 rejected, established, disconnected, removal, address change, time-wait
    {cm_stage::fresh, "fresh",
     "......"
     "......"
     ".."},
    {cm_stage::resolving_address, "resolving_address",
     "DF.F.."
     "FFF.FF"
     ".."},
    {cm_stage::resolving_route, "resolving_route",
     ".FDF.."
     "FFF.FF"
     ".."},
    {cm_stage::connecting, "connecting",
     ".F.F.D"
     "FFF.FF"
     ".."},
    {cm_stage::responded, "responded",
     ".F.F.."
     "FFF.FF"
     ".."},
    {cm_stage::requested, "requested",
     ".F.F.."
     "FFF.FF"
     ".."},
    {cm_stage::accepting, "accepting",
     ".F.F.."
     "FFFDFF"
     ".."},
    {cm_stage::established, "established",
     ".F.F.."
     "F.F.FF"
     ".."},
    {cm_stage::leaving, "leaving",
     ".D.D.."
     "DDD.DD"
     ".D"},
    {cm_stage::in_time_wait, "in_time_wait",
     "......"
     ".....D"
     ".D"},
    {cm_stage::over, "over",
     "......"
     "......"
     ".."},
};

char letter_of(cm_outcome outcome) {
    switch (outcome) {
    case cm_outcome::ignored:
        return '.';
    case cm_outcome::done:
        return 'D';
    case cm_outcome::failed:
        return 'F';
    }
    return '?';
}

TEST(CmSteps, EveryEventHasItsMeaningInEveryStage) {
    for (const auto& r : table) {
        std::string found;
        for (const auto kind : all_kinds) found += letter_of(outcome_of(r.stage, kind));
        EXPECT_EQ(found, r.meaning) << r.name;
    }
}

TEST(CmSteps, TheTableIsWhole) {
    std::set<cm_stage> stages;
    for (const auto& r : table) {
        stages.insert(r.stage);
        EXPECT_EQ(std::string(r.meaning).size(), all_kinds.size()) << r.name;
    }
    EXPECT_EQ(stages.size(), cm_stage_count);
    EXPECT_EQ(all_kinds.size(), static_cast<std::size_t>(time_wait_exit) + 1);
}

TEST(CmSteps, EveryKindHasAName) {
    std::set<std::string_view> names;
    for (const auto kind : all_kinds) names.insert(to_string(kind));
    EXPECT_EQ(names.size(), all_kinds.size());
    EXPECT_EQ(names.count(to_string(static_cast<cm_event_kind>(200))), 0U);
}

TEST(CmSteps, StagesAndEventsThatDoNotExistAreIgnored) {
    EXPECT_EQ(outcome_of(static_cast<cm_stage>(99), disconnected), cm_outcome::ignored);
    for (const auto& r : table)
        EXPECT_EQ(outcome_of(r.stage, static_cast<cm_event_kind>(99)), cm_outcome::ignored) << r.name;
}

} // namespace
} // namespace rocio::detail

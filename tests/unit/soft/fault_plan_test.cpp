#include <rocio/soft/fault_plan.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

namespace rocio {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

TEST(FaultPlan, DefaultDoesNothingAndIsValid) {
    EXPECT_FALSE(fault_plan{}.any());
    EXPECT_FALSE(validate(fault_plan{}));
}

TEST(FaultPlan, EachProbabilityAloneMakesItAPlan) {
    for (double fault_plan::*member : {&fault_plan::drop, &fault_plan::duplicate, &fault_plan::reorder,
                                       &fault_plan::delay, &fault_plan::corrupt}) {
        fault_plan plan;
        plan.*member = 1e-9;
        EXPECT_TRUE(plan.any());
        EXPECT_FALSE(validate(plan));
    }
}

struct bad_plan {
    const char* member;
    std::function<void(fault_plan&)> spoil;
};

class BadPlan : public ::testing::TestWithParam<bad_plan> {};

TEST_P(BadPlan, IsRefusedByName) {
    fault_plan plan;
    GetParam().spoil(plan);
    const error_info error = validate(plan);
    EXPECT_EQ(error.code, errc::invalid_argument);
    EXPECT_THAT(error.text, HasSubstr(GetParam().member));
    EXPECT_THAT(error.text, HasSubstr("allowed"));
}

INSTANTIATE_TEST_SUITE_P(
    Members, BadPlan,
    ::testing::Values(bad_plan{"drop", [](auto& p) { p.drop = -0.1; }},
                      bad_plan{"drop", [](auto& p) { p.drop = 1.1; }},
                      bad_plan{"drop", [](auto& p) { p.drop = std::nan(""); }},
                      bad_plan{"duplicate", [](auto& p) { p.duplicate = 2; }},
                      bad_plan{"reorder", [](auto& p) { p.reorder = 2; }},
                      bad_plan{"delay", [](auto& p) { p.delay = 2; }},
                      bad_plan{"corrupt", [](auto& p) { p.corrupt = 2; }},
                      bad_plan{"reorder_distance", [](auto& p) { p.reorder_distance = 0; }},
                      bad_plan{"reorder_distance", [](auto& p) { p.reorder_distance = 65; }},
                      bad_plan{"corrupt_bits", [](auto& p) { p.corrupt_bits = 0; }},
                      bad_plan{"corrupt_bits", [](auto& p) { p.corrupt_bits = 33; }},
                      bad_plan{"reorder_hold", [](auto& p) { p.reorder_hold = 0us; }},
                      bad_plan{"reorder_hold", [](auto& p) { p.reorder_hold = 1s + 1us; }},
                      bad_plan{"delay_time", [](auto& p) { p.delay_time = -1us; }}));

} // namespace
} // namespace rocio

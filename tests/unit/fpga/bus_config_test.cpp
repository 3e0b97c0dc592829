#include "fpga/fault_gate.hpp"

#include <rocio/fpga/bus_error.hpp>
#include <rocio/fpga/memory_bridge_config.hpp>
#include <rocio/fpga/srp_rssi_config.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace rocio::fpga {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

template <class Config, class Change>
error_info refusal(Change change) {
    Config c;
    change(c);
    return validate(c);
}

void expect_argument(const error_info& e, const char* said) {
    EXPECT_EQ(e.code, errc::invalid_argument) << said;
    EXPECT_THAT(e.text, HasSubstr(said));
}

TEST(bus_config, DefaultsAreValid) {
    EXPECT_FALSE(validate(srp_config{}));
    EXPECT_FALSE(validate(srp_rssi_config{}));
    EXPECT_FALSE(validate(memory_bridge_config{}));
    EXPECT_EQ(srp_rssi_config{}.srp.tries, 1U) << "the connection repeats";
}

TEST(bus_config, WhatIsOutsideIsNamedWithItsLimits) {
    expect_argument(refusal<srp_config>([](auto& c) { c.answer_deadline = 0ms; }), "1 ms to 60 s");
    expect_argument(refusal<srp_config>([](auto& c) { c.answer_deadline = 60001ms; }), "60001 ms");
    expect_argument(refusal<srp_config>([](auto& c) { c.tries = 0; }), "tries of 0");
    expect_argument(refusal<srp_config>([](auto& c) { c.tries = 1001; }), "1 to 1000");
    expect_argument(refusal<srp_config>([](auto& c) { c.protection = 8; }), "protection of 8");
    expect_argument(refusal<srp_rssi_config>([](auto& c) { c.srp.tries = 0; }), "tries");
    expect_argument(refusal<srp_rssi_config>([](auto& c) { c.rssi.try_period = 0ms; }), "try_period");
    expect_argument(refusal<srp_rssi_config>([](auto& c) { c.first_back_off = 0ms; }), "back-offs");
    expect_argument(refusal<srp_rssi_config>([](auto& c) { c.longest_back_off = 61s; }), "back-offs");
    expect_argument(refusal<srp_rssi_config>([](auto& c) { c.first_back_off = 6s; }), "rising order");
    expect_argument(refusal<memory_bridge_config>([](auto& c) { c.answer_deadline = 0ms; }),
                    "answer_deadline");
    expect_argument(refusal<memory_bridge_config>([](auto& c) { c.probe_period = 61s; }), "probe_period");
}

TEST(bus_error, EveryErrorHasASentence) {
    for (int value = 1; value <= static_cast<int>(bus_errc::refused); ++value) {
        const error_code ec = static_cast<bus_errc>(value);
        EXPECT_THAT(ec.message(), testing::Not(HasSubstr("unknown"))) << value;
        EXPECT_FALSE(is_fatal(ec)) << "a bus connects again by itself";
    }
    EXPECT_THAT(error_code(static_cast<bus_errc>(99)).message(), HasSubstr("unknown"));
    EXPECT_STREQ(bus_error_category().name(), "rocio.fpga.bus");
}

std::vector<int> passed(const control_faults& faults, int count, std::uint64_t direction = 0) {
    detail::fault_gate<int> gate(faults, direction);
    std::vector<int> out;
    for (int i = 0; i < count; ++i) gate.pass(i, [&](int d) { out.push_back(d); });
    return out;
}

TEST(control_faults, WithoutFaultsEverythingPasses) {
    EXPECT_THAT(passed({}, 4), ElementsAre(0, 1, 2, 3));
}

TEST(control_faults, EachFaultDoesWhatItsNameSays) {
    EXPECT_THAT(passed({.drop = 1}, 4), IsEmpty());
    EXPECT_THAT(passed({.duplicate = 1}, 2), ElementsAre(0, 0, 1, 1));
    EXPECT_THAT(passed({.reorder = 1}, 5), ElementsAre(1, 0, 3, 2)) << "the last one is kept back";
}

TEST(control_faults, TheSeedDecidesAndTheDirectionsDiffer) {
    const control_faults rough{.drop = 0.3, .duplicate = 0.3, .reorder = 0.3, .seed = 5};
    EXPECT_EQ(passed(rough, 100), passed(rough, 100));
    EXPECT_NE(passed(rough, 100), passed(rough, 100, 1));
    auto other = rough;
    other.seed = 6;
    EXPECT_NE(passed(rough, 100), passed(other, 100));
}

TEST(control_faults, ProbabilitiesAreKeptInTheLongRun) {
    const auto out = passed({.drop = 0.1, .seed = 3}, 10'000);
    EXPECT_NEAR(static_cast<double>(out.size()), 9000, 150);
}

} // namespace
} // namespace rocio::fpga

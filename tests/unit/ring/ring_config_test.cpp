#include "scripted_device.hpp"

#include <rocio/ring/ring_config.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocio::test {
namespace {

using ::testing::HasSubstr;

ring_config good() {
    ring_config c;
    c.device = std::make_shared<scripted_device>();
    return c;
}

TEST(ring_config, the_defaults_need_only_a_device) {
    EXPECT_FALSE(validate(good()));
    EXPECT_EQ(validate(ring_config{}).code, errc::invalid_argument);
    EXPECT_THAT(validate(ring_config{}).text, HasSubstr("device"));
}

TEST(ring_config, slots_are_a_power_of_two) {
    for (const std::uint32_t slots : {1U, 2U, 64U, 65536U}) {
        auto c = good();
        c.slots = slots;
        EXPECT_FALSE(validate(c)) << slots;
    }
    for (const std::uint32_t slots : {0U, 3U, 63U, 65535U, 131072U}) {
        auto c = good();
        c.slots = slots;
        EXPECT_EQ(validate(c).code, errc::invalid_argument) << slots;
        EXPECT_THAT(validate(c).text, HasSubstr(std::to_string(slots))) << slots;
    }
}

TEST(ring_config, a_frame_fits_its_slot) {
    auto c = good();
    c.frame_size = c.slot_size + 1;
    EXPECT_EQ(validate(c).code, errc::invalid_argument);
    c.frame_size = 0;
    EXPECT_EQ(validate(c).code, errc::invalid_argument);
    c.frame_size = c.slot_size;
    EXPECT_FALSE(validate(c));
    c.slot_size = 0;
    EXPECT_EQ(validate(c).code, errc::invalid_argument);
}

TEST(ring_config, a_ring_stays_within_32_bits) {
    auto c = good();
    c.slots = 65536;
    c.slot_size = c.frame_size = 65536;
    EXPECT_EQ(validate(c).code, errc::region_too_large);
    c.slot_size = c.frame_size = 65535;
    EXPECT_FALSE(validate(c));
}

} // namespace
} // namespace rocio::test

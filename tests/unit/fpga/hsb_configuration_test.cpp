#include "hsb_fixture.hpp"

namespace rocio::fpga {
namespace {

using step = register_step;
using test::step_fate;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

class HsbConfiguration : public hsb_programs {};

TEST_F(HsbConfiguration, the_paged_layout_is_written_in_the_vendors_order) {
    be(0x2602);
    board.values[hif + 0xC] = 0x15; // another sensor's bits, and ours from before
    hsb_configure program(stream());
    EXPECT_FALSE(driver.run(program).result);
    EXPECT_THAT(driver.trace,
                ElementsAre(step::read(0x80),             // version
                            step::read(hif + 0xC),        // DP_VP_MASK
                            step::write(hif + 0xC, 0x11), // stop
                            step::write(hif + 0x04, 1408 / 128), step::write(hif + 0x08, 12288),
                            step::write(vp + 0x18, 1000), step::write(vp + 0x20, 0x33445566),
                            step::write(vp + 0x24, 0x1122), step::write(vp + 0x28, 0xC0A80065),
                            step::write(vp + 0x2C, 4791), step::write(sif + 0x0C, 0), // packetizer
                            step::write(vp + 0x00, 0x112233), step::write(vp + 0x04, 0xAABBCCDD),
                            step::write(vp + 0x08, 0), step::write(vp + 0x0C, 0), step::write(vp + 0x10, 9),
                            step::write(vp + 0x14, 3), step::read(hif + 0xC),
                            step::write(hif + 0xC, 0x15))); // start
    EXPECT_EQ(program.ip_version(), 0x2602);
    EXPECT_EQ(program.packet_payload(), 1408U);
}

TEST_F(HsbConfiguration, the_address_of_the_pages_is_not_shifted) {
    be(0x2606);
    auto c = stream();
    c.frame_memory = 0x12'3456'7880;
    hsb_configure program(c);
    EXPECT_FALSE(driver.run(program).result);
    EXPECT_EQ(board.values[vp + 0x08], 0x34567880U);
    EXPECT_EQ(board.values[vp + 0x0C], 0x12U);
}

TEST_F(HsbConfiguration, the_older_layout_has_four_shifted_addresses_and_a_mask) {
    be(0x2510);
    auto c = stream();
    c.frame_memory = 0x1000;
    c.pages = 3;
    hsb_configure program(c);
    EXPECT_FALSE(driver.run(program).result);
    ASSERT_EQ(driver.trace.size(), 20U);
    EXPECT_EQ(driver.trace[3], step::write(hif + 0x04, 1408 / 128)); // overhead 78
    const std::vector last(driver.trace.begin() + 11, driver.trace.end());
    EXPECT_THAT(
        last, ElementsAre(step::write(vp + 0x00, 0x112233), step::write(vp + 0x04, 0xAABBCCDD),
                          step::write(vp + 0x08, 0x1000 / 128), step::write(vp + 0x0C, (0x1000 + 1152) / 128),
                          step::write(vp + 0x10, (0x1000 + 2304) / 128), step::write(vp + 0x14, 0),
                          step::write(vp + 0x1C, 7), step::read(hif + 0xC), step::write(hif + 0xC, mask)));
}

TEST_F(HsbConfiguration, release_stops_waits_and_zeroes_in_the_vendors_order) {
    board.values[hif + 0xC] = 0x7;
    hsb_unconfigure program(stream().path, 0x2606);
    const auto out = driver.run(program);
    EXPECT_FALSE(out.result);
    EXPECT_GE(out.elapsed, std::chrono::milliseconds(10));
    EXPECT_THAT(driver.trace,
                ElementsAre(step::read(hif + 0xC), step::write(hif + 0xC, 3),
                            step::pause(std::chrono::milliseconds(10)), step::write(vp + 0x18, 0),
                            step::write(vp + 0x00, 0), step::write(vp + 0x04, 0), step::write(vp + 0x08, 0),
                            step::write(vp + 0x0C, 0), step::write(vp + 0x10, 0), step::write(vp + 0x14, 0),
                            step::write(vp + 0x20, 0), step::write(vp + 0x24, 0), step::write(vp + 0x28, 0),
                            step::write(vp + 0x2C, 0), step::write(sif + 0xC, 0)));
}

TEST_F(HsbConfiguration, release_zeroes_the_older_layouts_mask_too) {
    board.values[vp + 0x1C] = 0xF;
    hsb_unconfigure program(stream().path, 0x2510);
    EXPECT_FALSE(driver.run(program).result);
    EXPECT_EQ(board.values[vp + 0x1C], 0U);
    EXPECT_EQ(driver.trace.size(), 16U);
}

TEST_F(HsbConfiguration, preparing_checks_and_stops_and_does_no_more) {
    be(0x2606);
    board.values[hif + 0xC] = 0x1F;
    hsb_prepare program(stream());
    EXPECT_FALSE(driver.run(program).result);
    EXPECT_THAT(driver.trace,
                ElementsAre(step::read(0x80), step::read(hif + 0xC), step::write(hif + 0xC, 0x1B)));
}

TEST_F(HsbConfiguration, what_the_version_refuses_is_refused_before_anything_is_written) {
    be(0x2510);
    auto c = stream();
    c.pages = 5;
    hsb_prepare prepare(c);
    EXPECT_EQ(driver.run(prepare).result.code, errc::invalid_argument);
    hsb_configure configure(c);
    EXPECT_EQ(driver.run(configure).result.code, errc::invalid_argument);
    EXPECT_THAT(driver.trace, ElementsAre(step::read(0x80), step::read(0x80)));
}

TEST_F(HsbConfiguration, a_failure_at_any_step_ends_there_with_the_registers_name_and_leaves_the_port_off) {
    for (const std::uint16_t version : {std::uint16_t{0x2606}, std::uint16_t{0x2510}}) {
        const std::size_t steps = version == 0x2606 ? 19 : 20;
        for (std::size_t bad = 0; bad < steps; ++bad) {
            board.values.clear();
            be(version);
            driver.trace.clear();
            driver.fate = [&](std::size_t i, const step&) {
                return i == bad ? step_fate::lost_before : step_fate::well;
            };
            hsb_configure program(stream());
            const auto out = driver.run(program);
            EXPECT_EQ(out.result.code, errc::handshake_timed_out) << bad;
            EXPECT_THAT(out.result.text, HasSubstr("configuring the FPGA, "));
            EXPECT_THAT(out.result.text, HasSubstr(": lost"));
            EXPECT_EQ(driver.trace.size(), bad + 1);
            EXPECT_EQ(board.values[hif + 0xC] & mask, 0U) << bad;
        }
    }
}

TEST_F(HsbConfiguration, a_failed_step_is_named_as_the_vendor_names_it) {
    be(0x2606);
    const auto failing_at = [&](std::size_t bad) {
        driver.fate = [bad](std::size_t i, const step&) {
            return i == bad ? step_fate::lost_after : step_fate::well;
        };
        hsb_configure program(stream());
        return driver.run(program).result.text;
    };
    EXPECT_EQ(failing_at(0), "configuring the FPGA, IP version: lost");
    EXPECT_EQ(failing_at(2), "configuring the FPGA, DP_VP_MASK: lost");
    EXPECT_EQ(failing_at(11), "configuring the FPGA, DP_QP: lost");
    EXPECT_EQ(failing_at(16), "configuring the FPGA, DP_MAX_BUFF: lost");
}

TEST_F(HsbConfiguration, release_ends_at_the_first_register_that_fails) {
    for (std::size_t bad : {0U, 1U, 3U, 14U}) {
        driver.fate = [bad](std::size_t i, const step&) {
            return i == bad ? step_fate::lost_before : step_fate::well;
        };
        hsb_unconfigure program(stream().path, 0x2606);
        const auto out = driver.run(program);
        EXPECT_EQ(out.result.code, errc::handshake_timed_out);
        EXPECT_THAT(out.result.text, HasSubstr("releasing the FPGA, "));
    }
}

TEST_F(HsbConfiguration, watching_is_content_while_mask_and_queue_pair_are_ours) {
    be(0x2606);
    board.values[hif + 0xC] = mask;
    board.values[vp] = 0x112233;
    hsb_watch program(stream().path, 0x112233);
    EXPECT_FALSE(driver.run(program).result);
    EXPECT_TRUE(program.answered());
    EXPECT_THAT(driver.trace, ElementsAre(step::read(0x80), step::read(hif + 0xC), step::read(vp)));
}

TEST_F(HsbConfiguration, watching_tells_a_stop_from_a_takeover_and_from_silence) {
    be(0x2606);
    board.values[vp] = 0x112233;
    hsb_watch stopped(stream().path, 0x112233);
    auto result = driver.run(stopped).result;
    EXPECT_EQ(result.code, errc::peer_lost);
    EXPECT_THAT(result.text, HasSubstr("DP_VP_MASK is 0x00000000, our bit 0x00000004"));
    board.values[vp] = 5;
    hsb_watch taken(stream().path, 0x112233);
    result = driver.run(taken).result;
    EXPECT_EQ(result.code, errc::peer_lost);
    EXPECT_THAT(result.text, HasSubstr("queue pair 5, ours is 1122867"));
    driver.fate = [](std::size_t, const step&) { return step_fate::lost_before; };
    hsb_watch silent(stream().path, 0x112233);
    EXPECT_EQ(driver.run(silent).result.code, errc::handshake_timed_out);
    EXPECT_FALSE(silent.answered());
}

} // namespace
} // namespace rocio::fpga

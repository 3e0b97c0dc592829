#include <rocio/fpga/slac_engine_config.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

namespace rocio::fpga {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using namespace std::chrono_literals;

TEST(SlacEngineConfig, DefaultsAreTheKcu105s) {
    const slac_engine_config c;
    EXPECT_FALSE(validate(c));
    EXPECT_EQ(c.engine_base, 0x150000U);
    EXPECT_EQ(c.udp_base, 0x110000U);
    EXPECT_EQ(c.map.metadata_tx, 0xF04U);
    EXPECT_EQ(c.request_deadline, 5s);
    EXPECT_FALSE(validate(slac_transport{}));
}

TEST(SlacEngineConfig, RefusesByTheOptionsName) {
    const auto refused = [](auto change, const char* name) {
        slac_engine_config c;
        change(c);
        const auto e = validate(c);
        EXPECT_EQ(e.code, errc::invalid_argument) << name;
        EXPECT_THAT(e.text, AllOf(StartsWith(name), HasSubstr("allowed"))) << name;
    };
    refused([](auto& c) { c.engine_base = 2; }, "engine-base");
    refused([](auto& c) { c.engine_base = 0xFFFF'FFFC; }, "engine-base");
    refused([](auto& c) { c.udp_base = 0xFFFF'0001; }, "udp-base");
    refused([](auto& c) { c.prbs_base = 1; }, "prbs-base");
    refused([](auto& c) { c.udp_client = 16; }, "udp-client");
    refused([](auto& c) { c.roce_port = 0; }, "roce-port");
    refused([](auto& c) { c.roce_port = 65536; }, "roce-port");
    refused([](auto& c) { c.request_deadline = 0ms; }, "request-deadline");
    refused([](auto& c) { c.clean_up_deadline = 601s; }, "clean-up-deadline");
    refused([](auto& c) { c.settle_pause = -1ms; }, "settle-pause");
    refused([](auto& c) { c.poll = 0ms; }, "poll");
    refused([](auto& c) { c.liveness_interval = 0ms; }, "liveness-interval");
    refused([](auto& c) { c.register_link_tries = 0; }, "register-link-tries");
    refused([](auto& c) { c.register_link_tries = 101; }, "register-link-tries");
    refused([](auto& c) { c.map.lkey = 0x2001; }, "map-lkey");
    refused([](auto& c) { c.map.soft_reset = 0x0100'0000; }, "map-soft-reset");
}

TEST(SlacEngineConfig, PausesMayBeNothing) {
    slac_engine_config c;
    c.reset_pause = c.settle_pause = c.disarm_pause = 0ms;
    EXPECT_FALSE(validate(c));
}

TEST(SlacEngineConfig, RefusesATransportThatCannotBe) {
    for (const unsigned code : {0U, 6U, 7U, 100U}) {
        slac_transport t;
        t.path_mtu = static_cast<mtu>(code);
        EXPECT_THAT(validate(t).text, HasSubstr("path_mtu"));
    }
    EXPECT_THAT(validate(slac_transport{.rnr_retry = 8}).text, HasSubstr("rnr_retry"));
    EXPECT_THAT(validate(slac_transport{.retry_count = 8}).text, HasSubstr("retry_count"));
}

TEST(SlacEngineConfig, OptionsAreSetByName) {
    slac_engine_config c;
    EXPECT_FALSE(set_option(c, "engine-base", "0x200000"));
    EXPECT_FALSE(set_option(c, "udp_base", "1048576"));
    EXPECT_FALSE(set_option(c, "udp-client", "2"));
    EXPECT_FALSE(set_option(c, "prbs-base", "0x8000ABC0"));
    EXPECT_FALSE(set_option(c, "sqpn", "fpga"));
    EXPECT_FALSE(set_option(c, "counter-wrap", "0"));
    EXPECT_FALSE(set_option(c, "soft-reset", "off"));
    EXPECT_FALSE(set_option(c, "verify", "off"));
    EXPECT_FALSE(set_option(c, "request-deadline", "1500"));
    EXPECT_FALSE(set_option(c, "register-link-tries", "5"));
    EXPECT_FALSE(set_option(c, "map-lkey", "0x3004"));
    EXPECT_FALSE(set_option(c, "map-soft-reset", "none"));
    EXPECT_EQ(c.engine_base, 0x200000U);
    EXPECT_EQ(c.udp_base, 0x100000U);
    EXPECT_EQ(c.udp_client, 2U);
    EXPECT_EQ(c.prbs_base, 0x8000'ABC0U);
    EXPECT_EQ(c.sqpn, slac_sqpn::fpga);
    EXPECT_EQ(c.counter_wrap, 0U);
    EXPECT_FALSE(c.soft_reset);
    EXPECT_FALSE(c.verify);
    EXPECT_EQ(c.request_deadline, 1500ms);
    EXPECT_EQ(c.register_link_tries, 5U);
    EXPECT_EQ(c.map.lkey, 0x3004U);
    EXPECT_FALSE(c.map.soft_reset);
    EXPECT_FALSE(set_option(c, "map-soft-reset", "0xF50"));
    EXPECT_EQ(c.map.soft_reset, 0xF50U);
}

TEST(SlacEngineConfig, ABadOptionChangesNothing) {
    slac_engine_config c;
    const auto refused = [&c](const char* name, const char* value, const char* text) {
        const auto e = set_option(c, name, value);
        EXPECT_EQ(e.code, errc::invalid_argument) << name;
        EXPECT_THAT(e.text, HasSubstr(text)) << name;
    };
    refused("engine-bass", "0", "no option engine-bass");
    refused("map-nothing", "0", "no option");
    refused("engine-base", "", "numbers");
    refused("engine-base", "0x", "numbers");
    refused("engine-base", "12k", "\"12k\"");
    refused("engine-base", "0x100000000", "numbers");
    refused("engine-base", "-4", "numbers");
    refused("engine-base", "3", "multiples of 4");
    refused("sqpn", "both", "host and fpga");
    refused("soft-reset", "1", "on and off");
    refused("udp-client", "16", "0 to 15");
    EXPECT_EQ(c.engine_base, slac_engine_config{}.engine_base);
    EXPECT_EQ(c.map, slac_register_map{});
}

TEST(SlacEngineConfig, ABoardFileSetsThemByLine) {
    slac_engine_config c;
    const auto e = parse_board_file("# our board\n"
                                    "engine-base = 0x00250000   # moved\n"
                                    "\n"
                                    "\tprbs_base=0x00260000\r\n"
                                    "sqpn = fpga",
                                    c);
    EXPECT_FALSE(e) << e.text;
    EXPECT_EQ(c.engine_base, 0x250000U);
    EXPECT_EQ(c.prbs_base, 0x260000U);
    EXPECT_EQ(c.sqpn, slac_sqpn::fpga);
    EXPECT_FALSE(parse_board_file("", c));
}

TEST(SlacEngineConfig, AnErrorNamesTheLineAndChangesNothing) {
    slac_engine_config c;
    const auto refused = [&c](const char* text, const char* expected) {
        const auto e = parse_board_file(text, c);
        EXPECT_EQ(e.code, errc::invalid_argument) << text;
        EXPECT_THAT(e.text, StartsWith(expected)) << text;
    };
    refused("engine-base = 0\nnonsense\n", "line 2: expected name = value");
    refused("\n\nudp-client = 99", "line 3: udp-client of 99");
    refused("sqpn = host\nsqpn = fpga", "line 2: sqpn was given before");
    refused("engine-base = 0\nengine_base = 4", "line 2: engine_base was given before");
    refused("= 3", "line 1: there is no option");
    refused("engine-base =", "line 1: engine-base");
    EXPECT_EQ(c.engine_base, slac_engine_config{}.engine_base);
}

TEST(SlacEngineConfig, AnyTextIsReadOrRefused) {
    std::mt19937_64 random(5);
    const std::string alphabet = "engine-bas_udp=0x1# \n\t\r\0\xff";
    unsigned taken = 0;
    for (int i = 0; i < 20'000; ++i) {
        std::string text;
        if (random() % 4 == 0) text = "engine-base = 0x";
        const auto length = random() % 60;
        for (std::size_t n = 0; n < length; ++n) text += alphabet[random() % alphabet.size()];
        slac_engine_config c;
        const auto e = parse_board_file(text, c);
        if (e) {
            EXPECT_THAT(e.text, StartsWith("line "));
            EXPECT_EQ(c.engine_base, slac_engine_config{}.engine_base);
        } else {
            ++taken;
            EXPECT_FALSE(validate(c));
        }
    }
    EXPECT_GT(taken, 10U);
}

} // namespace
} // namespace rocio::fpga

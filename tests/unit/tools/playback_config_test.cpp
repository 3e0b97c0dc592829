#include "cudaq/playback_config.hpp"
#include "cudaq/playback_windows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rocio::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

playback_config good() {
    playback_config c;
    c.control = {boost::asio::ip::make_address("127.42.2.1"), 8193};
    c.emulator = true;
    return c;
}

template <class Change>
std::string refusal(Change change) {
    auto c = good();
    change(c);
    const auto bad = validate(c);
    EXPECT_EQ(bad.code, errc::invalid_argument);
    return bad.message();
}

TEST(PlaybackConfig, DefaultsAreTheOriginals) {
    const playback_config c;
    EXPECT_EQ(c.page_size, 384U);
    EXPECT_EQ(c.pages, 128U);
    EXPECT_EQ(c.messages, 100U);
    EXPECT_EQ(c.payload_size, 8U);
    EXPECT_EQ(c.vp_address, 0x1000U);
    EXPECT_EQ(c.bridge_ip.to_string(), "10.0.0.1");
    EXPECT_EQ(c.spacing, std::chrono::microseconds(120));
    EXPECT_FALSE(validate(good()));
}

TEST(PlaybackConfig, RefusesRingsThatTheFpgaCannotAddress) {
    EXPECT_THAT(refusal([](auto& c) { c.page_size = 100; }), HasSubstr("multiple of 128"));
    EXPECT_THAT(refusal([](auto& c) { c.page_size = 0; }), HasSubstr("multiple of 128"));
    EXPECT_THAT(refusal([](auto& c) { c.pages = 0; }), HasSubstr("1 to 4096"));
    EXPECT_THAT(refusal([](auto& c) { c.pages = 4097; }), HasSubstr("1 to 4096"));
    EXPECT_THAT(refusal([](auto& c) { c.buffer = 64; }), HasSubstr("multiple of 128"));
    EXPECT_THAT(refusal([](auto& c) { c.buffer = (std::uint64_t{1} << 39) - 128; }), HasSubstr("512 GiB"));
    EXPECT_THAT(refusal([](auto& c) { c.buffer = ~std::uint64_t{127}; }), HasSubstr("512 GiB"));
}

TEST(PlaybackConfig, APageHoldsAWindow) {
    const auto small = [](auto& c) {
        c.payload_size = 400;
        c.page_size = 384;
    };
    EXPECT_THAT(refusal(small), HasSubstr("needs windows of 448"));
}

TEST(PlaybackConfig, RefusesMessagesThatThereCannotBe) {
    EXPECT_THAT(refusal([](auto& c) { c.messages = 0; }), HasSubstr("1 to"));
    EXPECT_THAT(refusal([](auto& c) { c.payload_size = longest_payload() + 1; }), HasSubstr("32744"));
    EXPECT_THAT(refusal([](auto& c) { c.payload_size = 0xFFFFFFFF; }), HasSubstr("at most"));
}

TEST(PlaybackConfig, ALoopHasNoAnswersToVerifyAndOnePass) {
    EXPECT_THAT(refusal([](auto& c) { c.loop = true; }), HasSubstr("--no-verify"));
    const auto long_loop = [](auto& c) {
        c.loop = true;
        c.verify = false;
        c.messages = 513;
    };
    EXPECT_THAT(refusal(long_loop), HasSubstr("holds 512"));
}

TEST(PlaybackConfig, AnFpgaNeedsAMacAddress) {
    EXPECT_THAT(refusal([](auto& c) { c.emulator = false; }), HasSubstr("MAC"));
    auto c = good();
    c.emulator = false;
    c.bridge_mac = parse_mac("02:00:0a:00:00:01");
    EXPECT_FALSE(validate(c));
}

TEST(PlaybackConfig, RefusesAddressesAndTimesThatAreNone) {
    EXPECT_THAT(refusal([](auto& c) { c.control = {}; }), HasSubstr("control address"));
    EXPECT_THAT(refusal([](auto& c) { c.reply_timeout = std::chrono::milliseconds(0); }),
                HasSubstr("timeout"));
    EXPECT_THAT(refusal([](auto& c) { c.channel.tries = 0; }), HasSubstr("tries"));
    EXPECT_THAT(refusal([](auto& c) { c.spacing = std::chrono::seconds(11); }), HasSubstr("10 s"));
}

TEST(ParseMac, TakesSixPairsOfDigits) {
    EXPECT_THAT(parse_mac("02:00:0a:FF:00:01").value(), ElementsAre(2, 0, 10, 255, 0, 1));
    for (const auto* const text : {"", "02:00:0a:ff:00", "02:00:0a:ff:00:1", "02:00:0a:ff:00:0g",
                                   "02-00-0a-ff-00-01", "02:00:0a:ff:00:01 "})
        EXPECT_FALSE(parse_mac(text)) << text;
}

} // namespace
} // namespace rocio::tools

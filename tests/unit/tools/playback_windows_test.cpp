#include "cudaq/playback_windows.hpp"

#include <rocio/fpga/hsb_registers.hpp>
#include <rocio/rpc/request_header.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace rocio::tools {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<int> bytes_of(const std::vector<std::byte>& window, std::size_t from, std::size_t n) {
    std::vector<int> out;
    for (std::size_t i = 0; i < n; ++i) out.push_back(std::to_integer<int>(window[from + i]));
    return out;
}

TEST(PlaybackWindows, HoldHeaderAndPayloadInWholeBeats) {
    EXPECT_EQ(window_bytes(0), 64U);
    EXPECT_EQ(window_bytes(8), 64U);
    EXPECT_EQ(window_bytes(40), 64U);
    EXPECT_EQ(window_bytes(41), 128U);
    EXPECT_EQ(window_bytes(104), 128U);
    EXPECT_EQ(window_bytes(105), 192U);
}

TEST(PlaybackWindows, AreRequestsToRpcIncrement) {
    const auto window = make_window(3, 8);
    ASSERT_THAT(window, SizeIs(64));
    // Magic 52 51 55 43; FNV-1a of rpc_increment, 0x191b6322; 8 bytes; id 3; no timestamp.
    EXPECT_THAT(bytes_of(window, 0, 24), ElementsAre(0x52, 0x51, 0x55, 0x43, 0x22, 0x63, 0x1B, 0x19, 8, 0, 0,
                                                     0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
    EXPECT_THAT(bytes_of(window, 24, 8), ElementsAre(3, 4, 5, 6, 7, 8, 9, 10));
    EXPECT_THAT(bytes_of(window, 32, 32), Each(0));
}

TEST(PlaybackWindows, PayloadBytesWrapAt256AndTheIdDoesNot) {
    const auto window = make_window(0x12FE, 4);
    EXPECT_THAT(bytes_of(window, 24, 4), ElementsAre(0xFE, 0xFF, 0x00, 0x01));
    const auto header = rpc::request_header::decode(window);
    ASSERT_TRUE(header);
    EXPECT_EQ(header->request_id, 0x12FEU);
    EXPECT_EQ(header->arg_len, 4U);
}

TEST(PlaybackWindows, FitAsOftenAsTheMemoryHasBeats) {
    EXPECT_EQ(windows_that_fit(8), 512U);
    EXPECT_EQ(windows_that_fit(41), 256U);
    EXPECT_EQ(windows_that_fit(105), 170U);
    EXPECT_EQ(windows_that_fit(longest_payload()), 1U);
    EXPECT_EQ(windows_that_fit(longest_payload() + 1), 0U);
    EXPECT_EQ(windows_that_fit(0xFFFFFFFF), 0U);
}

TEST(PlaybackPasses, OneIsEnoughForWhatFits) {
    EXPECT_THAT(split_into_passes(100, 8, 128), ElementsAre(playback_pass{0, 100}));
    EXPECT_THAT(split_into_passes(512, 8, 100), ElementsAre(playback_pass{0, 512}));
}

TEST(PlaybackPasses, AThousandMessagesGoInTwo) {
    EXPECT_THAT(split_into_passes(1000, 8, 128), ElementsAre(playback_pass{0, 512}, playback_pass{512, 488}));
}

TEST(PlaybackPasses, EndWithALapOfTheRing) {
    EXPECT_THAT(split_into_passes(1000, 8, 200),
                ElementsAre(playback_pass{0, 400}, playback_pass{400, 400}, playback_pass{800, 200}));
    // No lap fits: as many as fit.
    EXPECT_THAT(split_into_passes(600, 8, 1024), ElementsAre(playback_pass{0, 512}, playback_pass{512, 88}));
}

TEST(PlaybackPasses, CoverEveryMessageOnce) {
    for (const std::uint32_t payload : {0U, 8U, 40U, 41U, 300U, 5000U}) {
        for (const std::uint32_t pages : {1U, 2U, 64U, 128U, 4096U}) {
            std::uint32_t next = 0;
            for (const auto& pass : split_into_passes(2345, payload, pages)) {
                EXPECT_EQ(pass.first, next);
                EXPECT_GE(pass.count, 1U);
                EXPECT_TRUE(fpga::hsb::bram::fits(pass.count, window_bytes(payload)));
                next += pass.count;
            }
            EXPECT_EQ(next, 2345U);
        }
    }
}

TEST(PlaybackPasses, AreNoneWhereNoWindowFits) {
    EXPECT_THAT(split_into_passes(10, longest_payload() + 1, 128), IsEmpty());
    EXPECT_THAT(split_into_passes(0, 8, 128), IsEmpty());
}

TEST(BramImage, SpreadsABeatOverTheBanks) {
    const auto image = bram_image({5, 2}, 8);
    ASSERT_THAT(image, SizeIs(32));
    EXPECT_EQ(image[0], (fpga::hsb_register{0x5010'0000, 0x43555152}));
    EXPECT_EQ(image[1], (fpga::hsb_register{0x5010'0800, 0x191B6322}));
    EXPECT_EQ(image[2], (fpga::hsb_register{0x5010'1000, 8}));
    EXPECT_EQ(image[3], (fpga::hsb_register{0x5010'1800, 5}));
    EXPECT_EQ(image[6], (fpga::hsb_register{0x5010'3000, 0x08070605}));
    EXPECT_EQ(image[15], (fpga::hsb_register{0x5010'7800, 0}));
    EXPECT_EQ(image[16], (fpga::hsb_register{0x5010'0004, 0x43555152}));
    EXPECT_EQ(image[19], (fpga::hsb_register{0x5010'1804, 6}));
}

TEST(BramImage, PutsTheBeatsOfALongWindowBehindEachOther) {
    const auto image = bram_image({0, 3}, 60); // two beats each
    ASSERT_THAT(image, SizeIs(3 * 2 * 16));
    EXPECT_EQ(image[16].address, 0x5010'0004U); // window 0, beat 1
    EXPECT_EQ(image[32].address, 0x5010'0008U); // window 1, beat 0
    EXPECT_EQ(image[32].value, 0x43555152U);
    // Payload bytes 40 to 43 begin the second beat.
    EXPECT_EQ(image[16].value, 0x2B2A2928U);
}

TEST(BramImage, AFullMemoryHasEveryWordOnce) {
    const auto image = bram_image({0, 512}, 40);
    std::set<std::uint32_t> addresses;
    for (const auto& word : image) addresses.insert(word.address);
    EXPECT_THAT(addresses, SizeIs(8192));
    EXPECT_EQ(*addresses.begin(), 0x5010'0000U);
    EXPECT_EQ(*addresses.rbegin(), 0x5010'7FFCU);
    EXPECT_TRUE(std::ranges::all_of(addresses, fpga::hsb::bram::contains));
}

} // namespace
} // namespace rocio::tools

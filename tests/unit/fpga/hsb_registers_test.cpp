#include "test_bytes.hpp"

#include <rocio/fpga/hsb_register_file.hpp>

#include <gmock/gmock.h>

#include <set>

namespace rocio::test {
namespace {

using namespace fpga;

TEST(hsb_addresses, of_the_players_memory_walk_bank_by_bank) {
    EXPECT_EQ(hsb::bram::address(0, 0), 0x50100000U);
    EXPECT_EQ(hsb::bram::address(1, 0), 0x50100800U);
    EXPECT_EQ(hsb::bram::address(15, 511), 0x50100000U + (15U << 11) + 2044U);
    EXPECT_EQ(hsb::bram::address(3, 1, 2, 5), 0x50100000U + (5U << 11) + 4 * (3 * 2 + 1));
}

TEST(hsb_addresses, of_the_players_memory_are_all_different_and_inside) {
    std::set<std::uint32_t> seen;
    for (std::uint32_t bank = 0; bank < hsb::bram::banks; ++bank) {
        for (std::uint32_t beat = 0; beat < hsb::bram::words; ++beat) {
            const auto address = hsb::bram::address(bank, beat);
            EXPECT_TRUE(hsb::bram::contains(address));
            seen.insert(address);
        }
    }
    EXPECT_EQ(seen.size(), 8192U);
    EXPECT_FALSE(hsb::bram::contains(0x50100000U - 4));
    EXPECT_FALSE(hsb::bram::contains(0x50108000U));
}

TEST(hsb_addresses, of_the_analyser_walk_bank_by_bank) {
    EXPECT_EQ(hsb::ila::address(0, 0), 0x40100000U);
    EXPECT_EQ(hsb::ila::address(1, 0), 0x40108000U);
    EXPECT_EQ(hsb::ila::address(18, 8191), 0x40100000U + (18U << 15) + 4 * 8191);
    EXPECT_TRUE(hsb::ila::contains(hsb::ila::address(18, 8191)));
    EXPECT_FALSE(hsb::ila::contains(hsb::ila::address(18, 8191) + 4));
    EXPECT_FALSE(hsb::ila::contains(hsb::ila::sample_count));
}

TEST(hsb_addresses, windows_fit_by_their_beats) {
    EXPECT_EQ(hsb::bram::cycles(1), 1U);
    EXPECT_EQ(hsb::bram::cycles(64), 1U);
    EXPECT_EQ(hsb::bram::cycles(65), 2U);
    EXPECT_TRUE(hsb::bram::fits(512, 64));
    EXPECT_FALSE(hsb::bram::fits(513, 64));
    EXPECT_TRUE(hsb::bram::fits(256, 65));
    EXPECT_FALSE(hsb::bram::fits(257, 128));
    EXPECT_FALSE(hsb::bram::fits(0xFFFFFFFF, 0xFFFFFFFF));
    EXPECT_FALSE(hsb::bram::fits(1, 0xFFFFFFFF));
}

TEST(hsb_addresses, a_buffer_is_split_and_joined) {
    for (const std::uint64_t address : {0ULL, 0x80ULL, 0xFFFFFF80ULL, 0x7F'FFFF'FF80ULL, 0x1234'5678'9A80ULL})
        EXPECT_EQ(hsb::join_address(hsb::split_address(address)), address) << std::hex << address;
    EXPECT_EQ(hsb::split_address(0x1'0000'0080), (hsb::page_address{0x02000001, 1}));
}

TEST(hsb_times, hold_seconds_above_nanoseconds) {
    const auto t = hsb::ptp_time::from_nanoseconds(5'000'000'007);
    EXPECT_EQ(t, (hsb::ptp_time{5, 7}));
    EXPECT_EQ(t.packed(), 0x0000000500000007U);
    EXPECT_EQ(hsb::ptp_time::unpack(t.packed()), t);
    EXPECT_EQ(hsb::nanoseconds_between({4, 999'999'999}, {5, 1}), 2);
    EXPECT_EQ(hsb::nanoseconds_between({5, 1}, {4, 999'999'999}), -2);
}

hsb::ila_sample example(std::uint32_t seed) {
    hsb::ila_sample s;
    fill_message(s.data, seed);
    s.valid = true;
    s.last = seed % 2 == 0;
    s.write_count = static_cast<std::uint8_t>(seed % 128);
    s.time = 0x8000000180000001ULL + seed;
    return s;
}

TEST(hsb_samples, have_their_bits_where_the_analyser_has_them) {
    hsb::ila_sample s;
    s.data[0] = std::byte{0x11};
    s.data[63] = std::byte{0x88};
    s.valid = s.last = true;
    s.write_count = 1;
    s.time = 0x8000000000000001;
    const auto words = s.pack();
    EXPECT_EQ(words[0], 0x11U);
    EXPECT_EQ(words[15], 0x88000000U);
    EXPECT_EQ(words[16], 0x200U | 7U); // bits 512, 513, 514, and 521
    EXPECT_EQ(words[17], 0U);
    EXPECT_EQ(words[18], 0x100U); // bit 584
}

TEST(hsb_samples, come_back_as_they_were) {
    for (std::uint32_t seed = 0; seed < 300; ++seed)
        EXPECT_EQ(hsb::ila_sample::unpack(example(seed).pack()), example(seed)) << seed;
    hsb::ila_sample wide;
    wide.write_count = 0xFF; // seven bits of it
    EXPECT_EQ(hsb::ila_sample::unpack(wide.pack()).write_count, 0x7F);
    EXPECT_EQ(wide.pack()[16], 0x1FCU);
}

TEST(hsb_samples, ignore_what_is_beyond_their_585_bits) {
    hsb::ila_sample::words words{};
    words[18] = 0xFFFFFE00;
    EXPECT_EQ(hsb::ila_sample::unpack(words), hsb::ila_sample{});
}

TEST(hsb_register_file, reads_0_where_nothing_was_written) {
    const hsb_register_file file;
    for (const std::uint32_t address : {0U, 0x80U, 0x1000U, 0x50100000U, 0x40100000U, 0xFFFFFFFCU})
        EXPECT_EQ(file.read(address), 0U) << address;
}

TEST(hsb_register_file, keeps_what_is_written) {
    hsb_register_file file;
    for (const std::uint32_t address :
         {0U, 0x1028U, 0x50100000U, 0x50107FFCU, 0x40100000U, 0x40197FFCU, 0xFFFFFFFCU}) {
        EXPECT_EQ(file.write(address, address ^ 0x5A5A5A5A), hsb_status::success);
        EXPECT_EQ(file.read(address), address ^ 0x5A5A5A5A);
        EXPECT_EQ(file.write(address, 7), hsb_status::success);
        EXPECT_EQ(file.read(address), 7U);
    }
    EXPECT_EQ(file.used(), 3U); // the memories take no place
}

TEST(hsb_register_file, has_registers_at_multiples_of_4_only) {
    hsb_register_file file;
    for (const std::uint32_t address : {1U, 2U, 3U, 0x50100001U, 0x40100002U, 0xFFFFFFFFU}) {
        EXPECT_EQ(file.write(address, 9), hsb_status::invalid_address);
        EXPECT_EQ(file.read(address), 0U);
    }
    EXPECT_EQ(file.used(), 0U);
}

TEST(hsb_register_file, is_full_at_its_limit_but_still_takes_what_it_has) {
    hsb_register_file file(3);
    for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(file.write(4 * i, 1), hsb_status::success);
    EXPECT_EQ(file.write(100, 1), hsb_status::buffer_full);
    EXPECT_EQ(file.read(100), 0U);
    EXPECT_EQ(file.write(4, 2), hsb_status::success);
    EXPECT_EQ(file.write(hsb::bram::address(3, 3), 2), hsb_status::success);
    EXPECT_EQ(file.read(4), 2U);
}

TEST(hsb_register_file, assembles_windows_from_the_words_of_all_banks) {
    constexpr std::uint32_t windows = 5, bytes = 100;
    hsb_register_file file;
    std::vector<std::byte> expected;
    for (std::uint32_t w = 0; w < windows; ++w) {
        const auto window = message_bytes(w, 0, 128);
        expected.insert(expected.end(), window.begin(), window.end());
        for (std::uint32_t cycle = 0; cycle < 2; ++cycle) {
            for (std::uint32_t bank = 0; bank < 16; ++bank) {
                const auto at = cycle * 64 + bank * 4;
                const auto value = std::to_integer<std::uint32_t>(window[at]) |
                                   std::to_integer<std::uint32_t>(window[at + 1]) << 8 |
                                   std::to_integer<std::uint32_t>(window[at + 2]) << 16 |
                                   std::to_integer<std::uint32_t>(window[at + 3]) << 24;
                ASSERT_EQ(file.write(hsb::bram::address(w, cycle, 2, bank), value), hsb_status::success);
            }
        }
    }
    EXPECT_EQ(file.windows(windows, bytes), expected);
    EXPECT_EQ(file.windows(512, 64).size(), 32768U);
}

TEST(hsb_register_file, holds_samples_that_are_read_word_by_word_and_cleared_at_once) {
    hsb_register_file file;
    file.put_sample(0, example(1));
    file.put_sample(8191, example(2));
    EXPECT_EQ(file.sample(0), example(1));
    EXPECT_EQ(file.sample(8191), example(2));
    EXPECT_EQ(file.sample(1), hsb::ila_sample{});
    for (std::uint32_t bank = 0; bank < hsb::ila::banks; ++bank)
        EXPECT_EQ(file.read(hsb::ila::address(bank, 8191)), example(2).pack()[bank]);
    file.clear_samples();
    EXPECT_EQ(file.sample(8191), hsb::ila_sample{});
}

} // namespace
} // namespace rocio::test

#include <rocio/ring/frame_metadata.hpp>

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace rocio::test {
namespace {

using block = std::array<std::byte, frame_metadata::size>;

block counting() {
    block out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::byte>(i);
    return out;
}

TEST(frame_metadata, fields_lie_where_the_fpga_writes_them_big_endian) {
    const auto m = frame_metadata::decode(counting());
    EXPECT_TRUE(m.early_end); // 00010203: both bits
    EXPECT_TRUE(m.ended_by_count);
    EXPECT_EQ(m.psn, 0x050607U);
    EXPECT_EQ(m.crc, 0x08090A0BU);
    EXPECT_EQ(m.first_data_seconds, 0x0C0D0E0F10111213U);
    EXPECT_EQ(m.first_data_nanoseconds, 0x14151617U);
    EXPECT_EQ(m.bytes_written, 0x18191A1B1C1D1E1FU);
    EXPECT_EQ(m.frame_number, 0x2223U);
    EXPECT_EQ(m.written_seconds, 0x2425262728292A2BU);
    EXPECT_EQ(m.written_nanoseconds, 0x2C2D2E2FU);
}

TEST(frame_metadata, encodes_golden_bytes_and_zeros_between) {
    frame_metadata m;
    m.ended_by_count = true;
    m.psn = 0x1ABCDEF; // 24 bits count
    m.bytes_written = 384;
    m.frame_number = 0xFFFE;
    block out;
    out.fill(std::byte{0xEE});
    m.encode(out);
    block expected{};
    expected[3] = std::byte{2};
    expected[5] = std::byte{0xAB};
    expected[6] = std::byte{0xCD};
    expected[7] = std::byte{0xEF};
    expected[30] = std::byte{1};
    expected[31] = std::byte{0x80};
    expected[34] = std::byte{0xFF};
    expected[35] = std::byte{0xFE};
    EXPECT_EQ(out, expected);
}

TEST(frame_metadata, what_is_encoded_is_decoded) {
    std::mt19937_64 draw(7);
    for (int i = 0; i < 1000; ++i) {
        frame_metadata m;
        m.early_end = (draw() & 1) != 0;
        m.ended_by_count = (draw() & 1) != 0;
        m.psn = static_cast<std::uint32_t>(draw() & 0xFFFFFF);
        m.crc = static_cast<std::uint32_t>(draw());
        m.first_data_seconds = draw();
        m.first_data_nanoseconds = static_cast<std::uint32_t>(draw());
        m.bytes_written = draw();
        m.frame_number = static_cast<std::uint16_t>(draw());
        m.written_seconds = draw();
        m.written_nanoseconds = static_cast<std::uint32_t>(draw());
        block out;
        m.encode(out);
        EXPECT_EQ(frame_metadata::decode(out), m);
    }
}

TEST(frame_metadata, lies_at_the_next_multiple_of_its_size) {
    EXPECT_EQ(frame_metadata::offset_after(0), 0U);
    EXPECT_EQ(frame_metadata::offset_after(1), 128U);
    EXPECT_EQ(frame_metadata::offset_after(128), 128U);
    EXPECT_EQ(frame_metadata::offset_after(300), 384U);
}

TEST(frame_counter, goes_on_over_the_wrap_and_takes_late_frames_for_what_they_are) {
    frame_counter counter;
    EXPECT_EQ(counter.extend(0xFFFE), 0xFFFEU);
    EXPECT_EQ(counter.extend(0xFFFF), 0xFFFFU);
    EXPECT_EQ(counter.extend(0), 0x10000U);
    EXPECT_EQ(counter.extend(0xFFFF), 0xFFFFU); // came late
    EXPECT_EQ(counter.extend(5), 0x10005U);
    EXPECT_EQ(counter.extend(5), 0x10005U);
}

} // namespace
} // namespace rocio::test

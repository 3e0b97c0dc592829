#include "lib/frame_check.hpp"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <vector>

namespace {

using namespace rocio::tools;

std::vector<std::byte> prbs_frame(std::uint32_t sequence, std::size_t word_bytes = 4) {
    std::vector<std::byte> frame(word_bytes * 16);
    prbs_generator(frame.size(), prbs_format{word_bytes}, sequence).next(frame);
    return frame;
}

TEST(frame_check, judges_each_bit_of_a_prbs_payload_and_its_order) {
    frame_check check;
    check.check(prbs_frame(1), 0);
    auto damaged = prbs_frame(2);
    damaged[50] ^= std::byte{4};
    check.check(damaged, 0);
    check.check(prbs_frame(4), 0); // 3 is missing
    check.check(prbs_frame(4), 0); // again
    const auto r = check.result();
    EXPECT_EQ(r.corrupt, 1U);
    EXPECT_EQ(r.lost, 1U);
    EXPECT_EQ(r.duplicated, 1U);
}

TEST(frame_check, takes_the_word_width_it_was_told) {
    frame_check right({verify_kind::prbs, 32});
    right.check(prbs_frame(1, 32), 0);
    EXPECT_EQ(right.result().corrupt, 0U);
    frame_check wrong({verify_kind::prbs, 4});
    wrong.check(prbs_frame(1, 32), 0);
    EXPECT_EQ(wrong.result().corrupt, 1U);
}

TEST(frame_check, judges_by_the_counter_and_not_by_the_payload) {
    frame_check check({verify_kind::counter, 4, 5});
    const std::array<std::byte, 3> anything{};
    for (const std::uint32_t counter : {3U, 4U, 0U, 2U, 2U}) check.check(anything, counter);
    const auto r = check.result();
    EXPECT_EQ(r.lost, 1U);
    EXPECT_EQ(r.duplicated, 1U);
    EXPECT_EQ(r.corrupt, 0U);
}

TEST(frame_check, calls_a_counter_beyond_its_period_corrupt) {
    frame_check check({verify_kind::counter, 4, 5});
    check.check({}, 5);
    EXPECT_EQ(check.result().corrupt, 1U);
}

TEST(frame_check, knows_nothing_of_loss_where_the_counter_stands_still) {
    frame_check check({verify_kind::counter, 4, 0});
    check.check({}, 0);
    check.check({}, 0);
    EXPECT_FALSE(check.result().lost);
    EXPECT_FALSE(check.result().duplicated);
    EXPECT_EQ(check.result().corrupt, 0U);
}

TEST(frame_check, judges_nothing_when_asked_not_to) {
    frame_check check({verify_kind::none});
    check.check({}, 7);
    EXPECT_FALSE(check.result().lost);
    EXPECT_EQ(check.result().corrupt, 0U);
}

TEST(frame_check, refuses_widths_and_periods_that_do_not_exist) {
    EXPECT_THROW(frame_check({verify_kind::prbs, 3}), std::invalid_argument);
    EXPECT_THROW(frame_check({verify_kind::counter, 4, (1U << 24) + 1}), std::invalid_argument);
}

TEST(verify_kind, is_spelled_as_it_is_read) {
    for (const auto kind : {verify_kind::prbs, verify_kind::counter, verify_kind::none})
        EXPECT_EQ(parse_verify_kind(to_string(kind)), kind);
    EXPECT_FALSE(parse_verify_kind("PRBS"));
    EXPECT_FALSE(parse_verify_kind(""));
}

} // namespace

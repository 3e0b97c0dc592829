#include "lib/prbs.hpp"

#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace rocio::tools;
using bytes = std::vector<std::byte>;

constexpr std::size_t usual_frame = 4096;

/// The definition, bit by bit: a word as a row of bits, lowest first.
class naive_register {
  public:
    naive_register(std::size_t word_bytes, std::uint32_t sequence) : bits_(8 * word_bytes) {
        for (std::size_t i = 0; i < 32; ++i) bits_[i] = (sequence >> i & 1U) != 0;
    }

    void step() {
        const bool fed = bits_[1] != (bits_[2] != (bits_[6] != bits_[31]));
        for (auto i = bits_.size() - 1; i > 0; --i) bits_[i] = bits_[i - 1];
        bits_[0] = fed;
    }

    void write(std::byte* to) const {
        for (std::size_t i = 0; i < bits_.size(); ++i) {
            if (bits_[i]) to[i / 8] |= std::byte{1} << static_cast<int>(i % 8);
        }
    }

  private:
    std::vector<bool> bits_;
};

bytes naive_frame(std::uint32_t sequence, std::size_t frame_bytes, std::size_t word_bytes) {
    bytes frame(frame_bytes);
    const auto words = frame_bytes / word_bytes;
    naive_register state(word_bytes, sequence);
    state.write(frame.data());
    naive_register(word_bytes, static_cast<std::uint32_t>(words - 1)).write(frame.data() + word_bytes);
    for (std::size_t i = 2; i < words; ++i) {
        state.step();
        state.write(frame.data() + i * word_bytes);
    }
    return frame;
}

/// The same for 4-byte words with the register in one number, fast enough for many large frames.
bytes naive_frame_of_32_bit_words(std::uint32_t sequence, std::size_t frame_bytes) {
    std::vector<std::uint32_t> words(frame_bytes / 4);
    words[0] = sequence;
    words[1] = static_cast<std::uint32_t>(words.size() - 1);
    auto state = sequence;
    for (std::size_t i = 2; i < words.size(); ++i) {
        const auto fed = (state >> 1 ^ state >> 2 ^ state >> 6 ^ state >> 31) & 1U;
        state = state << 1 | fed;
        words[i] = state;
    }
    bytes frame(frame_bytes);
    std::memcpy(frame.data(), words.data(), frame_bytes);
    return frame;
}

std::vector<bytes> frames_from(std::uint32_t first, std::size_t count, std::size_t frame_bytes = 64) {
    prbs_generator generator(frame_bytes, {}, first);
    std::vector<bytes> frames(count, bytes(frame_bytes));
    for (auto& frame : frames) generator.next(frame);
    return frames;
}

verify_result checked(const std::vector<bytes>& frames) {
    prbs_checker checker;
    for (const auto& frame : frames) checker.check(frame);
    return checker.result();
}

void flip(bytes& frame, std::size_t bit) {
    frame[bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
}

TEST(prbs_frame, starts_as_the_layout_says) {
    // Sequence 1: the register feeds 0 while the lone 1 is below tap 1, then 1 from taps 1 and 2.
    const auto frame = frames_from(1, 1, 28).front();
    std::vector<std::uint32_t> words(7);
    std::memcpy(words.data(), frame.data(), frame.size());
    EXPECT_THAT(words, testing::ElementsAre(1U, 6U, 2U, 5U, 11U, 23U, 46U));
}

TEST(prbs_frame, of_sequence_0_is_all_zero_but_its_length) {
    auto frame = frames_from(0, 1, 40).front();
    EXPECT_EQ(std::to_integer<int>(frame[4]), 9);
    frame[4] = std::byte{0};
    EXPECT_EQ(frame, bytes(40));
}

TEST(prbs_generator, is_bit_exact_over_20000_frames) {
    prbs_generator generator(usual_frame);
    bytes frame(usual_frame);
    for (std::uint32_t n = 0; n < 20'000; ++n) {
        generator.next(frame);
        ASSERT_EQ(frame, naive_frame_of_32_bit_words(n, usual_frame)) << n;
    }
    EXPECT_EQ(generator.sequence(), 20'000U);
}

TEST(prbs_generator, agrees_with_the_definition_at_every_power_of_two_and_at_the_wrap) {
    for (int k = 1; k < 32; ++k) {
        const auto first = (std::uint32_t{1} << k) - 2;
        const auto frames = frames_from(first, 4, 512);
        for (std::uint32_t i = 0; i < 4; ++i)
            EXPECT_EQ(frames[i], naive_frame(first + i, 512, 4)) << first + i;
    }
    const auto around = frames_from(0xFFFF'FFFE, 4, 512);
    for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(around[i], naive_frame(0xFFFF'FFFE + i, 512, 4)) << i;
}

TEST(prbs_generator, makes_wider_words_by_the_same_rule) {
    for (const std::size_t word : {8U, 12U, 16U, 32U, 64U}) {
        prbs_generator generator(40 * word, {.word_bytes = word}, 0x8000'0045);
        bytes frame(40 * word);
        for (std::uint32_t i = 0; i < 20; ++i) {
            generator.next(frame);
            ASSERT_EQ(frame, naive_frame(0x8000'0045 + i, 40 * word, word)) << word << " bytes, frame " << i;
            ASSERT_TRUE(is_prbs_frame(frame, {.word_bytes = word}));
        }
    }
}

TEST(prbs_generator, makes_frames_of_changing_size) {
    prbs_generator generator(256, {}, 5);
    std::uint32_t sequence = 5;
    for (const std::size_t size : {256U, 256U, 12U, 256U, 4096U, 256U, 256U}) {
        bytes frame(size);
        generator.next(frame);
        EXPECT_EQ(frame, naive_frame(sequence, size, 4)) << "sequence " << sequence;
        ++sequence;
    }
}

TEST(prbs_generator, writes_where_it_is_told_and_nowhere_else) {
    bytes memory(1 + 64 + 1, std::byte{0xEE});
    prbs_generator generator(64, {}, 1);
    generator.next(std::span(memory).subspan(1, 64));
    generator.next(std::span(memory).subspan(1, 64));
    EXPECT_EQ(memory.front(), std::byte{0xEE});
    EXPECT_EQ(memory.back(), std::byte{0xEE});
    EXPECT_EQ(bytes(memory.begin() + 1, memory.end() - 1), naive_frame(2, 64, 4));
}

TEST(prbs_generator, refuses_sizes_that_are_no_frame) {
    for (const std::size_t size : {0U, 4U, 8U, 13U, 4095U}) {
        EXPECT_THROW(prbs_generator generator(size), std::invalid_argument) << size;
    }
    EXPECT_THROW(prbs_generator(16, {.word_bytes = 8}), std::invalid_argument);
    for (const std::size_t word : {0U, 1U, 2U, 6U, 1028U}) {
        EXPECT_THROW(prbs_generator(1028 * 12, {.word_bytes = word}), std::invalid_argument) << word;
        EXPECT_THROW(prbs_checker({.word_bytes = word}), std::invalid_argument) << word;
    }
    prbs_generator generator(64);
    bytes frame(63);
    EXPECT_THROW(generator.next(frame), std::invalid_argument);
    EXPECT_EQ(generator.sequence(), 0U);
}

TEST(prbs_checker, finds_an_untouched_stream_clean) {
    const auto result = checked(frames_from(0, 1000));
    EXPECT_TRUE(result.clean());
    EXPECT_EQ(result, (verify_result{.frames = 1000, .bytes = 64'000, .restarts = 1}));
}

TEST(prbs_checker, finds_nothing_clean_without_frames) {
    EXPECT_FALSE(prbs_checker().result().clean());
}

TEST(prbs_checker, takes_the_first_frame_for_a_restart_whatever_its_number) {
    prbs_checker checker;
    EXPECT_EQ(checker.check(frames_from(4711, 1).front()), prbs_verdict::restart);
    EXPECT_EQ(checker.check(frames_from(4712, 1).front()), prbs_verdict::good);
    EXPECT_TRUE(checker.result().clean());
}

TEST(prbs_checker, takes_sequence_0_for_a_restart_and_not_for_loss_or_repetition) {
    prbs_checker checker;
    for (const auto& frame : frames_from(7, 3)) checker.check(frame);
    EXPECT_EQ(checker.check(frames_from(0, 1).front()), prbs_verdict::restart);
    EXPECT_EQ(checker.check(frames_from(1, 1).front()), prbs_verdict::good);
    EXPECT_TRUE(checker.result().clean());
    EXPECT_EQ(checker.result().restarts, 2U);
}

TEST(prbs_checker, passes_the_wrap_of_the_sequence) {
    const auto result = checked(frames_from(0xFFFF'FFF0, 64));
    EXPECT_TRUE(result.clean());
    EXPECT_EQ(result.restarts, 2U);
}

TEST(prbs_checker, reports_any_one_flipped_bit_as_one_corrupt_frame) {
    const auto frames = frames_from(100, 3);
    for (std::size_t bit = 0; bit < 8 * frames[1].size(); ++bit) {
        auto damaged = frames;
        flip(damaged[1], bit);
        ASSERT_EQ(checked(damaged), (verify_result{.frames = 3, .bytes = 192, .corrupt = 1, .restarts = 1}))
            << bit;
    }
}

TEST(prbs_checker, reports_a_flipped_bit_anywhere_in_a_large_frame) {
    const auto frame = frames_from(12345, 1, usual_frame).front();
    ASSERT_TRUE(is_prbs_frame(frame));
    for (std::size_t bit = 0; bit < 8 * usual_frame; bit += 13) {
        auto damaged = frame;
        flip(damaged, bit);
        ASSERT_FALSE(is_prbs_frame(damaged)) << bit;
    }
}

TEST(prbs_checker, reports_a_flipped_bit_anywhere_in_wide_words) {
    const auto frame = naive_frame(0x1234'5678, 16 * 24, 16);
    ASSERT_TRUE(is_prbs_frame(frame, {.word_bytes = 16}));
    for (std::size_t bit = 0; bit < 8 * frame.size(); ++bit) {
        auto damaged = frame;
        flip(damaged, bit);
        ASSERT_FALSE(is_prbs_frame(damaged, {.word_bytes = 16})) << bit;
    }
}

TEST(prbs_checker, reports_each_missing_frame_as_lost) {
    auto one_gone = frames_from(10, 6);
    one_gone.erase(one_gone.begin() + 2);
    EXPECT_EQ(checked(one_gone), (verify_result{.frames = 5, .bytes = 320, .lost = 1, .restarts = 1}));

    auto three_gone = frames_from(10, 6);
    three_gone.erase(three_gone.begin() + 1, three_gone.begin() + 4);
    EXPECT_EQ(checked(three_gone).lost, 3U);
}

TEST(prbs_checker, reports_a_repeated_frame_as_duplicated) {
    auto frames = frames_from(10, 5);
    frames.insert(frames.begin() + 3, frames[2]);
    EXPECT_EQ(checked(frames), (verify_result{.frames = 6, .bytes = 384, .duplicated = 1, .restarts = 1}));
}

TEST(prbs_checker, reports_a_repeated_run_frame_by_frame_and_goes_on_after_it) {
    auto frames = frames_from(10, 8);
    const auto again = frames_from(12, 3);
    frames.insert(frames.begin() + 5, again.begin(), again.end());
    EXPECT_EQ(checked(frames), (verify_result{.frames = 11, .bytes = 704, .duplicated = 3, .restarts = 1}));
}

TEST(prbs_checker, counts_damage_loss_and_repetition_side_by_side) {
    auto frames = frames_from(1, 20);
    frames.insert(frames.begin() + 15, frames[14]);
    frames.erase(frames.begin() + 10);
    flip(frames[5], 77);
    const auto result = checked(frames);
    EXPECT_EQ(result.corrupt, 1U);
    EXPECT_EQ(result.lost, 1U);
    EXPECT_EQ(result.duplicated, 1U);
    EXPECT_FALSE(result.clean());
}

TEST(prbs_checker, takes_a_loss_right_after_damage_for_one_of_each) {
    auto frames = frames_from(1, 6);
    flip(frames[2], 3);
    frames.erase(frames.begin() + 3);
    const auto result = checked(frames);
    EXPECT_EQ(result.corrupt, 1U);
    EXPECT_EQ(result.lost, 1U);
}

TEST(prbs_checker, starts_after_a_corrupt_first_frame_without_inventing_loss) {
    auto frames = frames_from(500, 3);
    flip(frames[0], 0);
    EXPECT_EQ(checked(frames), (verify_result{.frames = 3, .bytes = 192, .corrupt = 1, .restarts = 1}));
}

TEST(prbs_checker, calls_every_wrong_length_corrupt) {
    const auto good = frames_from(3, 1).front();
    for (std::size_t size = 0; size < good.size(); ++size) {
        EXPECT_FALSE(is_prbs_frame(std::span(good).first(size))) << size;
    }
    auto longer = good;
    longer.resize(good.size() + 4);
    EXPECT_FALSE(is_prbs_frame(longer));
    EXPECT_FALSE(is_prbs_frame(bytes(64)));
    EXPECT_FALSE(is_prbs_frame(bytes(64, std::byte{0xFF})));
}

TEST(prbs_checker, takes_the_shortest_frame_and_frames_at_odd_addresses) {
    EXPECT_TRUE(is_prbs_frame(naive_frame(9, 12, 4)));
    const auto frame = naive_frame(77, 128, 4);
    bytes memory(129);
    std::memcpy(memory.data() + 1, frame.data(), frame.size());
    EXPECT_TRUE(is_prbs_frame(std::span(memory).subspan(1)));
}

TEST(prbs_verdict, has_a_name_each) {
    EXPECT_EQ(to_string(prbs_verdict::good), "good");
    EXPECT_EQ(to_string(prbs_verdict::restart), "restart");
    EXPECT_EQ(to_string(prbs_verdict::after_loss), "after loss");
    EXPECT_EQ(to_string(prbs_verdict::duplicate), "duplicate");
    EXPECT_EQ(to_string(prbs_verdict::corrupt), "corrupt");
}

} // namespace

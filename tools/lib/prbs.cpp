#include "lib/prbs.hpp"

#include "lib/target_clones.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

namespace rocio::tools {

namespace {

static_assert(std::endian::native == std::endian::little,
              "frames are little-endian and are read as they are");

constexpr std::size_t max_word_bytes = 1024;
constexpr std::size_t difference_count = 32;

std::uint32_t load(const std::byte* at) noexcept {
    std::uint32_t word;
    std::memcpy(&word, at, sizeof word);
    return word;
}

void store(std::byte* at, std::uint32_t word) noexcept {
    std::memcpy(at, &word, sizeof word);
}

constexpr std::uint32_t feedback(std::uint32_t low) noexcept {
    return ((low >> 1) ^ (low >> 2) ^ (low >> 6) ^ (low >> 31)) & 1U;
}

constexpr std::uint32_t step(std::uint32_t state) noexcept {
    return state << 1 | feedback(state);
}

void check_word_size(const prbs_format& format) {
    const auto size = format.word_bytes;
    if (size >= 4 && size <= max_word_bytes && size % 4 == 0) return;
    throw std::invalid_argument("PRBS word size is " + std::to_string(size) +
                                " bytes, allowed is a multiple of 4 from 4 to 1024");
}

void check_frame_size(const prbs_format& format, std::size_t bytes) {
    if (format.fits(bytes)) return;
    throw std::invalid_argument("PRBS frame size is " + std::to_string(bytes) +
                                " bytes, allowed is a multiple of " + std::to_string(format.word_bytes) +
                                " of at least " + std::to_string(prbs_format::min_words * format.word_bytes));
}

/// The shift register of one word: word_bytes / 4 limbs, lowest first.
void step_wide(std::span<std::uint32_t> state) noexcept {
    std::uint32_t carry = feedback(state[0]);
    for (auto& limb : state) {
        const auto out = limb >> 31;
        limb = limb << 1 | carry;
        carry = out;
    }
}

void fill_generic(std::span<std::byte> frame, std::size_t word_bytes, std::uint32_t sequence) {
    std::array<std::uint32_t, max_word_bytes / 4> storage{};
    const auto state = std::span(storage).first(word_bytes / 4);
    std::fill(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(2 * word_bytes), std::byte{0});
    store(frame.data(), sequence);
    store(frame.data() + word_bytes, static_cast<std::uint32_t>(frame.size() / word_bytes - 1));
    state[0] = sequence;
    for (std::size_t at = 2 * word_bytes; at < frame.size(); at += word_bytes) {
        step_wide(state);
        std::memcpy(frame.data() + at, state.data(), word_bytes);
    }
}

bool check_generic(std::span<const std::byte> frame, std::size_t word_bytes) {
    std::array<std::uint32_t, max_word_bytes / 4> storage{};
    const auto state = std::span(storage).first(word_bytes / 4);
    std::uint32_t wrong =
        load(frame.data() + word_bytes) ^ static_cast<std::uint32_t>(frame.size() / word_bytes - 1);
    for (std::size_t i = 4; i < word_bytes; i += 4) {
        wrong |= load(frame.data() + i) | load(frame.data() + word_bytes + i);
    }
    state[0] = load(frame.data());
    for (std::size_t at = 2 * word_bytes; at < frame.size(); at += word_bytes) {
        step_wide(state);
        wrong |= static_cast<std::uint32_t>(std::memcmp(frame.data() + at, state.data(), word_bytes) != 0);
    }
    return wrong == 0;
}

/// last ^= difference, and frame = last.
ROCIO_TARGET_CLONES
void advance(std::uint32_t* __restrict last, const std::uint32_t* __restrict difference,
             std::byte* __restrict frame, std::size_t limbs) noexcept {
    for (std::size_t i = 0; i < limbs; ++i) {
        last[i] ^= difference[i];
        std::memcpy(frame + 4 * i, &last[i], 4);
    }
}

/// The bits by which words 3.. differ from what their left neighbours ask for, but for each word's lowest
/// limb. A word against its neighbour has no serial chain, unlike running the register, and is the same
/// condition. `limbs` of a word: a power of two.
ROCIO_TARGET_CLONES
std::uint32_t upper_limb_faults(const std::byte* frame, std::uint32_t limbs, std::size_t all) noexcept {
    std::uint32_t wrong = 0;
    for (std::size_t i = 3 * std::size_t{limbs}; i < all; ++i) {
        const auto* neighbour = frame + 4 * (i - limbs);
        const auto found = load(frame + 4 * i) ^ (load(neighbour) << 1 | load(neighbour - 4) >> 31);
        wrong |= (static_cast<std::uint32_t>(i) & (limbs - 1)) != 0 ? found : 0;
    }
    return wrong;
}

ROCIO_TARGET_CLONES
std::uint32_t lowest_limb_faults(const std::byte* frame, std::uint32_t limbs, std::size_t all) noexcept {
    std::uint32_t wrong = 0;
    for (std::size_t i = 3 * std::size_t{limbs}; i < all; i += limbs)
        wrong |= load(frame + 4 * i) ^ step(load(frame + 4 * (i - limbs)));
    return wrong;
}

/// The same for the words whose left neighbour is no part of the register: 0 to 2.
std::uint32_t first_words_faults(const std::byte* frame, std::uint32_t limbs, std::size_t all) noexcept {
    const auto limb = [&](std::uint32_t word, std::uint32_t i) {
        return load(frame + 4 * (word * limbs + i));
    };
    const auto sequence = limb(0, 0);
    std::uint32_t wrong = limb(1, 0) ^ static_cast<std::uint32_t>(all / limbs - 1);
    wrong |= limb(2, 0) ^ step(sequence);
    for (std::uint32_t i = 1; i < limbs; ++i)
        wrong |= limb(0, i) | limb(1, i) | (limb(2, i) ^ (i == 1 ? sequence >> 31 : 0));
    return wrong;
}

bool check_fast(std::span<const std::byte> frame, std::size_t word_bytes) {
    const auto limbs = static_cast<std::uint32_t>(word_bytes / 4);
    const auto all = frame.size() / 4;
    const auto upper = limbs > 1 ? upper_limb_faults(frame.data(), limbs, all) : 0;
    return (first_words_faults(frame.data(), limbs, all) | upper |
            lowest_limb_faults(frame.data(), limbs, all)) == 0;
}

} // namespace

bool prbs_format::fits(std::size_t frame_bytes) const noexcept {
    if (frame_bytes % word_bytes != 0) return false;
    const auto words = frame_bytes / word_bytes;
    return words >= min_words && words - 1 <= std::numeric_limits<std::uint32_t>::max();
}

prbs_generator::prbs_generator(std::size_t frame_bytes, prbs_format format, std::uint32_t first_sequence)
    : format_(format), frame_bytes_(frame_bytes), sequence_(first_sequence) {
    check_word_size(format);
    check_frame_size(format, frame_bytes);
    const auto limbs = frame_bytes / 4;
    differences_.resize(difference_count * limbs);
    last_.resize(limbs);
    for (std::size_t k = 0; k < difference_count; ++k) {
        auto* difference = &differences_[k * limbs];
        const auto flipped = static_cast<std::uint32_t>((std::uint64_t{2} << k) - 1); // n ^ (n + 1)
        fill_generic(std::as_writable_bytes(std::span(difference, limbs)), format.word_bytes, flipped);
        difference[format.word_bytes / 4] = 0; // the length is the same in both
    }
}

void prbs_generator::next(std::span<std::byte> frame) {
    check_frame_size(format_, frame.size());
    if (frame.size() == frame_bytes_) {
        next_fast(frame);
    } else {
        fill_generic(frame, format_.word_bytes, sequence_);
    }
    ++sequence_;
}

void prbs_generator::next_fast(std::span<std::byte> frame) {
    const auto limbs = last_.size();
    if (last_sequence_ && *last_sequence_ + 1 == sequence_) {
        const auto k =
            std::min<std::size_t>(static_cast<std::size_t>(std::countr_zero(sequence_)), 31); // wrap: 31
        advance(last_.data(), &differences_[k * limbs], frame.data(), limbs);
    } else {
        fill_generic(std::as_writable_bytes(std::span(last_)), format_.word_bytes, sequence_);
        std::memcpy(frame.data(), last_.data(), frame.size());
    }
    last_sequence_ = sequence_;
}

std::string_view to_string(prbs_verdict verdict) noexcept {
    switch (verdict) {
    case prbs_verdict::good:
        return "good";
    case prbs_verdict::restart:
        return "restart";
    case prbs_verdict::after_loss:
        return "after loss";
    case prbs_verdict::duplicate:
        return "duplicate";
    case prbs_verdict::corrupt:
        return "corrupt";
    }
    return "unknown";
}

bool is_prbs_frame(std::span<const std::byte> frame, prbs_format format) {
    check_word_size(format);
    if (!format.fits(frame.size())) return false;
    return std::has_single_bit(format.word_bytes) ? check_fast(frame, format.word_bytes)
                                                  : check_generic(frame, format.word_bytes);
}

prbs_checker::prbs_checker(prbs_format format) : format_(format) {
    check_word_size(format);
}

prbs_verdict prbs_checker::check(std::span<const std::byte> frame) {
    ++result_.frames;
    result_.bytes += frame.size();
    if (is_prbs_frame(frame, format_)) return judge_sequence(load(frame.data()));
    ++result_.corrupt;
    if (expected_) ++*expected_;
    return prbs_verdict::corrupt;
}

prbs_verdict prbs_checker::judge_sequence(std::uint32_t sequence) {
    if (!expected_ || sequence == 0) {
        expected_ = sequence + 1;
        ++result_.restarts;
        return prbs_verdict::restart;
    }
    const auto ahead = sequence - *expected_;
    if (ahead >= 0x8000'0000U) {
        ++result_.duplicated;
        return prbs_verdict::duplicate;
    }
    result_.lost += ahead;
    expected_ = sequence + 1;
    return ahead == 0 ? prbs_verdict::good : prbs_verdict::after_loss;
}

} // namespace rocio::tools

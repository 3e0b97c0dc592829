#pragma once

#include "lib/prbs.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace rocio::tools {

/// The bytes of a frame that are PRBS: whole words of 4, none if that makes less than three.
constexpr std::size_t prbs_part(std::size_t frame_bytes) noexcept {
    const auto whole = frame_bytes / 4 * 4;
    return whole < 4 * prbs_format::min_words ? 0 : whole;
}

/// What an emulated sensor sends, so that a receiver can check each bit: a PRBS frame, numbered in its first
/// word, and where its words end bytes that count up from the frame's number.
class sensor_pattern {
  public:
    /// `frame_bytes` is at least 1.
    sensor_pattern(std::size_t frame_bytes, std::uint32_t first_number) : number_(first_number) {
        if (prbs_part(frame_bytes) != 0) prbs_.emplace(prbs_part(frame_bytes), prbs_format{}, first_number);
    }

    /// `frame` has the size given at construction.
    void next(std::span<std::byte> frame) {
        const auto words = prbs_part(frame.size());
        if (prbs_) prbs_->next(frame.first(words));
        fill_rest(frame.subspan(words), number_++);
    }
    /// Whether the bytes behind the PRBS are those of frame `number`.
    static bool rest_fits(std::span<const std::byte> rest, std::uint32_t number) noexcept {
        for (std::size_t i = 0; i < rest.size(); ++i) {
            if (rest[i] != byte_at(i, number)) return false;
        }
        return true;
    }

  private:
    static std::byte byte_at(std::size_t i, std::uint32_t number) noexcept {
        return static_cast<std::byte>((number + i) & 0xFF);
    }
    static void fill_rest(std::span<std::byte> rest, std::uint32_t number) noexcept {
        for (std::size_t i = 0; i < rest.size(); ++i) rest[i] = byte_at(i, number);
    }

    std::optional<prbs_generator> prbs_;
    std::uint32_t number_;
};

/// Checks frames of a sensor_pattern and their order.
class sensor_check {
  public:
    /// Gives whether the frame is right in itself.
    bool check(std::span<const std::byte> frame) {
        const auto words = prbs_part(frame.size());
        if (words == 0) return true;
        const auto number = number_of(frame);
        const bool right = sensor_pattern::rest_fits(frame.subspan(words), number);
        if (prbs_.check(frame.first(words)) == prbs_verdict::corrupt) return false;
        damaged_rests_ += right ? 0 : 1;
        return right;
    }
    std::uint64_t lost() const noexcept { return prbs_.result().lost; }
    std::uint64_t duplicated() const noexcept { return prbs_.result().duplicated; }
    std::uint64_t corrupt() const noexcept { return prbs_.result().corrupt + damaged_rests_; }

  private:
    static std::uint32_t number_of(std::span<const std::byte> frame) noexcept {
        std::uint32_t number = 0;
        for (std::size_t i = 0; i < 4; ++i) number |= std::to_integer<std::uint32_t>(frame[i]) << (8 * i);
        return number;
    }

    prbs_checker prbs_{};
    std::uint64_t damaged_rests_ = 0;
};

} // namespace rocio::tools

#pragma once

#include <cstdint>

namespace rocio::detail {

/// What arrived on one channel, and how many counters its frames skipped. Not thread-safe.
class channel_counter {
  public:
    void add(std::uint64_t frames, std::uint64_t bytes) noexcept {
        frames_ += frames;
        bytes_ += bytes;
    }
    /// `counter` takes `period` values, at most 2^24; one above is passed over. Up to half a period ahead of
    /// the expected one is a gap; what lies further back came again, and changes nothing. The first one is
    /// right whatever it is.
    void follow(std::uint32_t counter, std::uint32_t period) noexcept {
        if (counter >= period) [[unlikely]]
            return;
        if (expected_ != unknown && counter != expected_) [[unlikely]] {
            const auto ahead = counter > expected_ ? counter - expected_ : counter + period - expected_;
            if (ahead > (period - 1) / 2) return;
            gaps_ += ahead;
        }
        expected_ = counter + 1 == period ? 0 : counter + 1;
    }
    void forget_sequence() noexcept { expected_ = unknown; }

    std::uint64_t frames() const noexcept { return frames_; }
    std::uint64_t bytes() const noexcept { return bytes_; }
    std::uint64_t gaps() const noexcept { return gaps_; }

  private:
    static constexpr std::uint32_t unknown = 0xFFFFFFFF;

    std::uint64_t frames_ = 0, bytes_ = 0, gaps_ = 0;
    std::uint32_t expected_ = unknown;
};

} // namespace rocio::detail

#pragma once

#include <chrono>
#include <cstdint>
#include <stdexcept>

namespace rocio {

/// How long a requester waits for an acknowledgement: 4.096 us x 2^code, code 1..31; 0 waits for ever
/// (IBA 9.9.2.1.1). Default 14 (67.1 ms). Constructing one from a code above 31 throws std::out_of_range.
class ack_timeout {
  public:
    constexpr ack_timeout() noexcept = default;
    explicit constexpr ack_timeout(std::uint32_t code) : code_(static_cast<std::uint8_t>(code)) {
        if (code > 31) throw std::out_of_range("acknowledgement timeout code exceeds 31");
    }

    constexpr std::uint8_t code() const noexcept { return code_; }
    constexpr bool endless() const noexcept { return code_ == 0; }
    /// Nanoseconds; zero when endless().
    constexpr std::chrono::nanoseconds duration() const noexcept {
        return endless() ? std::chrono::nanoseconds{0}
                         : std::chrono::nanoseconds{std::int64_t{4096} << code_};
    }

    friend constexpr bool operator==(ack_timeout, ack_timeout) noexcept = default;

  private:
    std::uint8_t code_ = 14;
};

} // namespace rocio

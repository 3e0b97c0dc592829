#pragma once

#include <cstdint>

namespace rocio::transport {

/// How many more times to try before giving up; any progress restores it (IBA 9.9.2.1.1 and 9.7.5.2.8).
class retry_budget {
  public:
    static constexpr std::uint32_t endless = 0xFFFFFFFF;

    constexpr retry_budget() noexcept = default;
    explicit constexpr retry_budget(std::uint32_t limit) noexcept : limit_(limit), left_(limit) {}

    /// Takes one try; false when none was left.
    constexpr bool take() noexcept {
        if (limit_ == endless) return true;
        if (left_ == 0) return false;
        --left_;
        return true;
    }
    constexpr void restore() noexcept { left_ = limit_; }

  private:
    std::uint32_t limit_ = 0;
    std::uint32_t left_ = 0;
};

} // namespace rocio::transport

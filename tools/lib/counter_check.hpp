#pragma once

#include <cstdint>
#include <optional>

namespace rocio::tools {

/// Follows the sender's counter in imm[31:8]: how many messages are missing or came again. The counter has 24
/// bits and may start anew earlier; where it stands still nothing can be known. Not thread-safe.
class counter_check {
  public:
    static constexpr std::uint32_t full_period = 1U << 24;

    /// `period`: how many values the counter takes, 2..2^24; 0 and 1 stand for a counter that stands still
    /// (AddrWrapCount 0). Throws std::invalid_argument above 2^24.
    explicit counter_check(std::uint32_t period = full_period);

    /// `counter` as imm >> 8. The first one is right whatever it is; from then on up to half a period ahead
    /// is loss, the rest repetition. A value outside the period counts as unexpected.
    void check(std::uint32_t counter);

    /// Nothing where the counter stands still. A loss of whole periods cannot be seen.
    std::optional<std::uint64_t> lost() const;
    std::optional<std::uint64_t> duplicated() const;
    std::uint64_t unexpected() const noexcept { return unexpected_; }

  private:
    bool stands_still() const noexcept { return period_ < 2; }

    std::uint32_t period_;
    std::optional<std::uint32_t> expected_;
    std::uint64_t lost_ = 0;
    std::uint64_t duplicated_ = 0;
    std::uint64_t unexpected_ = 0;
};

} // namespace rocio::tools

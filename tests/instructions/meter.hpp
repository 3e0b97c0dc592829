#pragma once

#include "allocation_counter.hpp"

#include <cstdint>
#include <string>

/// What stands for the user's own code: its cost is subtracted, as the device's is.
namespace rocio::test::user {

/// Collects from the end of the warm-up on, until `measured` messages are done.
class meter {
  public:
    static constexpr std::uint64_t warm_up = 20'000;
    static constexpr std::uint64_t measured = 100'000;

    meter() = default;
    meter(const meter&) = delete;
    meter& operator=(const meter&) = delete;

    /// The user has had `n` more messages; false: enough.
    bool take(std::uint64_t n) noexcept;
    bool done() const noexcept { return done_; }

    /// For who collects a part of each round only: between begin() and end(), which count no message.
    void begin() noexcept;
    void end() noexcept;
    void count(std::uint64_t messages) noexcept { messages_ += messages; }

    std::uint64_t messages() const noexcept { return messages_; }
    std::uint64_t allocations() const noexcept { return allocations_; }
    std::uint64_t clock_reads() const noexcept { return clock_reads_; }

  private:
    std::uint64_t seen_ = 0, began_at_ = 0, messages_ = 0;
    bool running_ = false, done_ = false;
    allocation_counter counter_{};
    std::uint64_t allocations_ = 0, clock_reads_ = 0, reads_before_ = 0;
};

/// Writes what was collected since the last call as one part of callgrind's output. Nothing without
/// callgrind.
void dump(const std::string& name);

} // namespace rocio::test::user

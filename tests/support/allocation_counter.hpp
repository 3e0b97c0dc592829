#pragma once

#include <cstdint>

namespace rocio::test {

/// Counts the allocations of the calling thread, or of the whole process, from its construction on: malloc,
/// calloc, realloc, aligned_alloc, posix_memalign, memalign and every operator new (which end in one of
/// them). Counting only operator new would miss the operation memory of Asio, which comes from
/// std::aligned_alloc.
///
/// Link allocation_counter.cpp into the test program. Without sanitizers it replaces malloc and its kin; with
/// them it asks the sanitizer's own hooks.
class allocation_counter {
  public:
    enum class scope { this_thread, process };

    explicit allocation_counter(scope counted = scope::this_thread) noexcept;

    /// Since construction or the last reset().
    std::uint64_t allocations() const noexcept;
    void reset() noexcept;

  private:
    std::uint64_t total() const noexcept;

    scope scope_;
    std::uint64_t start_ = 0;
};

} // namespace rocio::test

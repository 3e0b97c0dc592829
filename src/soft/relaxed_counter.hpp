#pragma once

#include <atomic>
#include <cstdint>

namespace rocio::soft {

/// A counter with one writer that any thread may read; costs what a plain integer costs.
class relaxed_counter {
  public:
    void add(std::uint64_t n = 1) noexcept {
        value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }
    void subtract(std::uint64_t n = 1) noexcept { add(std::uint64_t{0} - n); }
    std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

  private:
    std::atomic<std::uint64_t> value_{0};
};

} // namespace rocio::soft

#pragma once

#include <atomic>
#include <cstdint>

namespace rocio {

/// A counter with one writer at a time that any thread may read; costs what a plain integer costs.
class relaxed_counter {
  public:
    void add(std::uint64_t n = 1) noexcept {
        value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }
    void subtract(std::uint64_t n = 1) noexcept { add(std::uint64_t{0} - n); }
    void raise_to(std::uint64_t n) noexcept {
        if (n > value_.load(std::memory_order_relaxed)) value_.store(n, std::memory_order_relaxed);
    }
    std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

  private:
    std::atomic<std::uint64_t> value_{0};
};

} // namespace rocio

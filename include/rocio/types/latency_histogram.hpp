#pragma once

#include <rocio/types/relaxed_counter.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace rocio {

/// A histogram in numbers. All zero when nothing was recorded.
struct latency_summary {
    /// Durations of 2^40 ns and more are counted with the longest below.
    static constexpr std::size_t powers = 41;

    std::uint64_t count = 0;
    std::chrono::nanoseconds p50{};
    std::chrono::nanoseconds p99{};
    std::chrono::nanoseconds p999{}; ///< 99.9 %.
    std::chrono::nanoseconds max{};  ///< Exact.
    std::chrono::nanoseconds sum{};  ///< Exact.
    /// [n]: durations below 2^n ns and not below half of that; [0]: those of 0 ns.
    std::array<std::uint64_t, powers> per_power{};
};

/// Counts durations in log-linear buckets: 32 per power of two, so a quantile is at most 1/32 (3.2 %) above
/// the true value; below 32 ns it is exact. 9 KiB, fixed; durations from 2^40 ns (18 minutes) on share the
/// last bucket. record() allocates nothing and takes a few nanoseconds.
///
/// Thread safety: record() from one thread at a time; reading from any, while recording goes on.
class latency_histogram {
  public:
    /// A negative duration counts as 0. `times`: how often it was seen.
    void record(std::chrono::nanoseconds duration, std::uint64_t times = 1) noexcept;

    std::uint64_t count() const noexcept;
    std::chrono::nanoseconds max() const noexcept {
        return std::chrono::nanoseconds(static_cast<std::int64_t>(max_.value()));
    }
    /// The smallest duration that `part` (0 to 1) of the recorded ones do not exceed, rounded up to its
    /// bucket's end, at most max(). 0 if nothing was recorded.
    std::chrono::nanoseconds quantile(double part) const noexcept;
    latency_summary summary() const noexcept;

    /// Where a duration is counted, and the longest duration counted there.
    static std::size_t bucket_of(std::uint64_t ns) noexcept;
    static std::uint64_t bucket_end(std::size_t bucket) noexcept;

    static constexpr unsigned step_bits = 5;
    static constexpr unsigned value_bits = 40;
    static constexpr std::size_t buckets = (value_bits - step_bits + 1) << step_bits;

  private:
    std::array<relaxed_counter, buckets> counts_{};
    relaxed_counter max_;
    relaxed_counter sum_;
};

} // namespace rocio

#pragma once

#include "bench/latency_summary.hpp"
#include "bench/measurement.hpp"
#include "bench/message_operation.hpp"

#include <cstdint>
#include <span>

namespace rocio::tools {

/// A measurement in numbers, without its samples; a value.
struct bench_figures {
    latency_summary latency{};
    std::uint64_t messages = 0;
    double peak_rate = 0, rate = 0; ///< Messages per second.
    double cpu_us_per_message = 0, cores_busy = 0, allocations_per_message = 0;
    std::uint64_t lost = 0;
    std::int64_t memory_growth = 0; ///< Bytes.
};

bench_figures figures_of(const measurement& m);

/// Of several rounds the medians; the least and the longest latency of all of them, the sum of the lost, the
/// most allocations and growth. All zero for none.
bench_figures middle_of(std::span<const bench_figures> rounds);

/// Ours by the other's, each of a round: of the typical latencies, or of the rates.
double ratio_of(measured what, const bench_figures& ours, const bench_figures& other) noexcept;

} // namespace rocio::tools

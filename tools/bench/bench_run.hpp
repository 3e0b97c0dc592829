#pragma once

#include "bench/bench_figures.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace rocio::tools {

class bench_progress;

/// One thing that can be measured: rocio, or a baseline.
struct bench_side {
    std::string name;
    /// One measurement of `count` messages of `size` bytes after a tenth as warm-up.
    std::function<measurement(std::uint32_t size, std::uint64_t count, std::atomic<std::uint64_t>& progress)>
        run;
};

/// rocio and its baselines at some sizes.
struct bench_series {
    std::string mode;
    measured what = measured::latency;
    std::vector<std::uint32_t> sizes{};
    bench_side ours{};
    std::vector<bench_side> baselines{};
    double rate = 0; ///< Of an open loop, messages per second.
};

struct bench_effort {
    unsigned rounds = 3;
    std::optional<std::uint64_t> count{};           ///< Of each measurement; default: usual_count().
    std::optional<std::chrono::nanoseconds> time{}; ///< Or about so long, each.
};

struct baseline_row {
    std::string name;
    bench_figures figures{};
    double ratio = 0; ///< Median of the rounds' own ratios, ours by this.
    std::vector<double> latencies{};
};

/// One size.
struct bench_row {
    std::string mode;
    measured what = measured::latency;
    std::uint32_t size = 0;
    bench_figures ours{};
    std::vector<baseline_row> baselines{};
    std::vector<double> latencies{}; ///< Of all rounds, microseconds.
};

/// 2, 4, 8, … up to `largest`, at most 2^23.
std::vector<std::uint32_t> sweep_sizes(std::uint64_t largest);
/// Messages for a measurement of about a second: fewer where they are long.
std::uint64_t usual_count(measured what, std::uint32_t size) noexcept;
/// Messages for about `time` at `rate` per second: 20 to 10 million.
std::uint64_t count_for(std::chrono::nanoseconds time, double rate) noexcept;

/// Measures all sizes: every round each baseline and rocio once, in an order that turns round by round, so
/// that a change of the machine's speed hits all of them. `each` gets a row when it is finished.
void run_series(const bench_series& series, const bench_effort& effort, bench_progress& progress,
                const std::function<void(const bench_row&)>& each);

} // namespace rocio::tools

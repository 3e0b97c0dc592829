#pragma once

#include "bench/bench_result.hpp"
#include "bench/pair_bench.hpp"

#include <array>

namespace rocio::tools {

/// Runs both ends of a benchmark in this process, each on a thread and a CPU of its own; they find each other
/// over loopback. `common` is of both, without device, listen and peer; `first` dials. Blocks. Throws as the
/// runners do.
measurement run_both_ends(const pair_bench_config& common, const std::array<std::string, 2>& devices,
                          const bench_cpus& cpus, end_runner first, end_runner second);

} // namespace rocio::tools

#pragma once

#include "bench/bench_result.hpp"
#include "bench/measurement.hpp"

#include <functional>

namespace rocio::tools {

/// Runs both ends of a benchmark at the same time, each on a thread of its own pinned to its CPU, and waits
/// for both. The result is the first end's with the CPU time of both. The failure that came first is thrown
/// when both have ended; `on_failure` is called for each, on its thread, to make the other end.
measurement on_two_threads(const bench_cpus& cpus, const std::function<measurement()>& first,
                           const std::function<measurement()>& second,
                           const std::function<void()>& on_failure);

} // namespace rocio::tools

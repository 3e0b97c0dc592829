#pragma once

#include "bench/bench_run.hpp"
#include "bench/scale_bench.hpp"

#include <boost/json/object.hpp>

namespace rocio::tools {

/// With perftest's names: MsgSize, n_iterations and, in microseconds, t_min, t_max, t_typical, t_avg,
/// t_stdev, percentile_99, percentile_99.9; or BW_peak and BW_average in 2^20 bytes, MsgRate in millions per
/// second. Then rocio's own: cpu_us_per_message, cores_busy, allocations_per_message, lost.
boost::json::object to_json(measured what, std::uint32_t size, const bench_figures& f);

/// The row's object in the report: perftest's names, `ratio` to the first baseline, and `baselines` with
/// their figures and ratios.
boost::json::object to_json(const bench_row& row);

/// `ratio`: to the first of its group.
boost::json::object to_json(const scale_point& point, const scale_result& result, double ratio);

} // namespace rocio::tools

#pragma once

#include <vector>

namespace rocio::tools {

/// What perftest prints of a latency test, in the unit of the samples.
struct latency_summary {
    double minimum = 0, median = 0, average = 0, deviation = 0;
    double p99 = 0, p999 = 0, maximum = 0;
};

/// Of any number of samples in any order; all zero for none. `deviation` is that of the samples themselves
/// (divided by n), a percentile is the smallest sample that so many per cent do not exceed, as perftest
/// counts.
latency_summary summarise(std::vector<double> samples);

} // namespace rocio::tools

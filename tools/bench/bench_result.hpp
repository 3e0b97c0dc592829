#pragma once

#include <vector>

namespace rocio::tools {

/// Which CPU each end is pinned to.
struct bench_cpus {
    unsigned first = 0;
    unsigned second = 1;
};

/// p in 0..1 of `samples`, which it sorts; 0 for none.
double percentile(std::vector<double>& samples, double p);
double median(std::vector<double> samples);

} // namespace rocio::tools

#pragma once

#include <cstdint>
#include <vector>

namespace rocio::tools {

/// Round trips, in microseconds.
struct round_trip_result {
    double p50 = 0;
    double p99 = 0;
    double p999 = 0; ///< 99.9 %.
    double allocations_per_message = 0;
};

/// A one-way stream.
struct stream_result {
    double bytes_per_second = 0;
    std::uint64_t lost = 0;
    double allocations_per_message = 0;
};

/// Which CPU each end is pinned to.
struct bench_cpus {
    unsigned first = 0;
    unsigned second = 1;
};

/// p in 0..1 of `samples`, which it sorts; 0 for none.
double percentile(std::vector<double>& samples, double p);
double median(std::vector<double> samples);
/// Of `samples`, which it sorts.
round_trip_result round_trips(std::vector<double>& samples, double allocations_per_message);

} // namespace rocio::tools

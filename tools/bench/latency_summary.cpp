#include "bench/latency_summary.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace rocio::tools {

namespace {

/// Of sorted samples.
double at_most(const std::vector<double>& samples, double share) {
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(samples.size())));
    return samples[std::clamp<std::size_t>(rank, 1, samples.size()) - 1];
}

} // namespace

latency_summary summarise(std::vector<double> samples) {
    latency_summary s;
    if (samples.empty()) return s;
    std::sort(samples.begin(), samples.end());
    const auto n = static_cast<double>(samples.size());
    s.minimum = samples.front();
    s.maximum = samples.back();
    s.average = std::accumulate(samples.begin(), samples.end(), 0.0) / n;
    const auto square = [&](double sum, double x) { return sum + (x - s.average) * (x - s.average); };
    s.deviation = std::sqrt(std::accumulate(samples.begin(), samples.end(), 0.0, square) / n);
    const auto middle = samples.size() / 2;
    s.median = samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
    s.p99 = at_most(samples, 0.99);
    s.p999 = at_most(samples, 0.999);
    return s;
}

} // namespace rocio::tools

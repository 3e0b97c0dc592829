#include "bench/bench_result.hpp"

#include <algorithm>
#include <cstddef>

namespace rocio::tools {

double percentile(std::vector<double>& samples, double p) {
    if (samples.empty()) return 0;
    std::sort(samples.begin(), samples.end());
    const auto index = static_cast<std::size_t>(p * static_cast<double>(samples.size()));
    return samples[std::min(index, samples.size() - 1)];
}

double median(std::vector<double> samples) {
    return percentile(samples, 0.5);
}

} // namespace rocio::tools

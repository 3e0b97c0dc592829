#include "bench/bench_figures.hpp"

#include "bench/bench_result.hpp"

#include <algorithm>
#include <vector>

namespace rocio::tools {

namespace {

template <class Member>
double median_of(std::span<const bench_figures> rounds, Member member) {
    std::vector<double> values;
    for (const auto& f : rounds) values.push_back(static_cast<double>(member(f)));
    return median(std::move(values));
}

double share(double ours, double other) noexcept {
    return other > 0 ? ours / other : 0;
}

} // namespace

bench_figures figures_of(const measurement& m) {
    bench_figures f;
    f.latency = summarise(m.latencies);
    f.messages = m.messages;
    f.peak_rate = m.peak_rate;
    f.rate = m.rate();
    f.cpu_us_per_message = m.cpu_us_per_message();
    f.cores_busy = m.cores_busy();
    f.allocations_per_message = m.allocations_per_message();
    f.lost = m.lost;
    f.memory_growth = m.memory_growth;
    return f;
}

bench_figures middle_of(std::span<const bench_figures> rounds) {
    bench_figures f;
    if (rounds.empty()) return f;
    using figures = bench_figures;
    f.latency.median = median_of(rounds, [](const figures& r) { return r.latency.median; });
    f.latency.average = median_of(rounds, [](const figures& r) { return r.latency.average; });
    f.latency.deviation = median_of(rounds, [](const figures& r) { return r.latency.deviation; });
    f.latency.p99 = median_of(rounds, [](const figures& r) { return r.latency.p99; });
    f.latency.p999 = median_of(rounds, [](const figures& r) { return r.latency.p999; });
    f.peak_rate = median_of(rounds, [](const figures& r) { return r.peak_rate; });
    f.rate = median_of(rounds, [](const figures& r) { return r.rate; });
    f.cpu_us_per_message = median_of(rounds, [](const figures& r) { return r.cpu_us_per_message; });
    f.cores_busy = median_of(rounds, [](const figures& r) { return r.cores_busy; });
    f.latency.minimum = rounds.front().latency.minimum;
    for (const auto& r : rounds) {
        f.latency.minimum = std::min(f.latency.minimum, r.latency.minimum);
        f.latency.maximum = std::max(f.latency.maximum, r.latency.maximum);
        f.allocations_per_message = std::max(f.allocations_per_message, r.allocations_per_message);
        f.memory_growth = std::max(f.memory_growth, r.memory_growth);
        f.lost += r.lost;
        f.messages = r.messages;
    }
    return f;
}

double ratio_of(measured what, const bench_figures& ours, const bench_figures& other) noexcept {
    return what == measured::latency ? share(ours.latency.median, other.latency.median)
                                     : share(ours.rate, other.rate);
}

} // namespace rocio::tools

#include <rocio/types/latency_histogram.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

namespace rocio {

namespace {

constexpr std::uint64_t steps = std::uint64_t{1} << latency_histogram::step_bits;

} // namespace

std::size_t latency_histogram::bucket_of(std::uint64_t ns) noexcept {
    ns = std::min(ns, (std::uint64_t{1} << value_bits) - 1);
    if (ns < steps) return ns;
    const auto shift = static_cast<unsigned>(std::bit_width(ns)) - step_bits - 1;
    return (std::size_t{shift} << step_bits) + (ns >> shift);
}

std::uint64_t latency_histogram::bucket_end(std::size_t bucket) noexcept {
    if (bucket < steps) return bucket;
    const auto shift = (bucket >> step_bits) - 1;
    const auto first = (bucket - (shift << step_bits)) << shift;
    return first + (std::uint64_t{1} << shift) - 1;
}

void latency_histogram::record(std::chrono::nanoseconds duration, std::uint64_t times) noexcept {
    const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(duration.count(), 0));
    max_.raise_to(ns);
    sum_.add(ns * times);
    counts_[bucket_of(ns)].add(times);
}

std::uint64_t latency_histogram::count() const noexcept {
    std::uint64_t n = 0;
    for (const auto& c : counts_) n += c.value();
    return n;
}

std::chrono::nanoseconds latency_histogram::quantile(double part) const noexcept {
    const auto total = count();
    if (total == 0) return {};
    const auto wanted = std::ceil(std::clamp(part, 0.0, 1.0) * static_cast<double>(total));
    const auto rank = std::clamp(static_cast<std::uint64_t>(wanted), std::uint64_t{1}, total);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < buckets; ++i) {
        seen += counts_[i].value();
        if (seen < rank) continue;
        if (i + 1 == buckets) break;
        return std::min(std::chrono::nanoseconds(static_cast<std::int64_t>(bucket_end(i))), max());
    }
    return max();
}

latency_summary latency_histogram::summary() const noexcept {
    latency_summary s{count(), quantile(0.5), quantile(0.99), quantile(0.999), max()};
    s.sum = std::chrono::nanoseconds(static_cast<std::int64_t>(sum_.value()));
    for (std::size_t i = 0; i < buckets; ++i)
        s.per_power[static_cast<std::size_t>(std::bit_width(bucket_end(i)))] += counts_[i].value();
    return s;
}

} // namespace rocio

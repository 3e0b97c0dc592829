#include "metric_table.hpp"

#include <rocio/status/json_values.hpp>

#include <limits>
#include <utility>

namespace rocio::detail {

namespace {

constexpr double nanosecond = 1e-9;
/// 2^10 ns and 2^34 ns: what is below and above differs in nothing that one wants on a panel.
constexpr std::size_t first_power = 10;
constexpr std::size_t last_power = 34;

} // namespace

prometheus::MetricFamily& metric_table::family(const description& what, prometheus::MetricType type) {
    const auto is_it = [&](const prometheus::MetricFamily& f) {
        return std::string_view(f.name).substr(6) == what.name;
    };
    if (last_ < families_.size() && is_it(families_[last_])) return families_[last_];
    for (last_ = 0; last_ < families_.size(); ++last_) {
        if (is_it(families_[last_])) return families_[last_];
    }
    prometheus::MetricFamily made;
    made.name = "rocio_" + std::string(what.name);
    made.help = what.help;
    made.type = type;
    families_.push_back(std::move(made));
    return families_.back();
}

prometheus::ClientMetric& metric_table::add(const description& what, const texts& labels,
                                            prometheus::MetricType type) {
    auto& metric = family(what, type).metric.emplace_back();
    const auto* text = labels.begin();
    for (const auto name : what.labels) {
        // Names come from users and drivers; the format is UTF-8.
        const auto value = json_text(text == labels.end() ? std::string_view() : *text++);
        metric.label.push_back({std::string(name), std::string(value.data(), value.size())});
    }
    return metric;
}

void metric_table::counter(const description& what, const texts& labels, double value) {
    add(what, labels, prometheus::MetricType::Counter).counter.value = value;
}

void metric_table::gauge(const description& what, const texts& labels, double value) {
    add(what, labels, prometheus::MetricType::Gauge).gauge.value = value;
}

void metric_table::histogram(const description& what, const texts& labels, const latency_summary& value) {
    auto& h = add(what, labels, prometheus::MetricType::Histogram).histogram;
    h.sample_sum = static_cast<double>(value.sum.count()) * nanosecond;
    std::uint64_t so_far = 0;
    for (std::size_t n = 0; n < value.per_power.size(); ++n) {
        so_far += value.per_power[n];
        if (n < first_power || n > last_power) continue;
        h.bucket.push_back({so_far, static_cast<double>(std::uint64_t{1} << n) * nanosecond});
    }
    // Not value.count: that was read at another moment, and a histogram has to agree with itself.
    h.bucket.push_back({so_far, std::numeric_limits<double>::infinity()});
    h.sample_count = so_far;
}

} // namespace rocio::detail

#pragma once

#include <rocio/status/prometheus_text.hpp>
#include <rocio/types/latency_histogram.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <prometheus/metric_family.h>

namespace rocio::detail {

/// The metrics as they are filled in. Each is described once, where it is added to.
class metric_table {
  public:
    /// Of one metric; `labels` are names that each value has to give a text for.
    struct description {
        std::string_view name; ///< Without "rocio_".
        std::string_view help;
        std::initializer_list<std::string_view> labels{};
    };
    using texts = std::initializer_list<std::string_view>;

    void counter(const description& what, const texts& labels, double value);
    void counter(const description& what, const texts& labels, std::uint64_t value) {
        counter(what, labels, static_cast<double>(value));
    }
    void gauge(const description& what, const texts& labels, double value);
    /// Durations in seconds, with buckets at powers of two of nanoseconds from 1 us to 17 s.
    void histogram(const description& what, const texts& labels, const latency_summary& value);

    const std::vector<prometheus::MetricFamily>& families() const noexcept { return families_; }

  private:
    prometheus::ClientMetric& add(const description& what, const texts& labels, prometheus::MetricType type);
    prometheus::MetricFamily& family(const description& what, prometheus::MetricType type);

    std::vector<prometheus::MetricFamily> families_;
    std::size_t last_ = 0; ///< Values of one metric mostly come in a row.
};

} // namespace rocio::detail

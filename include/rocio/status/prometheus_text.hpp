#pragma once

#include <rocio/status/status_snapshot.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace rocio {

/// What prometheus_text() writes: the Content-Type of its answer.
inline constexpr std::string_view prometheus_content_type = "text/plain; version=0.0.4; charset=utf-8";

/// The status in Prometheus' text format (exposition format 0.0.4), each metric under a name that begins with
/// "rocio_"; docs/status.md lists them. A part of which there is nothing has no metric. Prometheus keeps
/// doubles: counters are exact up to 2^53. Throws std::bad_alloc.
std::string to_prometheus(const status_snapshot& status);

/// A name of a metric with what it says, in the order of docs/status.md.
struct prometheus_metric {
    std::string name;
    std::string type; ///< "counter", "gauge", "histogram".
    std::string help;
    std::vector<std::string> labels;
};
/// All metrics that to_prometheus() may write.
std::vector<prometheus_metric> prometheus_metrics();

} // namespace rocio

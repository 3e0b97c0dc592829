#include "metric_parts.hpp"

#include <rocio/status/prometheus_text.hpp>

#include <utility>

#include <prometheus/text_serializer.h>

namespace rocio {

namespace {

detail::metric_table table_of(const status_snapshot& status) {
    detail::metric_table table;
    detail::add_process(table, status);
    for (const auto& engine : status.engines) detail::add_engine(table, engine);
    for (const auto& device : status.devices) detail::add_device(table, device);
    for (const auto& queue_pair : detail::queue_pairs_of(status)) detail::add_queue_pair(table, queue_pair);
    for (const auto& stream : status.streams) detail::add_stream(table, stream);
    for (const auto& ring : status.rings) detail::add_ring(table, ring);
    for (const auto& sensor : status.sensors) detail::add_sensor(table, sensor);
    for (const auto& service : status.services) detail::add_service(table, service);
    for (const auto& caller : status.callers) detail::add_caller(table, caller);
    for (const auto& fpga : status.fpgas) detail::add_fpga(table, fpga);
    for (const auto& handshake : status.handshakes) detail::add_handshake(table, handshake);
    return table;
}

/// One of each kind, so that every metric occurs.
status_snapshot one_of_each() {
    status_snapshot s;
    s.engines.resize(1);
    s.devices.resize(1);
    s.devices.front().counters = {{"name", 0}, {"drops.reason", 0}};
    s.queue_pairs.resize(1);
    s.queue_pairs.front().counters.emplace();
    s.streams.resize(1);
    s.streams.front().views.resize(1);
    s.streams.front().channels.resize(1);
    s.streams.front().channels.front().gaps = 0;
    s.rings.resize(1);
    s.sensors.resize(1);
    s.services.resize(1);
    s.services.front().rpc.functions.resize(1);
    s.callers.resize(1);
    s.fpgas.resize(1);
    s.handshakes.resize(1);
    return s;
}

std::string name_of(prometheus::MetricType type) {
    switch (type) {
    case prometheus::MetricType::Counter:
        return "counter";
    case prometheus::MetricType::Histogram:
        return "histogram";
    default:
        return "gauge";
    }
}

} // namespace

std::string to_prometheus(const status_snapshot& status) {
    return prometheus::TextSerializer().Serialize(table_of(status).families());
}

std::vector<prometheus_metric> prometheus_metrics() {
    std::vector<prometheus_metric> result;
    const auto table = table_of(one_of_each());
    for (const auto& family : table.families()) {
        prometheus_metric metric{family.name, name_of(family.type), family.help, {}};
        for (const auto& label : family.metric.front().label) metric.labels.push_back(label.name);
        result.push_back(std::move(metric));
    }
    return result;
}

} // namespace rocio

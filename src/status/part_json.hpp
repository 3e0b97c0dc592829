#pragma once

#include <rocio/io/memory_snapshot.hpp>
#include <rocio/io/queue_pair_snapshot.hpp>
#include <rocio/status/status_snapshot.hpp>
#include <rocio/types/error.hpp>
#include <rocio/types/latency_histogram.hpp>
#include <rocio/types/parameters.hpp>
#include <rocio/types/traffic_rates.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <chrono>
#include <optional>
#include <string_view>

namespace rocio::detail {

/// Code, category and sentence; null where there is no error.
boost::json::value error_json(const error_info& error);
boost::json::value text_or_null(std::string_view text);
boost::json::value seconds_json(std::chrono::nanoseconds duration);
/// "2026-01-02T03:04:05.678Z" (RFC 3339); null for 1970, which stands for "never".
boost::json::value time_json(std::chrono::system_clock::time_point time);
/// What memory_options have given.
boost::json::object memory_json(const memory_snapshot& memory);
boost::json::object latency_json(const latency_summary& latency);
/// {"last_1s": …, "last_10s": …}
boost::json::object rate_json(const std::optional<double>& last_1s, const std::optional<double>& last_10s);
boost::json::object counters_json(const device_queue_pair_counters& counters);
boost::json::value counters_json(const std::optional<device_queue_pair_counters>& counters);
boost::json::object local_json(const local_parameters& local);
boost::json::value peer_json(const std::optional<peer_parameters>& peer);

boost::json::object to_json(const queue_pair_snapshot& queue_pair);
boost::json::object to_json(const ring_snapshot& ring);
boost::json::object to_json(const sensor_receiver_snapshot& sensor);
boost::json::object to_json(const status_snapshot::service& service);
boost::json::object to_json(const status_snapshot::caller& caller);
boost::json::object to_json(const handshake_snapshot& handshake);

/// A sentence for each of the variables of a stream.
boost::json::object stream_variables_json();

} // namespace rocio::detail

#include "part_json.hpp"
#include "queue_pairs_of.hpp"

#include <rocio/status/json_values.hpp>
#include <rocio/status/status_json.hpp>

#include <string>
#include <utility>

namespace rocio {

namespace {

namespace json = boost::json;
using detail::seconds_json;
using detail::to_json; // beside those of this namespace

template <class Values>
json::array array_of(const Values& values) {
    json::array result;
    result.reserve(values.size());
    for (const auto& value : values) result.emplace_back(to_json(value));
    return result;
}

json::object process_json(const status_snapshot::process_part& process) {
    return {{"name", json_text(process.name)},        {"version", json_text(process.version)},
            {"build", json_text(process.build)},      {"uptime_seconds", seconds_json(process.uptime)},
            {"time", detail::time_json(process.now)}, {"pid", process.pid}};
}

json::array stale_json(const std::vector<status_snapshot::stale_part>& parts) {
    json::array result;
    for (const auto& part : parts) {
        result.push_back(json::object{{"part", json_text(part.name)},
                                      {"age_seconds", seconds_json(part.age)},
                                      {"reason", json_text(part.reason)}});
    }
    return result;
}

} // namespace

json::object to_json(const engine_snapshot& engine) {
    return {{"name", json_text(engine.name)},
            {"policy", json_text(engine.policy)},
            {"turns", engine.turns},
            {"sweeps", engine.sweeps},
            {"empty_sweeps", engine.empty_sweeps},
            {"completions", engine.completions},
            {"upcalls", engine.upcalls},
            {"stale_completions", engine.stale_completions},
            {"incomplete_drains", engine.incomplete_drains},
            {"arms", engine.arms},
            {"waits", engine.waits},
            {"wakes", engine.wakes},
            {"late_turns", engine.late_turns},
            {"longest_gap_ns", engine.longest_gap.count()},
            {"gaps", detail::latency_json(engine.gaps)},
            {"in_turn_seconds", seconds_json(engine.in_turn)},
            {"turn_due_seconds", seconds_json(engine.turn_due)},
            {"cpu_seconds", seconds_json(engine.cpu_time)},
            {"cpu_share", detail::rate_json(engine.cpu_share_1s, engine.cpu_share_10s)},
            {"outstanding", engine.outstanding},
            {"queue_pairs", engine.queue_pairs},
            {"devices", engine.devices}};
}

json::object to_json(const status_snapshot& status) {
    return {{"schema_version", status_snapshot::schema_version},
            {"process", process_json(status.process)},
            {"stale", stale_json(status.stale)},
            {"engines", array_of(status.engines)},
            {"devices", array_of(status.devices)},
            {"queue_pairs", array_of(detail::queue_pairs_of(status))},
            {"streams", array_of(status.streams)},
            {"stream_variables", detail::stream_variables_json()},
            {"rings", array_of(status.rings)},
            {"sensors", array_of(status.sensors)},
            {"services", array_of(status.services)},
            {"callers", array_of(status.callers)},
            {"fpgas", array_of(status.fpgas)},
            {"handshakes", array_of(status.handshakes)}};
}

} // namespace rocio

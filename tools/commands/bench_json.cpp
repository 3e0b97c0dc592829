#include "commands/bench_json.hpp"

#include <boost/json/array.hpp>

namespace rocio::tools {

namespace {

constexpr double mebi = 1 << 20;

} // namespace

boost::json::object to_json(measured what, std::uint32_t size, const bench_figures& f) {
    boost::json::object out{{"MsgSize", size}, {"n_iterations", f.messages}};
    if (what == measured::latency) {
        out["t_min"] = f.latency.minimum;
        out["t_max"] = f.latency.maximum;
        out["t_typical"] = f.latency.median;
        out["t_avg"] = f.latency.average;
        out["t_stdev"] = f.latency.deviation;
        out["percentile_99"] = f.latency.p99;
        out["percentile_99.9"] = f.latency.p999;
    } else {
        out["BW_peak"] = f.peak_rate * size / mebi;
        out["BW_average"] = f.rate * size / mebi;
        out["MsgRate"] = f.rate * 1e-6;
        out["bytes_per_second"] = f.rate * size;
    }
    out["cpu_us_per_message"] = f.cpu_us_per_message;
    out["cores_busy"] = f.cores_busy;
    out["allocations_per_message"] = f.allocations_per_message;
    out["lost"] = f.lost;
    return out;
}

boost::json::object to_json(const bench_row& row) {
    auto out = to_json(row.what, row.size, row.ours);
    out["measure"] = name_of(row.what);
    if (!row.baselines.empty()) out["ratio"] = row.baselines.front().ratio;
    boost::json::array baselines;
    for (const auto& b : row.baselines) {
        auto other = to_json(row.what, row.size, b.figures);
        other["name"] = b.name;
        other["ratio"] = b.ratio;
        baselines.push_back(std::move(other));
    }
    out["baselines"] = std::move(baselines);
    return out;
}

boost::json::object to_json(const scale_point& point, const scale_result& result, double ratio) {
    return {{"queue_pairs", point.queue_pairs},
            {"peers", point.peers},
            {"contexts", point.contexts},
            {"ns_per_message", result.nanoseconds_per_message},
            {"cpu_us_per_message", result.cpu_us_per_message},
            {"bytes_per_queue_pair", result.bytes_per_queue_pair},
            {"allocations_per_message", result.allocations_per_message},
            {"ratio", ratio}};
}

} // namespace rocio::tools

#include "error_json.hpp"

#include <rocio/status/json_values.hpp>
#include <rocio/status/status_json.hpp>

#include <boost/json/array.hpp>

#include <chrono>
#include <string_view>

namespace rocio {

namespace {

namespace json = boost::json;
using detail::error_json;

std::string_view name_of(gid_type type) {
    switch (type) {
    case gid_type::infiniband:
        return "infiniband";
    case gid_type::roce_v1:
        return "RoCE v1";
    case gid_type::roce_v2:
        return "RoCE v2";
    }
    return "unknown";
}

template <class Values>
json::array array_of(const Values& values) {
    json::array result;
    result.reserve(values.size());
    for (const auto& value : values) result.emplace_back(to_json(value));
    return result;
}

json::object process_json(const status_snapshot::process_part& process) {
    return {{"version", json_text(process.version)},
            {"uptime_seconds", json_number(std::chrono::duration<double>(process.uptime).count())},
            {"pid", process.pid}};
}

json::object gid_json(const gid_table_entry& entry) {
    json::object result{{"index", entry.index},
                        {"gid", json_text(entry.value.to_string())},
                        {"address", json_text(entry.value.to_address_string())},
                        {"type", name_of(entry.type)},
                        {"netdev", json_text(entry.netdev)},
                        {"prefix", nullptr}};
    if (entry.prefix) result["prefix"] = *entry.prefix;
    return result;
}

json::object counters_json(const std::vector<device_snapshot::counter>& counters) {
    json::object result;
    for (const auto& counter : counters) {
        const std::string_view name = counter.name;
        const auto dot = name.find('.');
        if (dot == std::string_view::npos) {
            result.insert_or_assign(json_text(name), counter.value);
            continue;
        }
        auto& group = result[json_text(name.substr(0, dot))];
        if (!group.is_object()) group.emplace_object();
        group.as_object().insert_or_assign(json_text(name.substr(dot + 1)), counter.value);
    }
    return result;
}

json::object counters_json(const device_queue_pair_counters& c) {
    return {{"messages_sent", c.messages_sent},
            {"messages_received", c.messages_received},
            {"bytes_sent", c.bytes_sent},
            {"bytes_received", c.bytes_received},
            {"packets_sent", c.packets_sent},
            {"packets_received", c.packets_received},
            {"retransmits", c.retransmits},
            {"timeouts", c.timeouts},
            {"duplicates", c.duplicates},
            {"out_of_sequence", c.out_of_sequence},
            {"rnr_naks_sent", c.rnr_naks_sent},
            {"rnr_naks_received", c.rnr_naks_received},
            {"sequence_naks_sent", c.sequence_naks_sent},
            {"sequence_naks_received", c.sequence_naks_received},
            {"other_naks_sent", c.other_naks_sent},
            {"other_naks_received", c.other_naks_received}};
}

json::value text_or_null(std::string_view text) {
    if (text.empty()) return nullptr;
    return json_text(text);
}

json::array views_json(const std::vector<receive_server_snapshot::view>& views) {
    json::array result;
    for (const auto& view : views) {
        result.push_back(json::object{{"name", json_text(view.name)},
                                      {"queued", view.queued},
                                      {"delivered", view.delivered},
                                      {"dropped", view.dropped}});
    }
    return result;
}

/// The fifteen variables of the SLAC receive server, and mr_len.
json::object variables_json(const receive_server_snapshot& stream) {
    return {{"name", json_text(stream.name)},
            {"fpga_ip", json_text(stream.fpga_ip)},
            {"fpga_gid", json_text(stream.fpga_gid)},
            {"host_qpn", stream.host_qpn},
            {"host_gid", json_text(stream.host_gid)},
            {"host_ip", json_text(stream.host_ip)},
            {"mr_addr", json_hex(stream.mr_addr, 16)},
            {"mr_rkey", json_hex(stream.mr_rkey, 8)},
            {"mr_len", stream.mr_len},
            {"rx_frame_count", stream.rx_frame_count},
            {"rx_byte_count", stream.rx_byte_count},
            {"max_payload", stream.max_payload},
            {"rx_queue_depth", stream.rx_queue_depth},
            {"host_rq_psn", stream.host_rq_psn},
            {"host_sq_psn", stream.host_sq_psn},
            {"fpga_qpn", stream.fpga_qpn},
            {"fpga_lkey", json_hex(stream.fpga_lkey, 8)}};
}

} // namespace

json::object to_json(const receive_server_snapshot& stream) {
    auto result = variables_json(stream);
    result["device"] = json_text(stream.device);
    result["state"] = json_text(stream.state);
    result["last_error"] = error_json(stream.last_error);
    result["sessions"] = stream.sessions;
    result["idle_ends"] = stream.idle_ends;
    result["slots"] = json::object{
        {"posted", stream.slots_posted}, {"lent", stream.slots_lent}, {"free", stream.slots_free}};
    result["stalled_by"] = text_or_null(stream.stalled_by);
    result["unclaimed"] = stream.unclaimed;
    result["without_immediate"] = stream.without_immediate;
    result["bad_length"] = stream.bad_length;
    result["unexpected_opcode"] = stream.unexpected_opcode;
    result["views"] = views_json(stream.views);
    result["counters"] = nullptr;
    if (stream.has_counters) result["counters"] = counters_json(stream.counters);
    return result;
}

json::object to_json(const engine_snapshot& engine) {
    return {{"policy", json_text(engine.policy)},
            {"turns", engine.turns},
            {"sweeps", engine.sweeps},
            {"empty_sweeps", engine.empty_sweeps},
            {"completions", engine.completions},
            {"upcalls", engine.upcalls},
            {"stale_completions", engine.stale_completions},
            {"arms", engine.arms},
            {"waits", engine.waits},
            {"wakes", engine.wakes},
            {"late_turns", engine.late_turns},
            {"longest_gap_ns", engine.longest_gap.count()},
            {"outstanding", engine.outstanding},
            {"queue_pairs", engine.queue_pairs},
            {"devices", engine.devices}};
}

json::object to_json(const device_snapshot& device) {
    json::array gids;
    for (const auto& entry : device.gids) gids.push_back(gid_json(entry));
    return {{"name", json_text(device.name)},
            {"kind", json_text(device.kind)},
            {"port_state", json_text(device.port_state)},
            {"active_mtu", device.active_mtu},
            {"gids", std::move(gids)},
            {"counters", counters_json(device.counters)}};
}

json::object to_json(const status_snapshot& status) {
    return {{"process", process_json(status.process)},
            {"engines", array_of(status.engines)},
            {"devices", array_of(status.devices)},
            {"streams", array_of(status.streams)},
            {"fpgas", array_of(status.fpgas)}};
}

} // namespace rocio

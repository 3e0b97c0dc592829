#include "part_json.hpp"

#include <rocio/status/json_values.hpp>
#include <rocio/status/status_json.hpp>

#include <string_view>
#include <utility>

namespace rocio {

namespace {

namespace json = boost::json;

json::object frame_rates_json(const traffic_rates& r) {
    return {{"frames_per_second", detail::rate_json(r.messages_1s, r.messages_10s)},
            {"bytes_per_second", detail::rate_json(r.bytes_1s, r.bytes_10s)}};
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

json::array channels_json(const std::vector<receive_server_snapshot::channel>& channels) {
    json::array result;
    for (const auto& channel : channels) {
        json::object one{{"channel", channel.number},
                         {"frames", channel.frames},
                         {"bytes", channel.bytes},
                         {"gaps", nullptr},
                         {"rates", frame_rates_json(channel.rates)}};
        if (channel.gaps) one["gaps"] = *channel.gaps;
        result.push_back(std::move(one));
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
    result["last_error"] = detail::error_json(stream.last_error);
    result["sessions"] = stream.sessions;
    result["idle_ends"] = stream.idle_ends;
    result["slots"] = json::object{
        {"posted", stream.slots_posted}, {"lent", stream.slots_lent}, {"free", stream.slots_free}};
    result["oldest_lease_seconds"] = detail::seconds_json(stream.oldest_lease);
    result["stalled_by"] = detail::text_or_null(stream.stalled_by);
    result["unclaimed"] = stream.unclaimed;
    result["without_immediate"] = stream.without_immediate;
    result["bad_length"] = stream.bad_length;
    result["unexpected_opcode"] = stream.unexpected_opcode;
    result["rates"] = frame_rates_json(stream.rates);
    result["channels"] = channels_json(stream.channels);
    result["views"] = views_json(stream.views);
    result["memory"] = detail::memory_json(stream.memory);
    result["counters"] = nullptr;
    if (stream.has_counters) result["counters"] = detail::counters_json(stream.counters);
    return result;
}

namespace detail {

json::object stream_variables_json() {
    return {
        {"fpga_ip", "Address of the FPGA, from which frames come."},
        {"fpga_gid", "GID of the FPGA: its address, mapped into IPv6."},
        {"host_qpn", "Number of our queue pair; the FPGA sends to it."},
        {"host_gid", "GID of ours that the connection uses."},
        {"host_ip", "Address of ours that the connection uses."},
        {"mr_addr", "Address of the slots' memory region, as the FPGA is told."},
        {"mr_rkey", "Remote key of the slots' memory region."},
        {"mr_len", "Bytes of the slots' memory region."},
        {"rx_frame_count", "Frames received since the stream was made."},
        {"rx_byte_count", "Bytes of payload received since the stream was made."},
        {"max_payload", "Bytes of one slot; a longer frame is an error."},
        {"rx_queue_depth", "Number of slots: receives that are posted when nobody holds a frame."},
        {"host_rq_psn", "First packet number that we expect of the FPGA."},
        {"host_sq_psn", "First packet number that we send."},
        {"fpga_qpn", "Number of the FPGA's queue pair; 0 until connected."},
        {"fpga_lkey", "Local key of the FPGA's memory region; 0 until connected, and where there is none."}};
}

} // namespace detail

} // namespace rocio

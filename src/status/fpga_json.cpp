#include "part_json.hpp"

#include <rocio/status/json_values.hpp>
#include <rocio/status/status_json.hpp>

namespace rocio {

namespace {

namespace json = boost::json;
using detail::error_json;
using detail::text_or_null;
using detail::time_json;

json::object session_json(const fpga::slac_engine_snapshot& s) {
    json::object result{{"kind", "slac"},
                        {"state", json_text(s.state)},
                        {"stage", json_text(s.stage)},
                        {"fpga_qpn", s.fpga_qpn},
                        {"lkey", json_hex(s.lkey, 8)},
                        {"pd_handler", json_hex(s.pd_handler, 8)},
                        {"rkey", json_hex(s.rkey, 8)},
                        {"requests", s.requests},
                        {"repeated", s.repeated},
                        {"timeouts", s.timeouts},
                        {"roll_backs", s.roll_backs},
                        {"resets", s.resets},
                        {"looks", s.looks},
                        {"warnings", s.warnings},
                        {"last_warning", text_or_null(s.last_warning)},
                        {"last_error", error_json(s.last_error)},
                        {"last_error_time", nullptr}};
    if (s.last_error) result["last_error_time"] = time_json(s.last_error_time);
    return result;
}

json::object session_json(const fpga::hsb_channel_snapshot& s) {
    return {{"kind", "hsb"},
            {"state", json_text(s.state)},
            {"ip_version", json_hex(s.ip_version, 4)},
            {"frame_size", s.frame_size},
            {"page_size", s.page_size},
            {"pages", s.pages},
            {"packet_payload", s.packet_payload},
            {"queue_pair", s.queue_pair},
            {"remote_key", json_hex(s.remote_key, 8)},
            {"looks", s.looks},
            {"failures", s.failures},
            {"last_error", error_json(s.last_error)}};
}

} // namespace

json::object to_json(const fpga_session_snapshot& fpga) {
    json::object result{{"name", json_text(fpga.name)},
                        {"fpga_ip", json_text(fpga.fpga_ip)},
                        {"registers", json_text(fpga.registers)},
                        {"attempts", fpga.attempts}};
    result["session"] = std::visit([](const auto& s) { return session_json(s); }, fpga.session);
    return result;
}

} // namespace rocio

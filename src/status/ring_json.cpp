#include "part_json.hpp"

#include <rocio/status/json_values.hpp>

namespace rocio::detail {

namespace json = boost::json;

json::object to_json(const ring_snapshot& r) {
    return {{"name", json_text(r.name)},
            {"device", json_text(r.device)},
            {"mode", json_text(r.mode)},
            {"state", json_text(r.state)},
            {"slots", r.slots},
            {"slot_size", r.slot_size},
            {"frame_size", r.frame_size},
            {"local", local_json(r.local)},
            {"peer", peer_json(r.peer)},
            {"last_error", error_json(r.last_error)},
            {"receives_posted", r.receives_posted},
            {"occupancy", json::object{{"rx_held", r.rx_held}, {"tx_in_flight", r.tx_in_flight}}},
            {"received", r.received},
            {"sent", r.sent},
            {"bytes_sent", r.bytes_sent},
            {"overwritten", r.overwritten},
            {"bad_immediate", r.bad_immediate},
            {"unexpected", r.unexpected},
            {"bad_flag", r.bad_flag},
            {"send_errors", r.send_errors},
            {"receive_errors", r.receive_errors},
            {"rates", json::object{{"received_per_second",
                                    rate_json(r.receive_rates.messages_1s, r.receive_rates.messages_10s)},
                                   {"sent_per_second",
                                    rate_json(r.send_rates.messages_1s, r.send_rates.messages_10s)}}},
            {"held", latency_json(r.held)},
            {"memory", memory_json(r.memory)},
            {"counters", counters_json(r.device_counters)}};
}

json::object to_json(const sensor_receiver_snapshot& s) {
    return {
        {"name", json_text(s.name)},
        {"device", json_text(s.device)},
        {"policy", json_text(s.policy)},
        {"state", json_text(s.state)},
        {"frame_size", s.frame_size},
        {"page_size", s.page_size},
        {"pages", s.pages},
        {"local", local_json(s.local)},
        {"peer", peer_json(s.peer)},
        {"last_error", error_json(s.last_error)},
        {"receives_posted", s.receives_posted},
        {"queued", s.queued},
        {"held", s.held},
        {"frames", s.frames},
        {"bytes", s.bytes},
        {"rates", json::object{{"frames_per_second", rate_json(s.rates.messages_1s, s.rates.messages_10s)},
                               {"bytes_per_second", rate_json(s.rates.bytes_1s, s.rates.bytes_10s)}}},
        {"delivered", s.delivered},
        {"skipped", s.skipped},
        {"dropped", s.dropped},
        {"overwritten", s.overwritten},
        {"lost", s.lost},
        {"ended_early", s.ended_early},
        {"renumbered", s.renumbered},
        {"bad_page", s.bad_page},
        {"unexpected", s.unexpected},
        {"receive_errors", s.receive_errors},
        {"last_frame_number", s.last_frame_number},
        {"memory", memory_json(s.memory)},
        {"counters", counters_json(s.device_counters)}};
}

} // namespace rocio::detail

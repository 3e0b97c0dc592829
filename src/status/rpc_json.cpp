#include "part_json.hpp"

#include <rocio/status/json_values.hpp>

#include <utility>

namespace rocio::detail {

namespace json = boost::json;

namespace {

json::object function_json(const rpc::function_snapshot& f) {
    return {{"name", json_text(f.name)},  {"id", json_hex(f.id, 8)},  {"calls", f.calls},
            {"succeeded", f.succeeded},   {"failed", f.failed},       {"exceptions", f.exceptions},
            {"bad_length", f.bad_length}, {"too_large", f.too_large}, {"latency", latency_json(f.latency)}};
}

} // namespace

json::object to_json(const status_snapshot::service& service) {
    const auto& s = service.rpc;
    json::array functions;
    for (const auto& f : s.functions) functions.push_back(function_json(f));
    json::object result{{"name", json_text(service.name)},
                        {"requests", s.requests},
                        {"answered", s.answered},
                        {"silent", s.silent},
                        {"bad_magic", s.bad_magic},
                        {"short_slots", s.short_slots},
                        {"unknown_function", s.unknown_function},
                        {"with_executors", s.with_executors},
                        {"waiting", s.waiting},
                        {"repeated", s.repeated},
                        {"publish_errors", s.publish_errors},
                        {"last_publish_error", nullptr},
                        {"functions", std::move(functions)}};
    if (s.last_publish_error) result["last_publish_error"] = json_text(s.last_publish_error.message());
    return result;
}

json::object to_json(const status_snapshot::caller& caller) {
    const auto& c = caller.client;
    return {{"name", json_text(caller.name)},
            {"calls", c.calls},
            {"succeeded", c.succeeded},
            {"failed", c.failed},
            {"bad_responses", c.bad_responses},
            {"deadline_exceeded", c.deadline_exceeded},
            {"cancelled", c.cancelled},
            {"refused", c.refused},
            {"late_answers", c.late_answers},
            {"duplicate_answers", c.duplicate_answers},
            {"foreign_answers", c.foreign_answers},
            {"not_answers", c.not_answers},
            {"in_flight", c.in_flight},
            {"waiting", c.waiting},
            {"latency", latency_json(c.latency)}};
}

json::object to_json(const handshake_snapshot& h) {
    return {{"name", json_text(h.name)},
            {"kind", json_text(h.kind)},
            {"endpoint", json_text(h.endpoint)},
            {"attempts", h.attempts},
            {"established", h.established},
            {"failed", h.failed},
            {"last_error", error_json(h.last_error)},
            {"last_error_peer", text_or_null(h.last_error_peer)},
            {"last_error_time", time_json(h.last_error_time)}};
}

} // namespace rocio::detail

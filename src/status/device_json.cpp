#include "part_json.hpp"

#include <rocio/status/json_values.hpp>
#include <rocio/status/status_json.hpp>

#include <string_view>
#include <utility>

namespace rocio {

namespace {

namespace json = boost::json;

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

json::object limits_json(const std::vector<device_snapshot::limit>& limits) {
    json::object result;
    for (const auto& limit : limits) result.insert_or_assign(json_text(limit.name), limit.value);
    return result;
}

json::array events_json(const std::vector<device_snapshot::event>& events) {
    json::array result;
    for (const auto& event : events) {
        result.push_back(
            json::object{{"time", detail::time_json(event.time)}, {"text", json_text(event.text)}});
    }
    return result;
}

} // namespace

json::object to_json(const device_snapshot& device) {
    json::array gids;
    for (const auto& entry : device.gids) gids.push_back(gid_json(entry));
    return {{"name", json_text(device.name)},
            {"kind", json_text(device.kind)},
            {"port_state", json_text(device.port_state)},
            {"active_mtu", device.active_mtu},
            {"gids", std::move(gids)},
            {"limits", limits_json(device.limits)},
            {"counters", counters_json(device.counters)},
            {"events", events_json(device.events)},
            {"events_so_far", device.events_so_far}};
}

} // namespace rocio

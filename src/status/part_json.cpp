#include "part_json.hpp"

#include <rocio/status/json_values.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>

namespace rocio::detail {

namespace json = boost::json;

json::value error_json(const error_info& error) {
    if (!error) return nullptr;
    return json::object{{"code", error.code.value()},
                        {"category", error.code.category().name()},
                        {"text", json_text(error.message())}};
}

json::value text_or_null(std::string_view text) {
    if (text.empty()) return nullptr;
    return json_text(text);
}

json::value seconds_json(std::chrono::nanoseconds duration) {
    return json_number(std::chrono::duration<double>(duration).count());
}

json::value time_json(std::chrono::system_clock::time_point time) {
    using namespace std::chrono;
    if (time == system_clock::time_point{}) return nullptr;
    const auto whole = floor<seconds>(time);
    const auto milli = static_cast<int>(duration_cast<milliseconds>(time - whole).count());
    const std::time_t t = system_clock::to_time_t(whole);
    std::tm utc{};
    ::gmtime_r(&t, &utc);
    std::array<char, 40> date{};
    const auto length = std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%S", &utc);
    std::array<char, 8> fraction{};
    std::snprintf(fraction.data(), fraction.size(), ".%03dZ", milli);
    return json_text(std::string(date.data(), length) + fraction.data());
}

json::object memory_json(const memory_snapshot& m) {
    json::array warnings;
    for (const auto& text : m.warnings) warnings.push_back(json_text(text));
    json::object result{{"bytes", m.bytes},         {"huge_pages", json_text(to_string(m.pages))},
                        {"page_size", m.page_size}, {"huge_bytes", nullptr},
                        {"numa_node", nullptr},     {"prefaulted", m.prefaulted},
                        {"locked", m.locked},       {"warnings", std::move(warnings)}};
    if (m.huge_bytes) result["huge_bytes"] = *m.huge_bytes;
    if (m.numa_node) result["numa_node"] = *m.numa_node;
    return result;
}

json::object latency_json(const latency_summary& s) {
    json::array buckets;
    for (std::size_t n = 0; n < s.per_power.size(); ++n) {
        if (s.per_power[n] == 0) continue;
        buckets.push_back(json::object{{"below_ns", std::uint64_t{1} << n}, {"count", s.per_power[n]}});
    }
    return {{"count", s.count},
            {"p50_ns", s.p50.count()},
            {"p99_ns", s.p99.count()},
            {"p999_ns", s.p999.count()},
            {"max_ns", s.max.count()},
            {"sum_ns", s.sum.count()},
            {"buckets", std::move(buckets)}};
}

json::object rate_json(const std::optional<double>& last_1s, const std::optional<double>& last_10s) {
    const auto value = [](const std::optional<double>& rate) {
        return rate ? json_number(*rate) : json::value(nullptr);
    };
    return {{"last_1s", value(last_1s)}, {"last_10s", value(last_10s)}};
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
            {"other_naks_received", c.other_naks_received},
            {"psn_gaps", c.psn_gaps},
            {"psns_missed", c.psns_missed},
            {"interrupted_messages", c.interrupted_messages},
            {"dropped_out_of_message", c.dropped_out_of_message},
            {"dropped_without_receive", c.dropped_without_receive},
            {"dropped_without_access", c.dropped_without_access},
            {"dropped_bad_length", c.dropped_bad_length}};
}

json::value counters_json(const std::optional<device_queue_pair_counters>& counters) {
    return counters ? json::value(counters_json(*counters)) : json::value(nullptr);
}

json::object local_json(const local_parameters& local) {
    return {{"address", json_text(local.address.to_address_string())},
            {"udp_port", local.udp_port},
            {"qpn", local.queue_pair.value()},
            {"psn", local.send_psn.value()}};
}

json::value peer_json(const std::optional<peer_parameters>& peer) {
    if (!peer) return nullptr;
    return json::object{{"address", json_text(peer->address.to_address_string())},
                        {"udp_port", peer->udp_port},
                        {"qpn", peer->queue_pair.value()},
                        {"psn", peer->send_psn.value()}};
}

} // namespace rocio::detail

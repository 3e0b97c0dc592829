#include "lib/report.hpp"

#include "lib/human.hpp"

#include <rocio/status/json_values.hpp>

#include <boost/json/serialize.hpp>

namespace rocio::tools {

namespace {

namespace json = boost::json;

json::value number_or_null(const std::optional<std::uint64_t>& value) {
    if (!value) return nullptr;
    return *value;
}

std::string number_or_unknown(const std::optional<std::uint64_t>& value) {
    return value ? std::to_string(*value) : "unknown";
}

} // namespace

json::object to_json(const report& r) {
    json::object result{{"frames", r.frames},
                        {"bytes", r.bytes},
                        {"seconds", json_number(r.seconds())},
                        {"frames_per_second", json_number(r.frames_per_second())},
                        {"bytes_per_second", json_number(r.bytes_per_second())},
                        {"lost", number_or_null(r.lost)},
                        {"duplicated", number_or_null(r.duplicated)},
                        {"corrupt", r.corrupt},
                        {"rnr_naks", number_or_null(r.rnr_naks)},
                        {"retransmits", number_or_null(r.retransmits)},
                        {"device", json_text(r.device)}};
    for (const auto& entry : r.more) result.insert(entry);
    return result;
}

std::string json_line(const report& r) {
    return json::serialize(to_json(r));
}

std::string to_text(const report& r) {
    std::string text;
    text += "frames       " + std::to_string(r.frames) + " (" + human_count(r.frames_per_second()) + "/s)\n";
    text += "bytes        " + std::to_string(r.bytes) + " (" + human_bytes(r.bytes_per_second()) + "/s)\n";
    text += "time         " + human_duration(r.elapsed) + "\n";
    text += "lost         " + number_or_unknown(r.lost) + "\n";
    text += "duplicated   " + number_or_unknown(r.duplicated) + "\n";
    text += "corrupt      " + std::to_string(r.corrupt) + "\n";
    text += "RNR NAKs     " + number_or_unknown(r.rnr_naks) + "\n";
    text += "retransmits  " + number_or_unknown(r.retransmits) + "\n";
    text += "device       " + r.device + "\n";
    return text;
}

} // namespace rocio::tools

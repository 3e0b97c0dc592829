#include "http_answer.hpp"

#include <rocio/status/json_values.hpp>
#include <rocio/status/status_json.hpp>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <array>
#include <exception>
#include <optional>

namespace rocio::detail {

namespace {

namespace json = boost::json;

constexpr std::string_view whole = "/status";
constexpr std::array<std::string_view, 5> parts = {"process", "engines", "devices", "streams", "fpgas"};

std::string_view path_of(std::string_view target) {
    return target.substr(0, target.find('?'));
}

/// "engines" of "/status/engines".
std::optional<std::string_view> part_of(std::string_view path) {
    if (!path.starts_with(whole) || path.size() <= whole.size() || path[whole.size()] != '/')
        return std::nullopt;
    const auto part = path.substr(whole.size() + 1);
    if (std::find(parts.begin(), parts.end(), part) == parts.end()) return std::nullopt;
    return part;
}

http_answer not_found(std::string_view path) {
    json::array routes{"/status", "/healthz"};
    for (const auto part : parts) routes.emplace_back(std::string(whole) + "/" + std::string(part));
    const json::object body{{"error", "there is nothing at this path"},
                            {"status", 404},
                            {"path", json_text(path)},
                            {"paths", std::move(routes)}};
    return {404, json::serialize(body)};
}

http_answer status_answer(std::optional<std::string_view> part, const status_source& source) {
    const auto document = to_json(source.snapshot());
    return {200, part ? json::serialize(document.at(*part)) : json::serialize(document)};
}

} // namespace

http_answer error_answer(unsigned status, std::string_view text) {
    return {status, json::serialize(json::object{{"error", json_text(text)}, {"status", status}})};
}

http_answer answer_get(std::string_view target, const status_source& source) {
    const auto path = path_of(target);
    if (path == "/healthz") return {200, "ok", "text/plain"};
    const auto part = part_of(path);
    if (path != whole && !part) return not_found(path);
    try {
        return status_answer(part, source);
    } catch (const std::exception& failure) {
        return error_answer(500, failure.what());
    }
}

} // namespace rocio::detail

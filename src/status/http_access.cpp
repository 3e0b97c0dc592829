#include "http_access.hpp"

#include "http_fields.hpp"

#include <boost/asio/ip/address.hpp>

#include <algorithm>

namespace rocio::detail {

namespace {

bool are_digits(std::string_view text) {
    return text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// "[::1]:8080" and "name:8080" without their port.
std::string_view name_of(std::string_view host) {
    const auto colon = host.rfind(':');
    if (colon == std::string_view::npos || !are_digits(host.substr(colon + 1))) return host;
    return host.substr(0, colon);
}

bool is_numeric(std::string_view name) {
    boost::system::error_code ec;
    if (name.starts_with('[') && name.ends_with(']')) {
        boost::asio::ip::make_address_v6(std::string(name.substr(1, name.size() - 2)), ec);
    } else {
        boost::asio::ip::make_address_v4(std::string(name), ec);
    }
    return !ec;
}

/// What needs no token: whether the server answers, and the page, which holds no data.
bool is_open(std::string_view path) {
    return path == "/healthz" || path == "/";
}

http_found refuse_method(const status_routes_config& config) {
    auto found = error_found(405, "only GET and HEAD are served");
    found.fields.emplace_back("Allow", config.allow_origin.empty() ? "GET, HEAD" : "GET, HEAD, OPTIONS");
    return found;
}

http_found preflight_found() {
    http_found found{.status = 204};
    found.fields.emplace_back("Access-Control-Allow-Methods", "GET, HEAD");
    found.fields.emplace_back("Access-Control-Allow-Headers", "Authorization, If-None-Match");
    found.fields.emplace_back("Access-Control-Max-Age", "600");
    return found;
}

} // namespace

bool is_known_host(std::string_view host, const std::vector<std::string>& names) {
    if (host.empty()) return true;
    const auto name = lower(name_of(host));
    if (name == "localhost" || is_numeric(name)) return true;
    return std::any_of(names.begin(), names.end(), [&](const auto& known) { return lower(known) == name; });
}

bool is_authorized(std::string_view authorization, std::string_view token) {
    constexpr std::string_view scheme = "bearer ";
    if (lower(authorization.substr(0, scheme.size())) != scheme) return false;
    const auto given = trimmed(authorization.substr(scheme.size()));
    if (given.size() != token.size()) return false;
    unsigned difference = 0;
    for (std::size_t i = 0; i < token.size(); ++i) {
        difference |= static_cast<unsigned char>(given[i]) ^
                      static_cast<unsigned>(static_cast<unsigned char>(token[i]));
    }
    return difference == 0;
}

std::optional<http_found> refuse(const http_question& question, const status_routes_config& config) {
    if (config.only_known_hosts && !is_known_host(question.host, config.hosts)) {
        return error_found(421, "this server has another name; ask for its numeric address or for localhost");
    }
    const bool preflight = question.method == "OPTIONS" && !config.allow_origin.empty();
    if (preflight) return preflight_found();
    if (question.method != "GET" && question.method != "HEAD") return refuse_method(config);
    if (config.token.empty() || is_open(path_of(question.target))) return std::nullopt;
    if (is_authorized(question.authorization, config.token)) return std::nullopt;
    auto found = error_found(401, "this server wants a token: Authorization: Bearer TOKEN");
    found.fields.emplace_back("WWW-Authenticate", "Bearer realm=\"rocio\"");
    return found;
}

} // namespace rocio::detail

#pragma once

#include "http_answer.hpp"

#include <rocio/status/status_routes_config.hpp>

#include <optional>
#include <string_view>

namespace rocio::detail {

/// Whether a Host value is a numeric address, "localhost" or one of `names`; an absent one is too, because it
/// comes from no browser.
bool is_known_host(std::string_view host, const std::vector<std::string>& names);

/// Whether `authorization` is "Bearer TOKEN". Takes as long for each wrong token of the same length.
bool is_authorized(std::string_view authorization, std::string_view token);

/// What a request gets that is answered before its path is looked at.
std::optional<http_found> refuse(const http_question& question, const status_routes_config& config);

} // namespace rocio::detail

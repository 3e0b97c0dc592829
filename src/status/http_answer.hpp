#pragma once

#include "http_content.hpp"

#include <rocio/status/detail/http_exchange.hpp>
#include <rocio/status/status_routes_config.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rocio::detail {

/// What is at a path, before it is fitted to the request.
struct http_found {
    unsigned status = 200;
    std::shared_ptr<const http_content> content{}; ///< Null: no body.
    std::string_view content_type = "application/json";
    bool may_be_kept = false; ///< By caches, which ask with its tag whether it still holds.
    std::vector<std::pair<std::string, std::string>> fields{};
};

std::string_view path_of(std::string_view target);

http_found found_content(std::shared_ptr<const http_content> content,
                         std::string_view content_type = "application/json");
http_found found_text(std::string text, std::string_view content_type = "application/json");

/// {"error": text, "status": 404}.
http_found error_found(unsigned status, std::string_view text);

/// `found` as the answer to `question`: 304 where the client has it already, gzip where the client likes it
/// and it saves something, and the fields that go with it. The body of HEAD's answer is there all the same.
http_answer fit(http_found found, const http_question& question, const status_routes_config& config);

} // namespace rocio::detail

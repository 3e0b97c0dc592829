#pragma once

#include <rocio/status/status_source.hpp>

#include <string>
#include <string_view>

namespace rocio::detail {

/// What goes back for one request, whatever library carries it.
struct http_answer {
    unsigned status = 200;
    std::string body{};
    std::string_view content_type = "application/json";
};

/// {"error": text, "status": 404}.
http_answer error_answer(unsigned status, std::string_view text);

/// What GET gives for a request target. A provider that throws makes it 500.
http_answer answer_get(std::string_view target, const status_source& source);

} // namespace rocio::detail

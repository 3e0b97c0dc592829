#pragma once

#include <string>
#include <string_view>

namespace rocio::tools {

/// As text between tags, in XML and HTML.
inline std::string xml_text(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (c == '&')
            result += "&amp;";
        else if (c == '<')
            result += "&lt;";
        else if (c == '>')
            result += "&gt;";
        else
            result += c;
    }
    return result;
}

} // namespace rocio::tools

#include "http_fields.hpp"

#include <algorithm>

namespace rocio::detail {

std::string lower(std::string_view text) {
    std::string result(text);
    for (auto& c : result) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return result;
}

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string_view> split(std::string_view list, char separator) {
    std::vector<std::string_view> items;
    while (!list.empty()) {
        const auto end = std::min(list.find(separator), list.size());
        const auto item = trimmed(list.substr(0, end));
        if (!item.empty()) items.push_back(item);
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return items;
}

} // namespace rocio::detail

#include "http_path.hpp"

#include <boost/json/array.hpp>
#include <boost/json/string.hpp>

#include <algorithm>
#include <charconv>

namespace rocio::detail {

namespace {

namespace json = boost::json;

const json::value* member(const json::object& object, std::string_view name) {
    return object.if_contains(name);
}

/// Of "0", "12"; not of "01" or "-1".
std::optional<std::size_t> index_of(std::string_view text) {
    if (text.empty() || (text.size() > 1 && text.front() == '0')) return std::nullopt;
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return index;
}

bool is_called(const json::value& element, std::string_view name) {
    const auto* object = element.if_object();
    const auto* found = object ? member(*object, "name") : nullptr;
    return found && found->is_string() && found->get_string() == name;
}

const json::value* element(const json::array& array, std::string_view name) {
    if (const auto index = index_of(name)) return array.if_contains(*index);
    const auto* const found =
        std::find_if(array.begin(), array.end(), [name](const auto& e) { return is_called(e, name); });
    return found == array.end() ? nullptr : found;
}

const json::value* below(const json::value& value, std::string_view name) {
    if (const auto* object = value.if_object()) return member(*object, name);
    if (const auto* array = value.if_array()) return element(*array, name);
    return nullptr;
}

} // namespace

std::optional<std::string> percent_decoded(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            result += text[i];
            continue;
        }
        unsigned code = 0;
        const auto digits = text.substr(i + 1, 2);
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
        if (digits.size() != 2 || error != std::errc() || end != digits.data() + 2) return std::nullopt;
        result += static_cast<char>(code);
        i += 2;
    }
    return result;
}

const json::value* find_part(const json::object& document, std::string_view path) {
    const json::value* found = nullptr;
    for (std::size_t depth = 0; depth < most_segments; ++depth) {
        const auto end = std::min(path.find('/'), path.size());
        const auto name = percent_decoded(path.substr(0, end));
        if (!name) return nullptr;
        found = found ? below(*found, *name) : member(document, *name);
        if (!found || end == path.size()) return found;
        path.remove_prefix(end + 1);
    }
    return nullptr;
}

} // namespace rocio::detail

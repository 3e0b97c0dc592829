#include "merge_patch.hpp"

#include <utility>

namespace rocio::detail {

namespace json = boost::json;

json::object merge_patch(const json::object& from, const json::object& to) {
    json::object patch;
    for (const auto& [name, value] : to) {
        const auto* before = from.if_contains(name);
        if (before && *before == value) continue;
        if (before && before->is_object() && value.is_object()) {
            patch.emplace(name, merge_patch(before->get_object(), value.get_object()));
        } else {
            patch.emplace(name, value);
        }
    }
    for (const auto& [name, value] : from) {
        if (!to.contains(name)) patch.emplace(name, nullptr);
    }
    return patch;
}

} // namespace rocio::detail

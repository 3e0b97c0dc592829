#include "lib/log_levels.hpp"

#include <array>
#include <stdexcept>
#include <utility>

namespace rocio::tools {

namespace {

constexpr std::array<std::pair<std::string_view, std::optional<log_level>>, 5> names = {
    {{"debug", log_level::debug},
     {"info", log_level::info},
     {"warning", log_level::warning},
     {"error", log_level::error},
     {"off", std::nullopt}}};

log_levels::level parse_level(std::string_view text) {
    for (const auto& [name, level] : names) {
        if (name == text) return level;
    }
    throw std::invalid_argument("log level is \"" + std::string(text) +
                                "\", allowed are debug, info, warning, error and off, "
                                "or ROOM=LEVEL for one room, separated by commas");
}

} // namespace

log_levels log_levels::parse(std::string_view text) {
    log_levels result;
    for (std::string_view rest = text;;) {
        const auto comma = rest.find(',');
        const auto item = rest.substr(0, comma);
        const auto equals = item.find('=');
        if (equals == std::string_view::npos) {
            result.general_ = parse_level(item);
        } else {
            result.rooms_.insert_or_assign(std::string(item.substr(0, equals)),
                                           parse_level(item.substr(equals + 1)));
        }
        if (comma == std::string_view::npos) return result;
        rest.remove_prefix(comma + 1);
    }
}

log_levels::level log_levels::of(std::string_view room) const {
    const auto found = rooms_.find(room);
    return found == rooms_.end() ? general_ : found->second;
}

bool log_levels::shows(std::string_view room, log_level at) const {
    const auto from = of(room);
    return from && at >= *from;
}

} // namespace rocio::tools

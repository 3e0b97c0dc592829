#pragma once

#include <rocio/types/log_sink.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace rocio::tools {

/// From which level on each room's lines are shown, as --log and ROCIO_LOG say it: "info", "off", or
/// "warning,soft=debug,status=off". A value.
class log_levels {
  public:
    using level = std::optional<log_level>; ///< Nothing: off.

    /// Warnings and errors of all rooms.
    log_levels() = default;
    /// Throws std::invalid_argument that names what is allowed.
    static log_levels parse(std::string_view text);

    level of(std::string_view room) const;
    bool shows(std::string_view room, log_level at) const;

  private:
    level general_ = log_level::warning;
    std::map<std::string, level, std::less<>> rooms_;
};

} // namespace rocio::tools

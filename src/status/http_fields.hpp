#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rocio::detail {

/// ASCII only, as names in HTTP are.
std::string lower(std::string_view text);
/// Without the blanks and tabs around it.
std::string_view trimmed(std::string_view text);
/// The trimmed items of a list, without empty ones. Views into `list`.
std::vector<std::string_view> split(std::string_view list, char separator);

} // namespace rocio::detail

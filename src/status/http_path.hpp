#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace rocio::detail {

/// "a b" of "a%20b" (RFC 3986); nothing where a "%" is not followed by two hex digits.
std::optional<std::string> percent_decoded(std::string_view text);

/// What "streams/0/slots" means in a status document: members by name, elements by index or by their "name".
/// Each segment is percent-encoded, so that a name may hold a slash. Null if there is nothing, and beyond
/// most_segments.
const boost::json::value* find_part(const boost::json::object& document, std::string_view path);

inline constexpr std::size_t most_segments = 8;

} // namespace rocio::detail

#pragma once

#include <boost/json/string.hpp>
#include <boost/json/value.hpp>

#include <cstdint>
#include <string_view>

namespace rocio {

/// `text` as a JSON string that every strict parser takes: each byte that is not part of well-formed UTF-8
/// (RFC 3629) becomes U+FFFD. Names of devices and streams come from users and from drivers.
boost::json::string json_text(std::string_view text);

/// `number`, or null where JSON has no spelling for it: infinities and not-a-number, such as a rate over no
/// time.
boost::json::value json_number(double number);

/// "0x" and at least `digits` lower-case hex digits: keys and addresses, which no reader should take for
/// numbers.
boost::json::string json_hex(std::uint64_t value, int digits);

} // namespace rocio

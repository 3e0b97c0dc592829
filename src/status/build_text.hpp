#pragma once

#include <string>

namespace rocio::detail {

/// "g++ 12.2.0, optimised, address sanitizer": how this library was compiled.
std::string build_text();

} // namespace rocio::detail

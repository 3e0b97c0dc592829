#pragma once

#include <rocio/types/error.hpp>

#include <chrono>

namespace rocio::detail {

/// errc::invalid_argument unless `least` <= value <= one hour.
error_info check_deadline(const char* name, std::chrono::milliseconds value, std::chrono::milliseconds least);

} // namespace rocio::detail

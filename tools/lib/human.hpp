#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace rocio::tools {

/// Three significant digits and a decimal prefix, the way a person reads a figure; "-" for what is no number.
std::string human_bytes(double bytes);                     ///< "512 B", "1.50 GB".
std::string human_count(double count);                     ///< "999", "12.3 k", "4.00 M".
std::string human_duration(std::chrono::nanoseconds time); ///< "850 ns", "12.3 us", "3.00 s", "2 min 05 s".

} // namespace rocio::tools

#pragma once

#include <cstdlib>
#include <string>

namespace rocio::test {

/// The device that stands for a soft one: with ROCIO_TEST_DEVICE=rxe0 that one, with rxe0,rxe1 the first for
/// names that end in an odd digit and the second for the others. Without it the soft device itself.
inline std::string test_device(const std::string& soft_name) {
    const char* const given = std::getenv("ROCIO_TEST_DEVICE");
    if (given == nullptr) return soft_name;
    const std::string names = given;
    const auto comma = names.find(',');
    if (comma == std::string::npos || (soft_name.back() - '0') % 2 == 1) return names.substr(0, comma);
    return names.substr(comma + 1);
}

} // namespace rocio::test

#include "connect/deadline_check.hpp"

#include <string>

namespace rocio::detail {

error_info check_deadline(const char* name, std::chrono::milliseconds value,
                          std::chrono::milliseconds least) {
    if (value >= least && value <= std::chrono::hours{1}) return {};
    return {errc::invalid_argument, std::string(name) + " is " + std::to_string(value.count()) +
                                        " ms, allowed are " + std::to_string(least.count()) + "..3600000"};
}

} // namespace rocio::detail

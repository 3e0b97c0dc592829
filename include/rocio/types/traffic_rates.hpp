#pragma once

#include <optional>

namespace rocio {

/// Messages and bytes per second over the last second and the last ten; absent until as much was seen.
struct traffic_rates {
    std::optional<double> messages_1s{}, messages_10s{};
    std::optional<double> bytes_1s{}, bytes_10s{};
};

} // namespace rocio

#include "lib/device_pair.hpp"

#include <random>
#include <utility>

#include <unistd.h>

namespace rocio::tools {

namespace {

error_info open_both(const std::string& a, const std::string& b, const open_options& o, device_pair& out) {
    device_pair pair;
    if (auto e = open_device(a, pair.first, o)) return e;
    if (auto e = open_device(b, pair.second, o)) return e;
    out = std::move(pair);
    return {};
}

} // namespace

device_pair open_device_pair(const std::string& first, const std::string& second,
                             const std::array<const char*, 2>& usual, const open_options& options) {
    device_pair pair;
    auto e = open_both(first.empty() ? usual[0] : first, second.empty() ? usual[1] : second, options, pair);
    if (!e) return pair;
    std::minstd_rand random(static_cast<unsigned>(::getpid()));
    for (int attempt = 0; attempt < 16 && e.code == errc::address_in_use; ++attempt) {
        if (!first.empty() || !second.empty()) break;
        const auto network =
            "soft:127." + std::to_string(1 + random() % 254) + "." + std::to_string(random() % 255);
        e = open_both(network + ".2", network + ".3", options, pair);
    }
    throw_if(e);
    return pair;
}

} // namespace rocio::tools

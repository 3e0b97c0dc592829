#include <rocio/ring/sensor_receiver_config.hpp>

namespace rocio {

namespace {

constexpr std::uint32_t longest_frame = 1U << 30;
constexpr std::uint32_t most_pages = 4096;
constexpr std::uint32_t most_receives = 65536;

error_info check(const char* name, std::uint64_t value, std::uint64_t most) {
    if (value >= 1 && value <= most) return {};
    return {errc::invalid_argument,
            std::string(name) + " is " + std::to_string(value) + ", allowed is 1 to " + std::to_string(most)};
}

} // namespace

error_info validate(const sensor_receiver_config& config) {
    if (!config.device) return {errc::invalid_argument, "device is not set: open one with open_device()"};
    if (auto e = check("frame_size", config.frame_size, longest_frame)) return e;
    if (auto e = check("pages", config.pages, most_pages)) return e;
    return check("receives", config.receives, most_receives);
}

} // namespace rocio

#include <rocio/ring/ring_config.hpp>

#include <bit>
#include <limits>

namespace rocio {

namespace {

constexpr std::uint32_t most_slots = 65536;

error_info refuse(const std::string& name, std::uint64_t value, const std::string& allowed) {
    return {errc::invalid_argument, name + " is " + std::to_string(value) + ", allowed is " + allowed};
}

} // namespace

error_info validate(const ring_config& config) {
    if (!config.device) return {errc::invalid_argument, "device is not set: open one with open_device()"};
    if (!std::has_single_bit(config.slots) || config.slots > most_slots)
        return refuse("slots", config.slots, "a power of two up to 65536");
    if (config.slot_size == 0) return refuse("slot_size", config.slot_size, "1 or more");
    if (std::uint64_t{config.slots} * config.slot_size > std::numeric_limits<std::uint32_t>::max()) {
        return {errc::region_too_large, "slots x slot_size is " + std::to_string(config.slots) + " x " +
                                            std::to_string(config.slot_size) +
                                            ", allowed are 4294967295 bytes in all"};
    }
    if (config.frame_size == 0 || config.frame_size > config.slot_size)
        return refuse("frame_size", config.frame_size, "1 to slot_size, " + std::to_string(config.slot_size));
    return {};
}

} // namespace rocio

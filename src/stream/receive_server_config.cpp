#include <rocio/stream/receive_server_config.hpp>
#include <rocio/types/gid.hpp>

#include <string>

namespace rocio {

namespace {

error_info out_of_range(const char* knob, std::uint64_t value, std::uint64_t low, std::uint64_t high) {
    return {errc::invalid_argument, std::string(knob) + " is " + std::to_string(value) + ", allowed is " +
                                        std::to_string(low) + " to " + std::to_string(high)};
}

} // namespace

error_info validate(const receive_server_config& config) {
    constexpr std::uint32_t most_payload = 1U << 30;
    constexpr std::uint32_t most_depth = 65536;
    constexpr std::uint32_t most_counters = 1U << 24;
    constexpr std::int64_t longest_idle = 86'400'000; // a day
    if (!config.device) return {errc::device_not_found, "no device given: pass the result of open_device()"};
    if (config.max_payload < 1 || config.max_payload > most_payload)
        return out_of_range("max_payload", config.max_payload, 1, most_payload);
    if (config.rx_queue_depth < 1 || config.rx_queue_depth > most_depth)
        return out_of_range("rx_queue_depth", config.rx_queue_depth, 1, most_depth);
    if (!config.fpga_ip.empty() && !gid::parse(config.fpga_ip)) {
        return {errc::invalid_argument,
                "fpga_ip is \"" + config.fpga_ip + "\", which is not an IPv4 or IPv6 address"};
    }
    if (config.idle_limit && (config.idle_limit->count() < 1 || config.idle_limit->count() > longest_idle)) {
        return {errc::invalid_argument, "idle_limit is " + std::to_string(config.idle_limit->count()) +
                                            " ms, allowed is 1 to " + std::to_string(longest_idle)};
    }
    if (config.counter_wrap && (*config.counter_wrap < 1 || *config.counter_wrap > most_counters))
        return out_of_range("counter_wrap", *config.counter_wrap, 1, most_counters);
    // The FPGA's metadata bus has 32 bits for the length of the region.
    const std::uint64_t length = std::uint64_t{config.max_payload} * config.rx_queue_depth;
    if (length < (std::uint64_t{1} << 32)) return {};
    return {errc::region_too_large, "max_payload " + std::to_string(config.max_payload) +
                                        " x rx_queue_depth " + std::to_string(config.rx_queue_depth) +
                                        " is " + std::to_string(length) +
                                        " bytes, allowed are 4294967295: lower one of the two"};
}

error_info validate(const transport_config& config) {
    if (!mtu_from_code(code(config.path_mtu)))
        return out_of_range("path_mtu (code)", code(config.path_mtu), 1, 5);
    if (config.rnr_retry > 7) return out_of_range("rnr_retry", config.rnr_retry, 0, 7);
    if (config.retry_count > 7) return out_of_range("retry_count", config.retry_count, 0, 7);
    return {};
}

} // namespace rocio

#include <rocio/fpga/hsb_channel_config.hpp>

#include <limits>

namespace rocio::fpga {

namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t default_pages = 2;

error_info refuse(const std::string& attribute, const std::string& asked, const std::string& allowed) {
    return {errc::invalid_argument, attribute + " is " + asked + ", allowed is " + allowed};
}

error_info check_time(const char* name, std::chrono::milliseconds value) {
    if (value >= 1ms && value <= 1h) return {};
    return refuse(name, std::to_string(value.count()) + " ms", "1 ms to 1 h");
}

} // namespace

error_info validate(const hsb_channel_config& c) {
    if (!c.fpga.is_v4_mapped() || c.fpga == gid::from_v4({}))
        return refuse("the FPGA's address", c.fpga.to_address_string(), "an IPv4 address");
    if (c.frame_size == 0) return refuse("frame_size", "0", "1 or more");
    if (auto e = check_time("step_deadline", c.step_deadline)) return e;
    if (auto e = check_time("watch_interval", c.watch_interval)) return e;
    if (c.watch_failures == 0) return refuse("watch_failures", "0", "1 or more");
    return {};
}

error_info make_stream(const hsb_channel_config& c, const local_parameters& local, hsb_stream_config& out) {
    const auto host = c.host ? c.host : local.address.v4();
    if (!host)
        return refuse("our address", local.address.to_address_string(),
                      "an IPv4 address: an FPGA sends to no other; choose the GID index of one");
    const auto page_size = c.page_size != 0         ? std::uint64_t{c.page_size}
                           : local.max_payload != 0 ? std::uint64_t{local.max_payload}
                                                    : hsb_page_size(c.frame_size);
    if (page_size > std::numeric_limits<std::uint32_t>::max())
        return refuse("page_size", std::to_string(page_size), "what 32 bits hold");
    out = {};
    out.path = c.path;
    out.frame_memory = local.region.address;
    out.frame_size = c.frame_size;
    out.page_size = static_cast<std::uint32_t>(page_size);
    out.pages = c.pages != 0 ? c.pages : local.depth != 0 ? local.depth : default_pages;
    out.mtu = c.mtu;
    out.longest_packet = bytes(local.path_mtu);
    out.mac = c.mac.value_or(std::array<std::uint8_t, 6>{});
    if (!c.mac && c.find_mac) out.mac = c.find_mac(local).value_or(out.mac);
    out.host = *host;
    out.udp_port = local.udp_port;
    out.source_port = c.source_port;
    out.queue_pair = local.queue_pair.value();
    out.remote_key = local.region.key.value;
    const auto needed = page_size * out.pages;
    if (needed <= local.region.length) return {};
    return {errc::not_in_region, std::to_string(out.pages) + " pages of " + std::to_string(page_size) +
                                     " bytes need " + std::to_string(needed) +
                                     " bytes, the registered region has " +
                                     std::to_string(local.region.length)};
}

} // namespace rocio::fpga

#include <rocio/fpga/hsb_configuration.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace rocio::fpga {

namespace {

constexpr std::uint32_t unit = hsb::page_unit;
constexpr std::uint32_t most_pages = 4096;
constexpr std::uint32_t most_buffers = 4;
constexpr std::uint64_t end_of_addresses = std::uint64_t{1} << 39; // (2^32 - 1) units of 128 and what is left
constexpr unsigned page_carry_bit = 33;                            // the page counter has bits 32:7 [RTL]
constexpr std::chrono::milliseconds flush_time{10};

std::string hex(std::uint64_t value, std::size_t digits) {
    std::string text = "0x" + std::string(digits, '0');
    for (std::size_t i = text.size(); value != 0 && i > 2; value >>= 4)
        text[--i] = "0123456789abcdef"[value & 0xF];
    return text;
}

error_info refuse(const std::string& attribute, const std::string& asked, const std::string& allowed) {
    return {errc::invalid_argument, attribute + " is " + asked + ", allowed is " + allowed};
}

std::uint32_t overhead(hsb_layout layout) noexcept {
    return layout == hsb_layout::paged ? 74 : 78;
}

constexpr bool aligned(std::uint64_t value) noexcept {
    return value % unit == 0;
}

/// What the metadata need; up to one unit of data the vendor asks for no room for them.
std::uint64_t smallest_page(std::uint32_t frame_size) noexcept {
    return frame_size <= unit ? unit : hsb_page_size(frame_size);
}

error_info check_pages(const hsb_stream_config& c, hsb_layout layout) {
    const auto most = layout == hsb_layout::paged ? most_pages : most_buffers;
    if (c.pages < 1 || c.pages > most)
        return refuse("pages", std::to_string(c.pages),
                      "1 to " + std::to_string(most) +
                          (most == most_buffers ? " (4096 from IP version 0x2602 on)" : ""));
    // Both factors are below 2^32, the sum may still wrap.
    const auto size = std::uint64_t{c.page_size} * c.pages;
    const auto end = c.frame_memory + size;
    if (end < size || end >= end_of_addresses)
        return refuse("the end of the pages, frame_memory + page_size x pages,", hex(end, 16),
                      "below 0x0000008000000000 (512 GiB): register the memory at address 0");
    const bool crosses =
        layout == hsb_layout::paged && c.frame_memory >> page_carry_bit != (end - 1) >> page_carry_bit;
    if (crosses)
        return refuse("frame_memory with its pages", hex(c.frame_memory, 16) + " to " + hex(end, 16),
                      "an area that crosses no multiple of 8 GiB: register the memory at address 0");
    return {};
}

error_info check_packets(const hsb_stream_config& c, hsb_layout layout) {
    if (c.longest_packet != 0 && c.longest_packet < unit)
        return refuse("longest_packet", std::to_string(c.longest_packet), "0, or 128 or more");
    if (hsb_packet_payload(layout, c.mtu, c.longest_packet) != 0) return {};
    return refuse("mtu", std::to_string(c.mtu), "more than " + std::to_string(overhead(layout) + unit));
}

error_info check_target(const hsb_stream_config& c) {
    if (c.host == std::array<std::uint8_t, 4>{})
        return refuse("the host's address", "0.0.0.0", "an IPv4 address of this machine");
    if (c.udp_port == 0) return refuse("udp_port", "0", "1 to 65535");
    if (c.queue_pair == 0 || c.queue_pair > 0xFFFFFF)
        return refuse("queue_pair", std::to_string(c.queue_pair), "1 to 16777215");
    return {};
}

} // namespace

std::uint32_t hsb_packet_payload(hsb_layout layout, std::uint32_t mtu, std::uint32_t longest) noexcept {
    const auto headers = overhead(layout);
    if (mtu <= headers + unit) return 0;
    const auto fits = (mtu - headers) / unit * unit;
    return longest == 0 ? fits : std::min(fits, longest / unit * unit);
}

error_info validate(const hsb_stream_config& c, std::uint16_t ip_version) {
    const auto layout = hsb_layout_of(ip_version);
    if (!layout)
        return {errc::not_supported, "the FPGA's IP version is " + hex(ip_version, 4) +
                                         ", supported are 0x2510 and later: update its bit stream"};
    if (!aligned(c.frame_memory)) return refuse("frame_memory", hex(c.frame_memory, 16), "a multiple of 128");
    if (c.frame_size == 0) return refuse("frame_size", "0", "1 or more");
    if (!aligned(c.page_size)) return refuse("page_size", std::to_string(c.page_size), "a multiple of 128");
    if (c.page_size < smallest_page(c.frame_size))
        return refuse("page_size", std::to_string(c.page_size),
                      std::to_string(smallest_page(c.frame_size)) + " or more for frames of " +
                          std::to_string(c.frame_size) + " bytes and their metadata");
    if (auto e = check_pages(c, *layout)) return e;
    if (auto e = check_packets(c, *layout)) return e;
    return check_target(c);
}

// ---- Steps

void hsb_program::add(action what, std::uint32_t address, std::uint32_t value, const char* name) {
    steps_.push_back({what, address, value, name});
}

void hsb_program::write_vp(std::uint32_t offset, std::uint32_t value, const char* name) {
    add(action::write, path_.vp_address + offset, value, name);
}

void hsb_program::add_stop() {
    add(action::read_mask);
    add(action::mask_off);
}

void hsb_program::finish(error_info why) {
    result_ = std::move(why);
    at_ = steps_.size();
}

register_step hsb_program::next(time_point) {
    if (at_ >= steps_.size()) return register_step::end();
    const auto& s = steps_[at_];
    const auto mask_address = path_.hif_address + hsb::hif::vp_mask;
    switch (s.what) {
    case action::read_version:
        return register_step::read(hsb::version);
    case action::read_mask:
        return register_step::read(mask_address);
    case action::mask_off:
        return register_step::write(mask_address, mask_ & ~path_.vp_mask);
    case action::mask_on:
        return register_step::write(mask_address, mask_ | path_.vp_mask);
    case action::read:
        return register_step::read(s.address);
    case action::write:
        return register_step::write(s.address, s.value);
    case action::pause:
        return register_step::pause(flush_time);
    }
    return register_step::end();
}

void hsb_program::on_result(const error_info& failure, std::uint32_t value, time_point) {
    if (at_ >= steps_.size()) return;
    const auto done = steps_[at_];
    if (failure) {
        const auto* name = done.what == action::read_version                         ? "IP version"
                           : done.what == action::read || done.what == action::write ? done.name
                                                                                     : "DP_VP_MASK";
        return finish({failure.code, std::string(purpose_) + ", " + name + ": " + failure.message()});
    }
    ++at_;
    switch (done.what) {
    case action::read_version:
        version_ = static_cast<std::uint16_t>(value);
        return on_version();
    case action::read_mask:
        mask_ = value;
        return;
    case action::read:
        return on_read(value);
    default:
        return;
    }
}

// ---- The programs

hsb_prepare::hsb_prepare(const hsb_stream_config& config)
    : hsb_program(config.path, "preparing the FPGA"), config_(config) {
    add(action::read_version);
}

void hsb_prepare::on_version() {
    if (auto e = validate(config_, ip_version())) return finish(std::move(e));
    add_stop();
}

hsb_configure::hsb_configure(const hsb_stream_config& config)
    : hsb_program(config.path, "configuring the FPGA"), config_(config) {
    add(action::read_version);
}

void hsb_configure::on_version() {
    if (auto e = validate(config_, ip_version())) return finish(std::move(e));
    const auto layout = *hsb_layout_of(ip_version());
    payload_ = hsb_packet_payload(layout, config_.mtu, config_.longest_packet);
    add_stop();
    add_common();
    if (layout == hsb_layout::paged)
        add_pages();
    else
        add_buffers();
    add(action::read_mask);
    add(action::mask_on);
}

void hsb_configure::add_common() {
    const auto& m = config_.mac;
    const auto& ip = config_.host;
    const auto word = [](std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
        return static_cast<std::uint32_t>(a) << 24 | static_cast<std::uint32_t>(b) << 16 |
               static_cast<std::uint32_t>(c) << 8 | d;
    };
    add(action::write, path().hif_address + hsb::hif::packet_size, payload_ / unit, "DP_PACKET_SIZE");
    add(action::write, path().hif_address + hsb::hif::packet_udp_port, config_.source_port,
        "DP_PACKET_UDP_PORT");
    write_vp(hsb::vp::buffer_length, config_.frame_size, "DP_BUFFER_LENGTH");
    write_vp(hsb::vp::host_mac_low, word(m[2], m[3], m[4], m[5]), "DP_HOST_MAC_LOW");
    write_vp(hsb::vp::host_mac_high, word(0, 0, m[0], m[1]), "DP_HOST_MAC_HIGH");
    write_vp(hsb::vp::host_ip, word(ip[0], ip[1], ip[2], ip[3]), "DP_HOST_IP");
    write_vp(hsb::vp::host_udp_port, config_.udp_port, "DP_HOST_UDP_PORT");
    add(action::write, path().sif_address + hsb::sif::packetizer_mode, 0, "PACKETIZER_MODE");
    write_vp(hsb::vp::queue_pair, config_.queue_pair, "DP_QP");
    write_vp(hsb::vp::remote_key, config_.remote_key, "DP_RKEY");
}

/// The low half of the address is not shifted here, as it is in CUDA-Q's playback design.
void hsb_configure::add_pages() {
    write_vp(hsb::vp::page_lsb, static_cast<std::uint32_t>(config_.frame_memory), "DP_PAGE_LSB");
    write_vp(hsb::vp::page_msb, static_cast<std::uint32_t>(config_.frame_memory >> 32), "DP_PAGE_MSB");
    write_vp(hsb::vp::page_increment, config_.page_size / unit, "DP_PAGE_INC");
    write_vp(hsb::vp::last_page, config_.pages - 1, "DP_MAX_BUFF");
}

void hsb_configure::add_buffers() {
    constexpr std::array names{"DP_ADDRESS_0", "DP_ADDRESS_1", "DP_ADDRESS_2", "DP_ADDRESS_3"};
    for (std::uint32_t i = 0; i < most_buffers; ++i) {
        const auto address = config_.frame_memory + std::uint64_t{config_.page_size} * i;
        const auto value = i < config_.pages ? static_cast<std::uint32_t>(address / unit) : 0;
        write_vp(hsb::vp::page_lsb + 4 * i, value, names[i]);
    }
    write_vp(hsb::vp::buffer_mask, (1U << config_.pages) - 1, "DP_BUFFER_MASK");
}

hsb_unconfigure::hsb_unconfigure(const hsb_data_path& where, std::uint16_t ip_version)
    : hsb_program(where, "releasing the FPGA") {
    using namespace hsb::vp;
    add_stop();
    add(action::pause);
    write_vp(buffer_length, 0, "DP_BUFFER_LENGTH");
    write_vp(queue_pair, 0, "DP_QP");
    write_vp(remote_key, 0, "DP_RKEY");
    write_vp(page_lsb, 0, "DP_PAGE_LSB");
    write_vp(page_msb, 0, "DP_PAGE_MSB");
    write_vp(page_increment, 0, "DP_PAGE_INC");
    write_vp(last_page, 0, "DP_MAX_BUFF");
    if (hsb_layout_of(ip_version) == hsb_layout::four_buffers) write_vp(buffer_mask, 0, "DP_BUFFER_MASK");
    write_vp(host_mac_low, 0, "DP_HOST_MAC_LOW");
    write_vp(host_mac_high, 0, "DP_HOST_MAC_HIGH");
    write_vp(host_ip, 0, "DP_HOST_IP");
    write_vp(host_udp_port, 0, "DP_HOST_UDP_PORT");
    add(action::write, where.sif_address + hsb::sif::packetizer_mode, 0, "PACKETIZER_MODE");
}

hsb_watch::hsb_watch(const hsb_data_path& where, std::uint32_t queue_pair)
    : hsb_program(where, "watching the FPGA"), queue_pair_(queue_pair) {
    add(action::read_version);
    add(action::read_mask);
    add(action::read, where.vp_address + hsb::vp::queue_pair, 0, "DP_QP");
}

void hsb_watch::on_read(std::uint32_t value) {
    answered_ = true;
    if (value != queue_pair_)
        return finish({errc::peer_lost, "the FPGA sends to queue pair " + std::to_string(value) +
                                            ", ours is " + std::to_string(queue_pair_) +
                                            ": it was reset, or another host configured it"});
    if ((mask() & path().vp_mask) == 0)
        finish({errc::peer_lost, "the FPGA's virtual port was stopped (DP_VP_MASK is " + hex(mask(), 8) +
                                     ", our bit " + hex(path().vp_mask, 8) +
                                     "): it was reset, or another host stopped it"});
}

} // namespace rocio::fpga

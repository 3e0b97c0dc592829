#include <rocio/fpga/hsb_sensor_board.hpp>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

namespace rocio::fpga {

namespace {

using namespace hsb;

constexpr std::uint32_t most_virtual_ports = 32;

/// A stretch of addresses with a register at each multiple of 4.
struct stretch {
    std::uint32_t begin, size;
    constexpr bool has(std::uint32_t address) const noexcept {
        return address >= begin && address - begin < size;
    }
};

constexpr stretch global{0x0000'0000, 0x400}; // reset, version, PTP, events
constexpr stretch sequencer{0x0000'2000, 0x1000};
constexpr stretch ethernet{0x0200'0000, 0x100};
constexpr std::uint32_t hif_size = 0x40;
constexpr std::uint32_t sif_size = 0x1000;

// After a reset [RTL].
constexpr std::uint32_t reset_packet_size = 0x5CE / page_unit;
constexpr std::uint32_t reset_source_port = 0x3000;

constexpr std::uint32_t ethernet_bits = 0xFFFF;          // of a UDP port
constexpr std::uint32_t camera_over_ethernet = 1U << 24; // in DP_QP: another protocol

} // namespace

std::uint64_t hsb_sensor_target::page_address(std::uint32_t page) const noexcept {
    if (layout == hsb_layout::four_buffers) return buffers[page % buffers.size()];
    return host.buffer + host.page_bytes * page;
}

hsb_sensor_board::hsb_sensor_board(hsb_sensor_port& port, const hsb_sensor_board_config& config)
    : port_(port), config_(config) {
    if (config.virtual_ports < 1 || config.virtual_ports > most_virtual_ports)
        throw exception({errc::invalid_argument, "virtual_ports is " + std::to_string(config.virtual_ports) +
                                                     ", allowed is 1 to 32"});
    told_.resize(config.virtual_ports);
    reset();
}

void hsb_sensor_board::reset() {
    registers_.clear();
    const auto hif_address = hif_base + hif_stride * config_.data_plane;
    registers_[version] = config_.ip_version;
    registers_[build_date] = config_.build_date;
    registers_[hif_address + hif::packet_size] = reset_packet_size;
    registers_[hif_address + hif::packet_udp_port] = reset_source_port;
    latched_.reset();
    tell_port();
    port_.reset();
}

hsb_sensor_board::kind hsb_sensor_board::kind_of(std::uint32_t address) const noexcept {
    if (address % 4 != 0) return kind::none;
    if (address == version || address == build_date || port_of_psn(address)) return kind::read_only;
    const stretch vps{vp_base, vp_stride * config_.virtual_ports};
    const stretch hif{hif_base + hif_stride * config_.data_plane, hif_size};
    if (global.has(address) || sequencer.has(address) || ethernet.has(address) || vps.has(address) ||
        hif.has(address))
        return kind::plain;
    const stretch sifs{sif_base, sif_stride * config_.virtual_ports};
    return sifs.has(address) && (address - sif_base) % sif_stride < sif_size ? kind::plain : kind::none;
}

std::optional<std::uint32_t> hsb_sensor_board::port_of_psn(std::uint32_t address) const noexcept {
    const stretch vps{vp_base, vp_stride * config_.virtual_ports};
    if (!vps.has(address) || (address - vp_base) % vp_stride != vp::psn) return std::nullopt;
    return (address - vp_base) / vp_stride;
}

std::uint32_t hsb_sensor_board::read(std::uint32_t address) const {
    if (kind_of(address) == kind::none) return no_register;
    if (const auto port = port_of_psn(address)) return port_.psn(*port);
    const auto found = registers_.find(address);
    return found == registers_.end() ? 0 : found->second;
}

hsb_status hsb_sensor_board::write(const hsb_register& what) {
    switch (kind_of(what.address)) {
    case kind::none:
        return hsb_status::invalid_address;
    case kind::read_only:
        return hsb_status::success;
    case kind::plain:
        break;
    }
    if (what.address == hsb::reset && (what.value & reset_value) != 0) reset_asked_ = true;
    registers_[what.address] = what.value;
    return hsb_status::success;
}

hsb_status hsb_sensor_board::write_all(const hsb_pairs& pairs) {
    for (const auto pair : pairs) {
        if (const auto status = write(pair); status != hsb_status::success) return status;
    }
    return hsb_status::success;
}

/// Without the check any number is taken; with it, the one after the last.
bool hsb_sensor_board::in_step(const hsb_request& request) const noexcept {
    if ((request.flags & hsb_flags::check_sequence) == 0) return true;
    return latched_ && request.sequence == static_cast<std::uint16_t>(*latched_ + 1);
}

std::size_t hsb_sensor_board::answer(std::span<const std::byte> datagram, std::uint64_t,
                                     std::span<std::byte> out) {
    ++counts_.datagrams;
    const auto parsed = parse_request(datagram);
    if (const auto* bad = std::get_if<hsb_malformed>(&parsed)) return refuse(*bad, datagram, out);
    return execute(std::get<hsb_request>(parsed), *answer_header(datagram), out);
}

std::size_t hsb_sensor_board::refuse(hsb_malformed reason, std::span<const std::byte> datagram,
                                     std::span<std::byte> out) {
    const auto status = status_for(reason);
    auto header = answer_header(datagram);
    if (!status || !header) {
        ++counts_.ignored;
        return 0;
    }
    ++counts_.refused;
    if ((header->flags & hsb_flags::acknowledge) == 0) return 0;
    header->status = *status;
    header->latched_sequence = latched_.value_or(0);
    return encode_response(out, *header, {}, hsb_dialect::fpga);
}

std::size_t hsb_sensor_board::execute(const hsb_request& request, hsb_response_header header,
                                      std::span<std::byte> out) {
    const auto before = latched_;
    std::vector<hsb_register> values;
    if (!in_step(request)) {
        header.status = hsb_status::sequence_check_failed;
    } else {
        latched_ = request.sequence;
        if (is_write(request.command)) header.status = write_all(request.pairs);
        for (const auto pair : request.pairs)
            values.push_back({pair.address, is_write(request.command) ? 0 : read(pair.address)});
        if (header.status != hsb_status::success) latched_ = before;
    }
    if (header.status != hsb_status::success) ++counts_.refused;
    if (std::exchange(reset_asked_, false)) {
        reset();
        return 0;
    }
    tell_port();
    header.latched_sequence = latched_.value_or(0);
    return request.wants_answer() ? encode_response(out, header, values, hsb_dialect::fpga) : 0;
}

hsb_sensor_target hsb_sensor_board::target_of(std::uint32_t vp_address) const {
    const auto at = [&](std::uint32_t offset) { return read(vp_address + offset); };
    const auto hif_address = hif_base + hif_stride * config_.data_plane;
    hsb_sensor_target t;
    t.ip_version = config_.ip_version;
    t.layout = hsb_layout_of(config_.ip_version).value_or(hsb_layout::four_buffers);
    t.packet_payload = (read(hif_address + hif::packet_size) & ethernet_bits) * page_unit;
    t.source_port = static_cast<std::uint16_t>(read(hif_address + hif::packet_udp_port));
    t.metadata = (at(vp::host_udp_port) & vp::no_metadata_bit) == 0;
    t.host.queue_pair = at(vp::queue_pair);
    t.host.remote_key = at(vp::remote_key);
    t.host.frame_bytes = at(vp::buffer_length);
    t.host.host_ip = at(vp::host_ip);
    t.host.udp_port = static_cast<std::uint16_t>(at(vp::host_udp_port));
    if (t.layout == hsb_layout::paged) {
        t.host.buffer = std::uint64_t{at(vp::page_msb)} << 32 | at(vp::page_lsb);
        t.host.page_bytes = std::uint64_t{at(vp::page_increment)} * page_unit;
        t.host.pages = (at(vp::last_page) & 0xFFF) + 1;
        return t;
    }
    for (std::uint32_t i = 0; i < t.buffers.size(); ++i)
        t.buffers[i] = std::uint64_t{at(vp::page_lsb + 4 * i)} * page_unit;
    t.host.buffer = t.buffers[0];
    t.host.pages = static_cast<std::uint64_t>(std::countr_one(at(vp::buffer_mask) & 0xFU));
    return t;
}

std::optional<hsb_sensor_target> hsb_sensor_board::target(std::uint32_t port) const {
    const auto hif_address = hif_base + hif_stride * config_.data_plane;
    if (port >= config_.virtual_ports || (read(hif_address + hif::vp_mask) >> port & 1) == 0)
        return std::nullopt;
    auto t = target_of(vp_base + vp_stride * port);
    const bool complete = t.host.queue_pair != 0 && (t.host.queue_pair & camera_over_ethernet) == 0 &&
                          t.host.host_ip != 0 && t.host.udp_port != 0 && t.host.frame_bytes != 0 &&
                          t.host.pages != 0 && t.packet_payload != 0;
    return complete ? std::optional(t) : std::nullopt;
}

/// What the registers now say takes effect when all of a request are written.
void hsb_sensor_board::tell_port() {
    for (std::uint32_t port = 0; port < config_.virtual_ports; ++port) {
        auto now = target(port);
        if (now == told_[port]) continue;
        told_[port] = now;
        if (now)
            port_.start(port, *now);
        else
            port_.stop(port);
    }
}

hsb_announcement hsb_sensor_board::announcement(const std::array<std::uint8_t, 4>& address) const {
    hsb_announcement a;
    a.address = address;
    a.mac = {0x48, 0xB0, 0x2D, address[1], address[2], address[3]};
    a.host_port = a.data_plane = config_.data_plane;
    a.format = 2;
    // The vendor's emulator announces this UUID and serial number, so its tools know the board.
    a.uuid = {0x16, 0xAF, 0x13, 0x9B, 0x9D, 0x14, 0x48, 0x2F, 0x98, 0x05, 0x3F, 0xEB, 0x72, 0xAE, 0x0C, 0xEC};
    a.serial = {0x03, 0x01, 0x04, 0x01, 0x05, 0x09, 0x03};
    a.ip_version = config_.ip_version;
    a.fpga_crc = 0x5AA5;
    return a;
}

} // namespace rocio::fpga

#include <rocio/fpga/slac_board.hpp>
#include <rocio/types/mtu.hpp>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

namespace rocio::fpga {

namespace {

constexpr std::uint32_t counter_mask = 0xFF'FFFF;
constexpr std::uint32_t qpn_mask = 0xFF'FFFF;
constexpr std::uint32_t dqpn_mask = 0x1FF'FFFF;
constexpr std::uint32_t last_tx_mask = 0x7FFF;
constexpr std::uint32_t dcqcn_offset = 0x1000;
constexpr std::uint32_t engine_size = 0x3000;
constexpr std::uint32_t prbs_size = 0x100;
constexpr std::uint32_t prbs_writable = 0x63; // AxiEn, TxEn, FwCnt, TrigSrc

// Of the monitors, from their first register (AxiStreamMon).
constexpr std::uint32_t monitor_size = 0x38;

void access_word(std::uint32_t& reg, std::uint32_t& value, bool writes, std::uint32_t mask = 0xFFFF'FFFF) {
    if (writes)
        reg = value & mask;
    else
        value = reg;
}

bus_response read_only(std::uint32_t content, std::uint32_t& value, bool writes) {
    if (!writes) value = content;
    return bus_response::ok;
}

slac_board_config checked(const slac_board_config& config) {
    if (config.word_bits == 0 || config.word_bits % 32 != 0 || config.word_bits > 1024)
        throw exception({errc::invalid_argument, "PRBS word of " + std::to_string(config.word_bits) +
                                                     " bits, allowed are multiples of 32 up to 1024"});
    if (config.udp_client >= config.udp_clients || config.udp_clients > 64)
        throw exception({errc::invalid_argument, "UDP client " + std::to_string(config.udp_client) + " of " +
                                                     std::to_string(config.udp_clients) +
                                                     ", allowed are 0 to 63 of up to 64"});
    return config;
}

std::uint32_t low(std::uint64_t value) {
    return static_cast<std::uint32_t>(value);
}
std::uint32_t high(std::uint64_t value) {
    return static_cast<std::uint32_t>(value >> 32);
}

} // namespace

slac_board::slac_board(slac_stream_port& port, const slac_board_config& config)
    : port_(port),
      config_(checked(config)),
      next_qpn_(config.first_qpn & qpn_mask),
      udp_(std::size_t{2} * config.udp_clients) {
    reset_registers();
}

bus_response slac_board::read(std::uint64_t address, std::uint32_t& value) {
    value = 0;
    return access(address, value, false);
}

bus_response slac_board::write(std::uint64_t address, std::uint32_t value) {
    const auto response = access(address, value, true);
    update();
    return response;
}

bus_response slac_board::access(std::uint64_t address, std::uint32_t& value, bool writes) {
    if (address % 4 != 0) return bus_response::decode_error;
    const auto offset_in = [address](std::uint64_t base, std::uint64_t size) {
        const bool inside = address >= base && address - base < size;
        return inside ? std::optional(low(address - base)) : std::nullopt;
    };
    if (const auto o = offset_in(config_.engine_base, engine_size)) return access_engine(*o, value, writes);
    if (const auto o = offset_in(config_.udp_base, std::uint64_t{8} * config_.udp_clients))
        return access_udp(*o, value, writes);
    if (const auto o = offset_in(config_.prbs_base, prbs_size); o && config_.prbs_present)
        return access_prbs(*o, value, writes);
    return bus_response::decode_error;
}

bus_response slac_board::access_engine(std::uint32_t offset, std::uint32_t& value, bool writes) {
    const auto& map = config_.map;
    if (offset == map.send_metadata) {
        if (writes)
            write_send(value & map.send_bit);
        else
            value = metadata_status();
        return bus_response::ok;
    }
    if (offset >= map.metadata_tx && offset - map.metadata_tx < 4 * tx_.size()) {
        const auto i = (offset - map.metadata_tx) / 4;
        access_word(tx_[i], value, writes, i + 1 == tx_.size() ? last_tx_mask : 0xFFFF'FFFF);
        return bus_response::ok;
    }
    if (offset >= map.metadata_rx && offset - map.metadata_rx < 4 * rx_.size())
        return read_only(rx_[(offset - map.metadata_rx) / 4], value, writes);
    if (map.soft_reset && offset == *map.soft_reset && config_.has_soft_reset) {
        if (writes)
            write_soft_reset(value & 1);
        else
            value = reset_;
        return bus_response::ok;
    }
    if (offset >= dcqcn_offset && offset - dcqcn_offset < 4 * dcqcn_.size()) {
        access_word(dcqcn_[(offset - dcqcn_offset) / 4], value, writes);
        return bus_response::ok;
    }
    return access_core(offset, value, writes);
}

bus_response slac_board::access_core(std::uint32_t offset, std::uint32_t& value, bool writes) {
    const auto& map = config_.map;
    if (offset == map.dispatch_enable) {
        access_word(dispatch_, value, writes, 1);
        if (writes && dispatch_ == 0) clear_counters();
    } else if (offset == map.max_size)
        return read_only(config_.max_size, value, writes);
    else if (offset == map.rkey)
        access_word(rkey_, value, writes);
    else if (offset == map.lkey)
        access_word(lkey_, value, writes);
    else if (offset == map.sqpn)
        access_word(sqpn_, value, writes, qpn_mask);
    else if (offset == map.dqpn)
        access_word(dqpn_, value, writes, dqpn_mask);
    else if (offset == map.remote_address || offset == map.remote_address + 4)
        access_word(remote_address_[(offset - map.remote_address) / 4], value, writes);
    else if (offset == map.address_wrap_count)
        access_word(wrap_, value, writes);
    else
        return access_core_counters(offset, value, writes);
    return bus_response::ok;
}

bus_response slac_board::access_core_counters(std::uint32_t offset, std::uint32_t& value, bool writes) {
    const auto& map = config_.map;
    if (offset == map.reset_counters) {
        access_word(reset_counters_, value, writes, 1);
        if (reset_counters_ != 0) clear_counters();
        return bus_response::ok;
    }
    if (offset == map.success_counter) return read_only(success_, value, writes);
    if (offset == map.unsuccess_counter) return read_only(unsuccess_, value, writes);
    if (offset == map.oversize_count) return read_only(oversize_, value, writes);
    if (offset < map.monitor_frames || offset - map.monitor_frames >= monitor_size)
        return bus_response::decode_error;
    const auto frame_bytes = running_ ? running_->payload_bytes : 0;
    if (offset == map.monitor_frames) return read_only(low(frames_), value, writes);
    if (offset == map.monitor_frames + 4) return read_only(high(frames_), value, writes);
    if (offset == map.monitor_rate) return read_only(rate_, value, writes);
    if (offset == map.monitor_rate + 4) return read_only(rate_max_, value, writes);
    if (offset == map.monitor_rate + 8) return read_only(rate_min_, value, writes);
    if (offset == map.monitor_bandwidth) return read_only(low(bandwidth_), value, writes);
    if (offset == map.monitor_bandwidth + 4) return read_only(high(bandwidth_), value, writes);
    return read_only(offset >= map.monitor_frame_size ? frame_bytes : 0, value, writes);
}

bus_response slac_board::access_udp(std::uint32_t offset, std::uint32_t& value, bool writes) {
    const bool is_port = offset % 8 == 0;
    access_word(udp_[offset / 4], value, writes, is_port ? 0xFFFF : 0xFFFF'FFFF);
    return bus_response::ok;
}

bus_response slac_board::access_prbs(std::uint32_t offset, std::uint32_t& value, bool writes) {
    switch (offset) {
    case 0x00:
        access_word(prbs_.control, value, writes, prbs_writable);
        if (!writes && running_) value |= slac_prbs::busy;
        break;
    case 0x04:
        access_word(prbs_.packet_length, value, writes);
        break;
    case 0x08:
        access_word(prbs_.ids, value, writes, 0xFFFF);
        break;
    case 0x0C: // DataCount
    case 0x10: // EventCount
    case 0x24: // FrameCnt
        return read_only(low(frames_), value, writes);
    case 0x1C:
        access_word(prbs_.trigger_delay, value, writes);
        break;
    case 0x20:
        return read_only(config_.word_bits, value, writes);
    case 0x18: // OneShot
    case 0xFC: // CountReset
        return read_only(0, value, writes);
    default:
        return bus_response::decode_error;
    }
    return bus_response::ok;
}

void slac_board::clear_counters() {
    success_ = unsuccess_ = oversize_ = 0;
    was_oversize_ = was_without_region_ = false;
}

void slac_board::reset_registers() {
    send_ = reset_ = 0;
    tx_ = {};
    rx_ = {};
    busy_ = wedged_ = received_ = false;
    next_reply_.reset();
    dispatch_ = rkey_ = lkey_ = sqpn_ = dqpn_ = wrap_ = reset_counters_ = 0;
    remote_address_ = {};
    clear_counters();
    frames_ = bandwidth_ = 0;
    rate_ = rate_max_ = rate_min_ = 0;
    dcqcn_ = {};
    std::ranges::fill(udp_, 0U);
    prbs_ = {.control = slac_prbs::axi_enable,
             .packet_length = std::max(config_.payload_bytes / (config_.word_bits / 8), 1U) - 1};
}

void slac_board::power_cycle(bool stale) {
    reset_registers();
    if (!stale) clear_objects();
    update();
}

void slac_board::count(const slac_sent& sent) {
    success_ = low(success_ + sent.frames) & counter_mask;
    unsuccess_ = low(unsuccess_ + sent.failed) & counter_mask;
    frames_ += sent.frames;
    rate_ = sent.frames_per_second;
    rate_max_ = std::max(rate_max_, rate_);
    rate_min_ = rate_min_ == 0 ? rate_ : std::min(rate_min_, rate_);
    bandwidth_ = sent.bytes_per_second;
}

// ---- The data path

const slac_board::region* slac_board::find_region(std::uint32_t lkey) const noexcept {
    for (const auto& r : regions_)
        if (r && r->lkey == lkey) return &*r;
    return nullptr;
}

std::optional<slac_stream> slac_board::wanted() {
    const bool sends = !config_.prbs_present || (prbs_.control & slac_prbs::tx_enable) != 0;
    if (dispatch_ == 0 || !sends || !pair_ || pair_->attributes.state != slac_qp_state::rts) return {};
    const auto* const memory = find_region(lkey_);
    if (memory == nullptr) {
        if (!std::exchange(was_without_region_, true)) unsuccess_ = (unsuccess_ + 1) & counter_mask;
        return {};
    }
    const auto& a = pair_->attributes;
    slac_stream s;
    s.fpga_qpn = pair_->qpn;
    s.host_qpn = low(a.dqpn);
    s.sq_psn = low(a.sq_psn);
    s.rq_psn = low(a.rq_psn);
    s.path_mtu = low(a.path_mtu);
    s.timeout = low(a.timeout);
    s.min_rnr_timer = low(a.min_rnr_timer);
    s.retry_count = low(a.retry_count);
    s.rnr_retry = low(a.rnr_retry);
    s.lkey = lkey_;
    s.region_address = memory->address;
    s.region_length = memory->length;
    const auto port = udp_[2 * config_.udp_client];
    s.host_port = static_cast<std::uint16_t>(port << 8 | port >> 8);
    const auto ip = udp_[2 * config_.udp_client + 1];
    s.host_ip = ip << 24 | (ip & 0xFF00) << 8 | (ip >> 8 & 0xFF00) | ip >> 24;
    s.counter_wrap = wrap_;
    s.word_bits = config_.word_bits;
    s.trigger_delay = config_.prbs_present ? prbs_.trigger_delay : 0;
    s.clock_hz = config_.clock_hz;
    const auto bytes_wanted = config_.prbs_present
                                  ? (std::uint64_t{prbs_.packet_length} + 1) * (config_.word_bits / 8)
                                  : config_.payload_bytes;
    const auto most = std::min(config_.max_size, bytes(static_cast<mtu>(s.path_mtu)));
    if (bytes_wanted > most) {
        if (!std::exchange(was_oversize_, true)) oversize_ = (oversize_ + 1) & counter_mask;
        return {};
    }
    was_oversize_ = false;
    s.payload_bytes = low(bytes_wanted);
    return s;
}

/// What the registers now say takes effect.
void slac_board::update() {
    auto next = wanted();
    if (next == running_) return;
    if (std::exchange(running_, std::nullopt)) port_.stop();
    running_ = next;
    if (running_) port_.start(*running_);
}

} // namespace rocio::fpga

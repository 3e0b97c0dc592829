#include "fpga/byte_order.hpp"

#include <rocio/fpga/rssi_segment.hpp>

#include <algorithm>

namespace rocio::fpga {

namespace {

using detail::load_big;
using detail::store_big;

constexpr std::uint8_t syn_flag = 0x80, ack_flag = 0x40, rst_flag = 0x10, nul_flag = 0x08, busy_flag = 0x01;
constexpr std::uint8_t version = 1, always_set = 0x08, checksum_flag = 0x04;
constexpr std::uint8_t milliseconds = 3; ///< Times are in 10^-3 s.
/// A packetizer's header and tail around one word.
constexpr std::size_t least_payload = 24;

std::uint16_t checksum(std::span<const std::byte> words) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i + 1 < words.size(); i += 2) sum += load_big<std::uint16_t>(words.subspan(i));
    return static_cast<std::uint16_t>(~((sum & 0xFFFF) + (sum >> 16)));
}

std::uint8_t octet(std::span<const std::byte> bytes, std::size_t at) {
    return static_cast<std::uint8_t>(bytes[at]);
}

std::uint8_t flags_of(const rssi_header& h) {
    return static_cast<std::uint8_t>((h.syn ? syn_flag : 0) | (h.ack ? ack_flag : 0) |
                                     (h.rst ? rst_flag : 0) | (h.nul ? nul_flag : 0) |
                                     (h.busy ? busy_flag : 0));
}

void store_parameters(std::span<std::byte> out, const rssi_parameters& p) {
    out[4] = std::byte(version << 4 | always_set | checksum_flag);
    out[5] = std::byte(p.max_outstanding);
    store_big(out.subspan(6), p.max_segment);
    store_big(out.subspan(8), p.retransmit_timeout);
    store_big(out.subspan(10), p.cumulative_ack_timeout);
    store_big(out.subspan(12), p.null_timeout);
    out[14] = std::byte(p.max_retransmits);
    out[15] = std::byte(p.max_cumulative_acks);
    out[17] = std::byte(milliseconds);
    out[18] = std::byte(p.connection_id);
}

rssi_parameters load_parameters(std::span<const std::byte> in) {
    rssi_parameters p;
    p.max_outstanding = octet(in, 5);
    p.max_segment = load_big<std::uint16_t>(in.subspan(6));
    p.retransmit_timeout = load_big<std::uint16_t>(in.subspan(8));
    p.cumulative_ack_timeout = load_big<std::uint16_t>(in.subspan(10));
    p.null_timeout = load_big<std::uint16_t>(in.subspan(12));
    p.max_retransmits = octet(in, 14);
    p.max_cumulative_acks = octet(in, 15);
    p.connection_id = octet(in, 18);
    return p;
}

} // namespace

bool usable(const rssi_parameters& p) {
    return p.max_outstanding != 0 && p.max_segment >= rssi_header_bytes + least_payload &&
           p.retransmit_timeout != 0 && p.null_timeout >= 3 && p.max_retransmits != 0;
}

void encode(std::span<std::byte> out, const rssi_header& header) {
    const auto mine = out.first(header.size());
    std::fill(mine.begin(), mine.end(), std::byte{});
    mine[0] = std::byte(flags_of(header));
    mine[1] = std::byte(static_cast<std::uint8_t>(header.size()));
    mine[2] = std::byte(header.sequence);
    mine[3] = std::byte(header.acknowledge);
    if (header.syn) store_parameters(mine, header.parameters);
    store_big(mine.last(2), checksum(mine.first(mine.size() - 2)));
}

std::optional<rssi_header> parse_rssi(std::span<const std::byte> segment) {
    if (segment.size() < rssi_header_bytes) return std::nullopt;
    const auto flags = octet(segment, 0);
    rssi_header h;
    h.syn = (flags & syn_flag) != 0;
    h.ack = (flags & ack_flag) != 0;
    h.rst = (flags & rst_flag) != 0;
    h.nul = (flags & nul_flag) != 0;
    h.busy = (flags & busy_flag) != 0;
    if (h.syn + h.rst + h.nul > 1) return std::nullopt;
    if (octet(segment, 1) != h.size() || segment.size() < h.size()) return std::nullopt;
    const auto mine = segment.first(h.size());
    if (load_big<std::uint16_t>(mine.last(2)) != checksum(mine.first(mine.size() - 2))) return std::nullopt;
    h.sequence = octet(segment, 2);
    h.acknowledge = octet(segment, 3);
    if (!h.syn) return h;
    if (octet(segment, 4) >> 4 != version || octet(segment, 17) != milliseconds) return std::nullopt;
    h.parameters = load_parameters(segment);
    return h;
}

} // namespace rocio::fpga

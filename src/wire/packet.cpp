#include "wire/byte_order.hpp"

#include <rocio/wire/packet.hpp>

#include <algorithm>
#include <cassert>
#include <cstring>

namespace rocio::wire {

namespace {

template <class Header>
Header header_at(std::span<const std::byte> bytes, std::size_t offset) noexcept {
    return Header::parse(bytes.subspan(offset).first<Header::size>());
}

std::size_t payload_offset(opcode op) noexcept {
    return bth::size + op.extension_size();
}

} // namespace

std::string_view to_string(malformed m) noexcept {
    switch (m) {
    case malformed::none:
        return "well formed";
    case malformed::too_short:
        return "too short for its headers";
    case malformed::not_multiple_of_4:
        return "length is not a multiple of 4";
    case malformed::bad_version:
        return "transport header version is not 0";
    case malformed::unknown_opcode:
        return "unknown opcode";
    case malformed::pad_exceeds_payload:
        return "pad count exceeds the payload";
    case malformed::unexpected_payload:
        return "payload behind an opcode that carries none";
    }
    return "unknown reason";
}

malformed packet_view::parse(std::span<const std::byte> udp_payload, packet_view& out) noexcept {
    if (udp_payload.size() < bth::size + icrc_size) return malformed::too_short;
    if (udp_payload.size() % 4 != 0) return malformed::not_multiple_of_4;
    const auto header = bth::parse(udp_payload.first<bth::size>());
    if (header.version != 0) return malformed::bad_version;
    if (!header.op.known()) return malformed::unknown_opcode;
    const std::size_t around = payload_offset(header.op) + icrc_size;
    if (udp_payload.size() < around) return malformed::too_short;
    const std::size_t padded = udp_payload.size() - around;
    if (padded < header.pad) return malformed::pad_exceeds_payload;
    if (padded > 0 && !header.op.has_payload()) return malformed::unexpected_payload;
    out.bytes_ = udp_payload;
    out.bth_ = header;
    return malformed::none;
}

reth packet_view::reth() const noexcept {
    assert(op().has_reth());
    return header_at<wire::reth>(bytes_, bth::size);
}

aeth packet_view::aeth() const noexcept {
    assert(op().has_aeth());
    return header_at<wire::aeth>(bytes_, bth::size);
}

immediate packet_view::immediate() const noexcept {
    assert(op().has_immediate());
    return header_at<wire::immediate>(bytes_, payload_offset(op()) - wire::immediate::size);
}

deth packet_view::deth() const noexcept {
    assert(op().has_deth());
    return header_at<wire::deth>(bytes_, bth::size);
}

atomic_eth packet_view::atomic_eth() const noexcept {
    assert(op().has_atomic_eth());
    return header_at<wire::atomic_eth>(bytes_, bth::size);
}

atomic_ack_eth packet_view::atomic_ack_eth() const noexcept {
    assert(op().has_atomic_ack_eth());
    return header_at<wire::atomic_ack_eth>(bytes_, bth::size + wire::aeth::size);
}

ieth packet_view::ieth() const noexcept {
    assert(op().has_ieth());
    return header_at<wire::ieth>(bytes_, bth::size);
}

std::uint32_t packet_view::icrc() const noexcept {
    return load_little32(bytes_.data() + bytes_.size() - icrc_size);
}

std::size_t encode(const packet_view& packet, std::span<std::byte> out) noexcept {
    const auto op = packet.op();
    header_bytes headers;
    headers.append(packet.bth());
    if (op.has_deth()) headers.append(packet.deth());
    if (op.has_reth()) headers.append(packet.reth());
    if (op.has_aeth()) headers.append(packet.aeth());
    if (op.has_atomic_eth()) headers.append(packet.atomic_eth());
    if (op.has_atomic_ack_eth()) headers.append(packet.atomic_ack_eth());
    if (op.has_immediate()) headers.append(packet.immediate());
    if (op.has_ieth()) headers.append(packet.ieth());

    // The pad is copied, not zeroed: rdma_rxe sends and accepts other bytes there
    // (peer_rc_bad_pad_count_malformed).
    const std::size_t body = packet.payload().size() + packet.bth().pad;
    const std::size_t total = headers.size() + body;
    if (out.size() < total) return 0;
    std::ranges::copy(headers.bytes(), out.begin());
    if (body != 0) std::memcpy(out.data() + headers.size(), packet.payload().data(), body);
    return total;
}

} // namespace rocio::wire

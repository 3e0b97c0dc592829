#include "transport/segmentation.hpp"

#include <bit>

namespace rocio::transport {

namespace {

wire::opcode send_opcode(const send_entry& e, std::uint32_t packet) noexcept {
    if (e.packets == 1) return e.has_immediate() ? wire::rc::send_only_with_immediate : wire::rc::send_only;
    if (e.is_last(packet))
        return e.has_immediate() ? wire::rc::send_last_with_immediate : wire::rc::send_last;
    return packet == 0 ? wire::rc::send_first : wire::rc::send_middle;
}

} // namespace

segmentation::segmentation(qpn peer, mtu path_mtu) noexcept
    : peer_(peer), shift_(static_cast<std::uint32_t>(std::countr_zero(bytes(path_mtu)))) {}

std::uint32_t segmentation::packets_of(std::size_t message_bytes) const noexcept {
    if (message_bytes == 0) return 1;
    return static_cast<std::uint32_t>((message_bytes - 1) >> shift_) + 1;
}

std::uint32_t segmentation::datagram_bytes(const send_entry& e, std::uint32_t packet) const noexcept {
    const std::uint32_t payload = payload_bytes(e, packet);
    const std::size_t immediate = e.has_immediate() && e.is_last(packet) ? wire::immediate::size : 0;
    return static_cast<std::uint32_t>(wire::bth::size + immediate + payload + wire::pad_of(payload) +
                                      wire::icrc_size);
}

void segmentation::cut(const send_entry& e, std::uint32_t packet, psn sequence, bool ask,
                       packet_out& out) const noexcept {
    const std::uint32_t payload = payload_bytes(e, packet);
    const bool last = e.is_last(packet);
    wire::bth h;
    h.op = send_opcode(e, packet);
    h.solicited = last && e.solicited;
    h.pad = wire::pad_of(payload);
    h.destination = peer_;
    h.ack_request = ask;
    h.sequence = sequence;
    out.header.clear();
    out.header.append(h);
    if (last && e.has_immediate()) out.header.append(wire::immediate{e.immediate});
    out.payload = {e.buffer.data + (std::size_t{packet} << shift_), payload};
}

} // namespace rocio::transport

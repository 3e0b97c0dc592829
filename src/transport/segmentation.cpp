#include "transport/segmentation.hpp"

#include <algorithm>
#include <bit>

namespace rocio::transport {

namespace {

std::uint8_t rc_operation(const send_entry& e, std::uint32_t packet) noexcept {
    using namespace wire::rc;
    const bool imm = e.has_immediate();
    const bool write = e.is_write();
    if (e.packets == 1)
        return (write ? imm ? write_only_with_immediate : write_only
                : imm ? send_only_with_immediate
                      : send_only)
            .value();
    if (e.is_last(packet))
        return (write ? imm ? write_last_with_immediate : write_last
                : imm ? send_last_with_immediate
                      : send_last)
            .value();
    if (packet == 0) return (write ? write_first : send_first).value();
    return (write ? write_middle : send_middle).value();
}

constexpr std::uint8_t service_shift = 5;

} // namespace

segmentation::segmentation(qpn peer, mtu path_mtu, wire::service service) noexcept
    : peer_(peer), shift_(static_cast<std::uint32_t>(std::countr_zero(bytes(path_mtu)))), service_(service) {}

std::uint32_t segmentation::packets_of(std::size_t message_bytes) const noexcept {
    if (message_bytes == 0) return 1;
    return static_cast<std::uint32_t>((message_bytes - 1) >> shift_) + 1;
}

std::uint32_t segmentation::datagram_bytes(const send_entry& e, std::uint32_t packet) const noexcept {
    const std::uint32_t payload = payload_bytes(e, packet);
    std::size_t extensions = 0;
    if (e.is_read()) extensions += wire::aeth::size; // MIDDLE has none, but the difference costs nothing
    if (e.is_write() && packet == 0) extensions += wire::reth::size;
    if (e.has_immediate() && e.is_last(packet)) extensions += wire::immediate::size;
    return static_cast<std::uint32_t>(wire::bth::size + extensions + payload + wire::pad_of(payload) +
                                      wire::icrc_size);
}

std::uint32_t segmentation::chunk_end(const send_entry& e, std::uint32_t packet) const noexcept {
    return std::min(e.packets, packet - packet % read_chunk_ + read_chunk_);
}

std::uint32_t segmentation::chunks_ending(const send_entry& e, std::uint32_t from,
                                          std::uint32_t to) const noexcept {
    const bool last_ends = to == e.packets && to % read_chunk_ != 0;
    return to / read_chunk_ - from / read_chunk_ + (last_ends ? 1 : 0);
}

void segmentation::cut_read(const send_entry& e, std::uint32_t packet, wire::bth h,
                            packet_out& out) const noexcept {
    const std::uint32_t begin = packet << shift_;
    const std::uint32_t end =
        chunk_end(e, packet) == e.packets ? e.buffer.size : chunk_end(e, packet) << shift_;
    h.op = wire::rc::read_request;
    h.ack_request = true;
    out.header.append(h);
    out.header.append(wire::reth{e.remote_address + begin, e.remote_key, end - begin});
    out.payload = {};
}

void segmentation::cut(const send_entry& e, std::uint32_t packet, psn sequence, bool ask,
                       packet_out& out) const noexcept {
    wire::bth h;
    h.destination = peer_;
    h.ack_request = ask;
    h.sequence = sequence;
    out.header.clear();
    if (e.is_read()) return cut_read(e, packet, h, out);

    const std::uint32_t payload = payload_bytes(e, packet);
    const bool last = e.is_last(packet);
    h.op = wire::opcode(static_cast<std::uint8_t>(static_cast<std::uint8_t>(service_) << service_shift |
                                                  rc_operation(e, packet)));
    // A plain WRITE completes nothing at the peer, so there is nobody to solicit (IBA 9.2.3).
    h.solicited = last && e.solicited && e.op != opcode::rdma_write;
    h.pad = wire::pad_of(payload);
    out.header.append(h);
    if (e.is_write() && packet == 0)
        out.header.append(wire::reth{e.remote_address, e.remote_key, e.buffer.size});
    if (last && e.has_immediate()) out.header.append(wire::immediate{e.immediate});
    out.payload = {e.buffer.data + (std::size_t{packet} << shift_), payload};
}

} // namespace rocio::transport

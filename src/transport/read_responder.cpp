#include "transport/read_responder.hpp"

#include <algorithm>

namespace rocio::transport {

namespace {

wire::opcode response_opcode(bool starts, bool ends) noexcept {
    if (starts) return ends ? wire::rc::read_response_only : wire::rc::read_response_first;
    return ends ? wire::rc::read_response_last : wire::rc::read_response_middle;
}

} // namespace

void read_responder::connect(qpn peer, std::uint32_t path_mtu) noexcept {
    peer_ = peer;
    path_mtu_ = path_mtu;
}

bool read_responder::has_room() const noexcept {
    return depth_ != 0 && (!reads_.full() || reads_.front().answered);
}

std::uint32_t read_responder::packets_of(std::uint32_t length) const noexcept {
    return length == 0 ? 1 : (length - 1) / path_mtu_ + 1;
}

void read_responder::add(psn first, const wire::reth& request, std::uint32_t msn) noexcept {
    if (reads_.full()) reads_.pop();
    reads_.push() = {first, request, msn, 0, 0, packets_of(request.length), request.length, false};
}

bool read_responder::repeat(psn at, const wire::reth& request) noexcept {
    for (std::uint64_t i = reads_.end_index(); i != reads_.begin_index(); --i) {
        read& r = reads_[i - 1];
        const std::int32_t packet = distance(r.first, at);
        if (packet < 0 || static_cast<std::uint32_t>(packet) >= packets_of(r.request.length)) continue;
        const auto from = static_cast<std::uint32_t>(packet);
        const std::uint32_t offset = from * path_mtu_;
        const bool within = request.key == r.request.key && request.address == r.request.address + offset &&
                            request.length <= r.request.length - offset;
        if (!within) return false;
        if (r.owes() && r.next <= from) return true;
        r.begin = r.next = from;
        r.end = from + packets_of(request.length);
        r.length = offset + request.length;
        return true;
    }
    return false;
}

std::uint64_t read_responder::owed() const noexcept {
    std::uint64_t sum = 0;
    for (std::uint64_t i = reads_.begin_index(); i != reads_.end_index(); ++i)
        sum += reads_[i].end - reads_[i].next;
    return sum;
}

void read_responder::write(const read& r, std::uint32_t packet, std::span<std::byte> memory,
                           packet_out& out) const noexcept {
    const bool ends = packet + 1 == r.end;
    const std::uint32_t payload = ends ? r.length - packet * path_mtu_ : path_mtu_;
    wire::bth h;
    h.op = response_opcode(packet == r.begin, ends);
    h.pad = wire::pad_of(payload);
    h.destination = peer_;
    h.sequence = r.first + packet;
    out.header.clear();
    out.header.append(h);
    if (h.op.has_aeth()) out.header.append(wire::aeth::ack(r.msn));
    out.segment = 0;
    out.payload = payload == 0 ? std::span<std::byte>{}
                               : memory.subspan(std::size_t{packet - r.next} * path_mtu_, payload);
}

std::size_t read_responder::fill_from(const read& r, std::span<packet_out> out,
                                      const memory_region_table& regions, bool& memory_gone) const noexcept {
    const std::uint32_t offset = r.next * path_mtu_;
    const auto memory = regions.check_remote(r.request.key, r.request.address + offset, r.length - offset,
                                             memory_access::remote_read);
    memory_gone = !memory;
    if (memory_gone) return 0;
    const auto n = static_cast<std::uint32_t>(std::min<std::size_t>(out.size(), r.end - r.next));
    for (std::uint32_t i = 0; i < n; ++i) write(r, r.next + i, *memory, out[i]);
    return n;
}

std::size_t read_responder::fill(std::span<packet_out> out, const memory_region_table& regions) noexcept {
    refused_.reset();
    std::size_t n = 0;
    for (std::uint64_t i = reads_.begin_index(); i != reads_.end_index() && n < out.size(); ++i) {
        const read& r = reads_[i];
        if (!r.owes()) continue;
        bool memory_gone = false;
        n += fill_from(r, out.subspan(n), regions, memory_gone);
        if (!memory_gone) continue;
        if (n == 0) refused_ = r.first + r.next;
        break;
    }
    return n;
}

std::uint64_t read_responder::commit(std::size_t n) noexcept {
    std::uint64_t bytes = 0;
    for (std::uint64_t i = reads_.begin_index(); n != 0 && i != reads_.end_index(); ++i) {
        read& r = reads_[i];
        if (!r.owes()) continue;
        const auto sent = static_cast<std::uint32_t>(std::min<std::size_t>(n, r.end - r.next));
        bytes += r.offset(r.next + sent, path_mtu_) - r.offset(r.next, path_mtu_);
        r.next += sent;
        r.answered = r.answered || !r.owes();
        n -= sent;
    }
    return bytes;
}

void read_responder::drop_owed() noexcept {
    for (std::uint64_t i = reads_.begin_index(); i != reads_.end_index(); ++i) reads_[i].next = reads_[i].end;
}

} // namespace rocio::transport

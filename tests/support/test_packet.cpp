#include "test_packet.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace rocio::test {

namespace {

void append(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
    to.insert(to.end(), bytes.begin(), bytes.end());
}

void finish(std::vector<std::byte>& bytes, std::span<const std::byte> payload) {
    append(bytes, payload);
    bytes.resize(bytes.size() + wire::pad_of(payload.size()) + wire::icrc_size);
}

std::string hex(std::uint32_t value) {
    char text[16];
    std::snprintf(text, sizeof text, "0x%x", value);
    return text;
}

std::uint32_t checksum(std::span<const std::byte> bytes) {
    return std::accumulate(bytes.begin(), bytes.end(), 2166136261U, [](std::uint32_t h, std::byte b) {
        return (h ^ std::to_integer<std::uint32_t>(b)) * 16777619U;
    });
}

} // namespace

std::string test_packet::text() const {
    std::string s = std::string(op.name()) + " #" + std::to_string(index);
    if (ask) s += " asks";
    if (solicited) s += " solicits";
    if (op.has_reth())
        s += " at " + std::to_string(remote.address) + " key=" + hex(remote.key.value) +
             " of=" + std::to_string(remote.length);
    if (op.has_immediate()) s += " immediate=" + hex(immediate);
    if (op.has_aeth()) s += " syndrome=" + hex(answer.syndrome) + " msn=" + std::to_string(answer.msn);
    if (op.has_payload()) s += " length=" + std::to_string(payload.size()) + " sum=" + hex(checksum(payload));
    return s;
}

std::vector<std::byte> encode(const test_packet& p, qpn destination, psn sequence) {
    wire::bth h;
    h.op = p.op;
    h.solicited = p.solicited;
    h.pad = wire::pad_of(p.payload.size());
    h.destination = destination;
    h.ack_request = p.ask;
    h.sequence = sequence;
    wire::header_bytes headers;
    headers.append(h);
    if (p.op.has_reth()) headers.append(p.remote);
    if (p.op.has_aeth()) headers.append(p.answer);
    if (p.op.has_atomic_eth()) headers.append(wire::atomic_eth{});
    if (p.op.has_atomic_ack_eth()) headers.append(wire::atomic_ack_eth{});
    if (p.op.has_immediate()) headers.append(wire::immediate{p.immediate});
    if (p.op.has_ieth()) headers.append(wire::ieth{});
    std::vector<std::byte> bytes;
    append(bytes, headers.bytes());
    finish(bytes, p.payload);
    return bytes;
}

std::vector<std::byte> encode(const transport::packet_out& p) {
    std::vector<std::byte> bytes;
    append(bytes, p.header.bytes());
    finish(bytes, p.payload);
    return bytes;
}

test_packet decode(const wire::packet_view& view, psn first) {
    test_packet p = packet(view.op(), (view.bth().sequence.value() - first.value()) & psn::mask);
    p.ask = view.bth().ack_request;
    p.solicited = view.bth().solicited;
    if (view.op().has_immediate()) p.immediate = view.immediate().value;
    if (view.op().has_reth()) p.remote = view.reth();
    if (view.op().has_aeth()) p.answer = view.aeth();
    p.payload.assign(view.payload().begin(), view.payload().end());
    return p;
}

} // namespace rocio::test

#pragma once

#include "test_bytes.hpp"

#include <rocio/transport/queue_pair.hpp>
#include <rocio/wire/packet.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rocio::test {

/// A packet as a script writes it: `index` counts from the first PSN of its direction, so one script runs
/// anywhere on the ring.
struct test_packet {
    wire::opcode op{};
    std::uint32_t index = 0;
    bool ask = false;
    bool solicited = false;
    std::uint32_t immediate = 0;
    wire::aeth answer{};
    wire::reth remote{};
    std::vector<std::byte> payload{};

    test_packet asking() const {
        return with([](test_packet& p) { p.ask = true; });
    }
    test_packet soliciting() const {
        return with([](test_packet& p) { p.solicited = true; });
    }
    test_packet with_immediate(std::uint32_t value) const {
        return with([&](test_packet& p) { p.immediate = value; });
    }
    /// Bytes [from, from + length) of message `seed`.
    test_packet carrying(std::uint32_t seed, std::size_t from, std::size_t length) const {
        return with([&](test_packet& p) { p.payload = message_bytes(seed, from, length); });
    }

    test_packet at(std::uint64_t address, std::uint32_t key, std::uint32_t length) const {
        return with([&](test_packet& p) { p.remote = {address, rkey{key}, length}; });
    }
    /// The same packet of an unreliable connection.
    test_packet on_uc() const {
        return with(
            [](test_packet& p) { p.op = wire::opcode(static_cast<std::uint8_t>(p.op.value() | 0x20)); });
    }

    bool is_answer() const {
        return op == wire::rc::acknowledge || op.what() == wire::operation::read_response;
    }
    std::string text() const;

  private:
    template <class F>
    test_packet with(F change) const {
        test_packet p = *this;
        change(p);
        return p;
    }
};

inline test_packet packet(wire::opcode op, std::uint32_t index) {
    test_packet p;
    p.op = op;
    p.index = index;
    return p;
}
inline test_packet send_first(std::uint32_t index) {
    return packet(wire::rc::send_first, index);
}
inline test_packet send_middle(std::uint32_t index) {
    return packet(wire::rc::send_middle, index);
}
inline test_packet send_last(std::uint32_t index) {
    return packet(wire::rc::send_last, index);
}
inline test_packet send_only(std::uint32_t index) {
    return packet(wire::rc::send_only, index);
}
inline test_packet send_last_with_immediate(std::uint32_t index, std::uint32_t value) {
    return packet(wire::rc::send_last_with_immediate, index).with_immediate(value);
}
inline test_packet send_only_with_immediate(std::uint32_t index, std::uint32_t value) {
    return packet(wire::rc::send_only_with_immediate, index).with_immediate(value);
}

inline test_packet write_first(std::uint32_t index) {
    return packet(wire::rc::write_first, index);
}
inline test_packet write_middle(std::uint32_t index) {
    return packet(wire::rc::write_middle, index);
}
inline test_packet write_last(std::uint32_t index) {
    return packet(wire::rc::write_last, index);
}
inline test_packet write_only(std::uint32_t index) {
    return packet(wire::rc::write_only, index);
}
inline test_packet write_last_with_immediate(std::uint32_t index, std::uint32_t value) {
    return packet(wire::rc::write_last_with_immediate, index).with_immediate(value);
}
inline test_packet write_only_with_immediate(std::uint32_t index, std::uint32_t value) {
    return packet(wire::rc::write_only_with_immediate, index).with_immediate(value);
}
inline test_packet read_request(std::uint32_t index) {
    return packet(wire::rc::read_request, index).asking();
}
inline test_packet read_response(wire::opcode op, std::uint32_t index, std::uint32_t msn) {
    test_packet p = packet(op, index);
    if (op.has_aeth()) p.answer = wire::aeth::ack(msn);
    return p;
}

inline test_packet answer(std::uint32_t index, wire::aeth a) {
    test_packet p = packet(wire::rc::acknowledge, index);
    p.answer = a;
    return p;
}
inline test_packet ack(std::uint32_t index, std::uint32_t msn) {
    return answer(index, wire::aeth::ack(msn));
}
inline test_packet rnr_nak(std::uint32_t index, std::uint8_t timer, std::uint32_t msn) {
    return answer(index, wire::aeth::rnr(timer, msn));
}
inline test_packet nak(std::uint32_t index, wire::nak_code code, std::uint32_t msn) {
    return answer(index, wire::aeth::nak(code, msn));
}
inline test_packet sequence_nak(std::uint32_t index, std::uint32_t msn) {
    return nak(index, wire::nak_code::psn_sequence_error, msn);
}

/// UDP payload of a packet; the ICRC is four zero bytes.
std::vector<std::byte> encode(const test_packet& p, qpn destination, psn sequence);
std::vector<std::byte> encode(const transport::packet_out& p);

/// Reads a packet back; `first` is the PSN that index 0 has.
test_packet decode(const wire::packet_view& view, psn first);

} // namespace rocio::test

#include "transport/opcode_sequence.hpp"

namespace rocio::transport {

namespace {

// Operations 0..5 are the SENDs and 6..11 the WRITEs, in the same order (IBA table 38).
constexpr std::uint8_t operations_per_kind = 6;

constexpr request_shape by_order[operations_per_kind] = {
    {message_kind::send, packet_place::first, false}, {message_kind::send, packet_place::middle, false},
    {message_kind::send, packet_place::last, false},  {message_kind::send, packet_place::last, true},
    {message_kind::send, packet_place::only, false},  {message_kind::send, packet_place::only, true},
};

} // namespace

std::optional<request_shape> shape_of(wire::opcode op) noexcept {
    if (op.type() != wire::service::rc && op.type() != wire::service::uc) return std::nullopt;
    const std::uint8_t operation = op.value() & 0x1F;
    if (operation >= 2 * operations_per_kind) return std::nullopt;
    request_shape shape = by_order[operation % operations_per_kind];
    if (operation >= operations_per_kind) shape.kind = message_kind::rdma_write;
    return shape;
}

bool length_fits(packet_place place, std::size_t payload, std::uint32_t path_mtu) noexcept {
    if (payload > path_mtu) return false;
    switch (place) {
    case packet_place::first:
    case packet_place::middle:
        return payload == path_mtu;
    case packet_place::last:
        return payload > 0;
    case packet_place::only:
        break;
    }
    return true;
}

bool opcode_sequence::allows(const request_shape& next) const noexcept {
    if (starts_message(next.place)) return !open_;
    return open_ == next.kind;
}

void opcode_sequence::advance(const request_shape& next) noexcept {
    if (ends_message(next.place))
        open_.reset();
    else
        open_ = next.kind;
}

} // namespace rocio::transport

#pragma once

#include <rocio/wire/opcode.hpp>

#include <cstdint>
#include <optional>

namespace rocio::transport {

/// Which kind of message a request packet with payload belongs to.
enum class message_kind : std::uint8_t { send, rdma_write };

/// Where in its message a packet stands.
enum class packet_place : std::uint8_t { first, middle, last, only };

constexpr bool starts_message(packet_place p) noexcept {
    return p == packet_place::first || p == packet_place::only;
}
constexpr bool ends_message(packet_place p) noexcept {
    return p == packet_place::last || p == packet_place::only;
}

/// What a SEND or RDMA WRITE opcode of a reliable or unreliable connection says.
struct request_shape {
    message_kind kind = message_kind::send;
    packet_place place = packet_place::only;
    bool immediate = false;

    friend constexpr bool operator==(const request_shape&, const request_shape&) noexcept = default;
};

/// Nothing for any other operation: reads, atomics, responses, SEND with invalidate.
std::optional<request_shape> shape_of(wire::opcode op) noexcept;

/// Packet lengths of IBA 9.7.4.1.6: FIRST and MIDDLE fill the path MTU, LAST carries at least a byte.
bool length_fits(packet_place place, std::size_t payload, std::uint32_t path_mtu) noexcept;

/// Opcode follows opcode (IBA 9.7.4.1.2): a message is ONLY, or FIRST, any number of MIDDLE, LAST, all of one
/// kind, and no other starts in between.
class opcode_sequence {
  public:
    bool in_message() const noexcept { return open_.has_value(); }
    bool allows(const request_shape& next) const noexcept;
    /// `next` was allowed and accepted.
    void advance(const request_shape& next) noexcept;
    void reset() noexcept { open_.reset(); }

  private:
    std::optional<message_kind> open_;
};

} // namespace rocio::transport

#pragma once

#include "transport/send_queue.hpp"

#include <rocio/transport/queue_pair.hpp>

#include <cstdint>
#include <span>

namespace rocio::transport {

/// Cuts messages into packets of one path. Any packet of a message can be cut at any time, so a repetition
/// resumes in the middle with MIDDLE and LAST, never with a second FIRST.
class segmentation {
  public:
    segmentation() noexcept = default;
    segmentation(qpn peer, mtu path_mtu) noexcept;

    std::uint32_t path_mtu() const noexcept { return 1U << shift_; }
    /// At least one: a message of zero bytes is one ONLY packet.
    std::uint32_t packets_of(std::size_t message_bytes) const noexcept;

    std::uint32_t payload_bytes(const send_entry& e, std::uint32_t packet) const noexcept {
        return e.is_last(packet) ? e.buffer.size - (packet << shift_) : path_mtu();
    }
    /// UDP payload of that packet: BTH to ICRC.
    std::uint32_t datagram_bytes(const send_entry& e, std::uint32_t packet) const noexcept;

    void cut(const send_entry& e, std::uint32_t packet, psn sequence, bool ask,
             packet_out& out) const noexcept;

  private:
    qpn peer_{};
    std::uint32_t shift_ = 10;
};

} // namespace rocio::transport

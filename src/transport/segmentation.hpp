#pragma once

#include "transport/send_queue.hpp"

#include <rocio/transport/queue_pair.hpp>

#include <cstdint>
#include <span>

namespace rocio::transport {

/// Cuts messages into packets of one path. Any packet of a message can be cut at any time, so a repetition
/// resumes in the middle with MIDDLE and LAST, never with a second FIRST.
///
/// A READ is cut into requests of `read_chunk` response packets each. Their bounds depend on nothing but that
/// number: the peer remembers a READ by its request, and one that is asked for again must lie within one.
class segmentation {
  public:
    segmentation() noexcept = default;
    segmentation(qpn peer, mtu path_mtu, wire::service service = wire::service::rc) noexcept;

    std::uint32_t path_mtu() const noexcept { return 1U << shift_; }
    void set_read_chunk(std::uint32_t packets) noexcept { read_chunk_ = packets; }
    std::uint32_t read_chunk() const noexcept { return read_chunk_; }

    /// At least one: a message of zero bytes is one ONLY packet.
    std::uint32_t packets_of(std::size_t message_bytes) const noexcept;

    std::uint32_t payload_bytes(const send_entry& e, std::uint32_t packet) const noexcept {
        return e.is_last(packet) ? e.buffer.size - (packet << shift_) : path_mtu();
    }
    /// UDP payload of that packet, for a READ of that response: BTH to ICRC.
    std::uint32_t datagram_bytes(const send_entry& e, std::uint32_t packet) const noexcept;

    /// How many PSNs one packet sent for `packet` takes: 1; for a READ those up to the end of its chunk.
    std::uint32_t psns_of(const send_entry& e, std::uint32_t packet) const noexcept {
        return e.is_read() ? chunk_end(e, packet) - packet : 1;
    }
    bool starts_chunk(std::uint32_t packet) const noexcept { return packet % read_chunk_ == 0; }
    bool ends_chunk(const send_entry& e, std::uint32_t packet) const noexcept {
        return packet + 1 == chunk_end(e, packet);
    }
    /// How many READ requests end among the response packets [from, to).
    std::uint32_t chunks_ending(const send_entry& e, std::uint32_t from, std::uint32_t to) const noexcept;

    void cut(const send_entry& e, std::uint32_t packet, psn sequence, bool ask,
             packet_out& out) const noexcept;

  private:
    std::uint32_t chunk_end(const send_entry& e, std::uint32_t packet) const noexcept;
    void cut_read(const send_entry& e, std::uint32_t packet, wire::bth h, packet_out& out) const noexcept;

    qpn peer_{};
    std::uint32_t shift_ = 10;
    std::uint32_t read_chunk_ = 32;
    wire::service service_ = wire::service::rc;
};

} // namespace rocio::transport

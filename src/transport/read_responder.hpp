#pragma once

#include "transport/fixed_ring.hpp"

#include <rocio/transport/memory_region_table.hpp>
#include <rocio/transport/queue_pair.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace rocio::transport {

/// The READs of the peer: those whose responses are still to be sent, and answered ones that may be asked for
/// again (IBA 9.7.5.1.4). Nothing is copied: responses come from memory, at the time they leave.
class read_responder {
  public:
    explicit read_responder(std::uint32_t depth) : depth_(depth), reads_(depth == 0 ? 1 : depth) {}

    void connect(qpn peer, std::uint32_t path_mtu) noexcept;

    /// False when all remembered READs still wait for their responses: the peer has more under way than it
    /// may. One that was answered before and is asked for again gives its place: who sends a new READ has the
    /// responses of the oldest, and the repeated request was late on its way.
    bool has_room() const noexcept;
    /// A READ that was checked; all its responses are owed. `msn` counts it.
    void add(psn first, const wire::reth& request, std::uint32_t msn) noexcept;
    /// A READ request with an old PSN: owes its responses again if it is, or lies within, a remembered one.
    /// One that waits already is not owed twice.
    bool repeat(psn at, const wire::reth& request) noexcept;

    std::uint32_t packets_of(std::uint32_t length) const noexcept;
    std::uint64_t owed() const noexcept; ///< Response packets.

    /// Responses in the order of their PSNs. Stops at one whose memory is no longer there.
    std::size_t fill(std::span<packet_out> out, const memory_region_table& regions) noexcept;
    /// The first n of the last fill() have left; gives the bytes of their payload.
    std::uint64_t commit(std::size_t n) noexcept;
    /// The response at which the last fill() stopped, when it was the first owed.
    std::optional<psn> refused() const noexcept { return refused_; }
    void drop_owed() noexcept;

  private:
    struct read {
        psn first{};
        wire::reth request{};
        std::uint32_t msn = 0;
        // What is owed: packets [next, end) of an answer that began with packet `begin`, up to byte `length`.
        std::uint32_t begin = 0;
        std::uint32_t next = 0;
        std::uint32_t end = 0;
        std::uint32_t length = 0;
        bool answered = false; ///< All responses left at least once.

        bool owes() const noexcept { return next != end; }
        std::uint32_t offset(std::uint32_t packet, std::uint32_t path_mtu) const noexcept {
            return packet == end ? length : packet * path_mtu;
        }
    };
    std::size_t fill_from(const read& r, std::span<packet_out> out, const memory_region_table& regions,
                          bool& memory_gone) const noexcept;
    void write(const read& r, std::uint32_t packet, std::span<std::byte> memory,
               packet_out& out) const noexcept;

    std::uint32_t depth_;
    fixed_ring<read> reads_;
    qpn peer_{};
    std::uint32_t path_mtu_ = 0;
    std::optional<psn> refused_{};
};

} // namespace rocio::transport

#pragma once

#include "transport/acknowledger.hpp"
#include "transport/completion_ring.hpp"
#include "transport/fixed_ring.hpp"
#include "transport/opcode_sequence.hpp"
#include "transport/read_responder.hpp"
#include "transport/reassembly.hpp"
#include "transport/remote_write.hpp"

#include <rocio/transport/memory_region_table.hpp>
#include <rocio/transport/queue_pair.hpp>

#include <cstddef>
#include <span>

namespace rocio::transport {

/// The receiving half of a reliable connection: takes request packets in order, puts SENDs into posted
/// receives and WRITEs into regions, answers READs and owes the acknowledgements.
class responder {
  public:
    enum class verdict : std::uint8_t { carry_on, failed };

    responder(const queue_pair_config& config, const memory_region_table& regions,
              completion_ring& completions, queue_pair_counters& counters);

    void connect(const receive_path& path, memory_access granted) noexcept;

    std::size_t outstanding() const noexcept { return receives_.size() + (message_.active() ? 1 : 0); }
    void post(const receive_request& request) noexcept { receives_.push() = request; }

    /// After `failed` the receive in use, if any, has completed with its error, the refusal is owed to the
    /// peer, and the owner takes the queue pair to the error state.
    [[nodiscard]] verdict on_request(const wire::packet_view& packet) noexcept;

    bool wants_to_send() const noexcept { return reads_.owed() != 0 || answers_.owes(); }
    /// READ responses first: an acknowledgement that overtook them would say that they are lost.
    std::size_t fill(std::span<packet_out> out) noexcept;
    void commit(std::size_t n) noexcept;
    void withdraw_offer() noexcept { offered_responses_ = 0; }
    /// fill() came to a READ whose memory is no longer there: the peer is refused, and the owner takes the
    /// queue pair to the error state.
    [[nodiscard]] verdict check_reads() noexcept;
    bool access_violated() const noexcept { return access_violated_; }

    /// No READ is answered any more.
    void drop_reads() noexcept;
    void flush() noexcept;

  private:
    verdict on_expected(const wire::packet_view& packet) noexcept;
    verdict on_send(const wire::packet_view& packet, const request_shape& shape) noexcept;
    verdict on_write(const wire::packet_view& packet, const request_shape& shape) noexcept;
    verdict on_read(const wire::packet_view& packet) noexcept;
    void accept(const wire::packet_view& packet, const request_shape& shape) noexcept;
    verdict refuse(wire::nak_code code, errc status) noexcept;
    verdict refuse_access() noexcept;
    void complete_write(const wire::packet_view& packet) noexcept;

    const memory_region_table& regions_;
    completion_ring& completions_;
    queue_pair_counters& counters_;

    fixed_ring<receive_request> receives_;
    std::uint32_t path_mtu_ = 0;
    memory_access granted_ = memory_access::local_read;
    opcode_sequence sequence_{};
    reassembly message_{};
    remote_write write_{};
    read_responder reads_;
    acknowledger answers_{};
    std::size_t offered_responses_ = 0; ///< The first packets of the last fill() that are READ responses.
    bool access_violated_ = false;
};

} // namespace rocio::transport

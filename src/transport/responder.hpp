#pragma once

#include "transport/acknowledger.hpp"
#include "transport/completion_ring.hpp"
#include "transport/fixed_ring.hpp"
#include "transport/opcode_sequence.hpp"
#include "transport/reassembly.hpp"

#include <rocio/transport/memory_region_table.hpp>
#include <rocio/transport/queue_pair.hpp>

#include <cstddef>
#include <span>

namespace rocio::transport {

/// The receiving half of a reliable connection: takes request packets in order, puts SENDs into posted
/// receives and owes the answers.
class responder {
  public:
    enum class verdict : std::uint8_t { carry_on, failed };

    responder(const queue_pair_config& config, const memory_region_table& regions,
              completion_ring& completions, queue_pair_counters& counters);

    void connect(const receive_path& path) noexcept;

    std::size_t outstanding() const noexcept { return receives_.size() + (message_.active() ? 1 : 0); }
    void post(const receive_request& request) noexcept { receives_.push() = request; }

    /// After `failed` the receive in use, if any, has completed with its error, the refusal is owed to the
    /// peer, and the owner takes the queue pair to the error state.
    [[nodiscard]] verdict on_request(const wire::packet_view& packet) noexcept;

    bool wants_to_send() const noexcept { return answers_.owes(); }
    std::size_t fill(std::span<packet_out> out) const noexcept { return answers_.fill(out); }
    void commit(std::size_t n) noexcept { answers_.commit(n, counters_); }

    void flush() noexcept;

  private:
    verdict on_expected(const wire::packet_view& packet) noexcept;
    verdict refuse(wire::nak_code code, errc status) noexcept;
    void complete(const wire::packet_view& packet, const request_shape& shape) noexcept;

    const memory_region_table& regions_;
    completion_ring& completions_;
    queue_pair_counters& counters_;

    fixed_ring<receive_request> receives_;
    std::uint32_t path_mtu_ = 0;
    opcode_sequence sequence_{};
    reassembly message_{};
    acknowledger answers_{};
};

} // namespace rocio::transport

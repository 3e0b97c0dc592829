#pragma once

#include "transport/completion_ring.hpp"
#include "transport/fixed_ring.hpp"
#include "transport/opcode_sequence.hpp"
#include "transport/reassembly.hpp"
#include "transport/remote_write.hpp"

#include <rocio/transport/memory_region_table.hpp>
#include <rocio/transport/queue_pair.hpp>

#include <cstddef>

namespace rocio::transport {

/// The receiving half of an unreliable connection: whole messages or nothing, and everything that is dropped
/// is counted.
class uc_responder {
  public:
    enum class verdict : std::uint8_t { carry_on, failed };

    uc_responder(const queue_pair_config& config, const memory_region_table& regions,
                 completion_ring& completions, queue_pair_counters& counters);

    void connect(const receive_path& path, memory_access granted) noexcept;

    std::size_t outstanding() const noexcept { return receives_.size(); }
    void post(const receive_request& request) noexcept { receives_.push() = request; }

    /// After `failed` the receive in use has completed with its error, and the owner takes the queue pair to
    /// the error state.
    [[nodiscard]] verdict on_request(const wire::packet_view& packet) noexcept;

    void flush() noexcept;

  private:
    bool follows(psn sequence) noexcept;
    void interrupt() noexcept;
    void drop(std::uint64_t& reason) noexcept;
    verdict on_send(const wire::packet_view& packet, const request_shape& shape) noexcept;
    void on_write(const wire::packet_view& packet, const request_shape& shape) noexcept;
    void accept(const wire::packet_view& packet, const request_shape& shape) noexcept;
    void complete(work_completion c) noexcept;

    const memory_region_table& regions_;
    completion_ring& completions_;
    queue_pair_counters& counters_;

    fixed_ring<receive_request>
        receives_; ///< A message under way has the first one, which stays in its place.
    std::uint32_t path_mtu_ = 0;
    memory_access granted_ = memory_access::local_read;
    psn expected_{};
    opcode_sequence sequence_{};
    reassembly message_{};
    remote_write write_{};
};

} // namespace rocio::transport

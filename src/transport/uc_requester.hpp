#pragma once

#include "transport/packet_train.hpp"
#include "transport/psn_window.hpp"
#include "transport/segmentation.hpp"
#include "transport/send_queue.hpp"

#include <rocio/transport/memory_region_table.hpp>
#include <rocio/transport/queue_pair.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace rocio::transport {

/// The sending half of an unreliable connection: packet after packet, each once; a work request is done when
/// the link has its last packet.
class uc_requester {
  public:
    uc_requester(const queue_pair_config& config, const memory_region_table& regions,
                 completion_ring& completions, queue_pair_counters& counters);

    void connect(const segmentation& cutter, const send_path& path) noexcept;

    std::size_t outstanding() const noexcept { return queue_.size(); }
    void post(const send_request& request) noexcept;

    bool wants_to_send() const noexcept { return !queue_.empty(); }
    std::size_t fill(std::span<packet_out> out) noexcept;
    void commit(std::size_t n) noexcept;
    void withdraw_offer() noexcept { planned_ = 0; }
    void end_trains() noexcept { longest_train_ = 1; }
    /// fill() came to the oldest work request and may not read its buffer.
    bool buffer_refused() const noexcept { return refused_; }

    /// Completes the oldest with `status` and flushes the others.
    void fail(errc status) noexcept;
    void flush() noexcept;

  private:
    struct cursor {
        std::uint64_t entry = 0;
        packet_number number = 0;
        std::uint32_t packet = 0; ///< Within the entry.
        std::uint64_t bytes = 0;  ///< Payload sent, ever.
    };
    static constexpr std::size_t max_burst = 64;

    bool may_read(const cursor& c) const noexcept;
    cursor step(const cursor& c) const noexcept;

    const memory_region_table& regions_;
    completion_ring& completions_;
    queue_pair_counters& counters_;

    send_queue queue_;
    segmentation cutter_{};
    psn first_{};
    std::size_t burst_ = 1; ///< Packets of one fill().
    std::uint32_t longest_train_ = 1;
    cursor next_{};
    bool refused_ = false;
    std::array<cursor, max_burst> plan_{}; ///< Where `next_` stands after each packet of the last fill().
    std::size_t planned_ = 0;
};

} // namespace rocio::transport

#pragma once

#include "transport/fixed_ring.hpp"

#include <rocio/types/work_completion.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace rocio::transport {

/// Completions in the order in which they came about. A work request keeps its place in its work queue until
/// its completion is taken, so a ring as deep as both queues cannot overflow.
class completion_ring {
  public:
    completion_ring(std::uint32_t send_depth, std::uint32_t receive_depth, qpn number);

    void send_succeeded(wr_id id, completion_opcode op, std::uint32_t byte_len = 0) noexcept;
    void received(const work_completion& completion) noexcept;
    /// Everything but id, status and queue pair stays zero.
    void send_failed(wr_id id, errc status) noexcept;
    void receive_failed(wr_id id, errc status) noexcept;

    /// Moves the oldest ones to `out`.
    std::size_t take(std::span<work_completion> out) noexcept;

    bool empty() const noexcept { return ring_.empty(); }
    std::size_t sends() const noexcept { return sends_; }
    std::size_t receives() const noexcept { return ring_.size() - sends_; }

  private:
    struct place {
        work_completion value{};
        bool of_send = false;
    };
    void push(const work_completion& value, bool of_send) noexcept;

    fixed_ring<place> ring_;
    qpn number_;
    std::size_t sends_ = 0;
};

} // namespace rocio::transport

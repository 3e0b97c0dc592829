#pragma once

#include "transport/completion_ring.hpp"
#include "transport/fixed_ring.hpp"

#include <rocio/types/work_request.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace rocio::transport {

/// Number of a request packet since the queue pair was made: a PSN that does not wrap.
using packet_number = std::uint64_t;

/// A send work request until its last packet is acknowledged, and the packets it takes.
struct send_entry {
    wr_id id{};
    opcode op = opcode::send;
    bool signalled = true;
    bool solicited = false;
    bool inlined = false;
    std::uint32_t immediate = 0;
    registered_buffer buffer{}; ///< For an inlined one: the queue's own copy.
    std::uint64_t remote_address = 0;
    rkey remote_key{};
    packet_number first = 0;
    std::uint32_t packets = 0; ///< Of the message; for a READ those of its responses.

    packet_number end() const noexcept { return first + packets; }
    bool is_last(std::uint32_t packet) const noexcept { return packet + 1 == packets; }
    bool is_read() const noexcept { return op == opcode::rdma_read; }
    bool is_write() const noexcept {
        return op == opcode::rdma_write || op == opcode::rdma_write_with_immediate;
    }
    bool has_immediate() const noexcept {
        return op == opcode::send_with_immediate || op == opcode::rdma_write_with_immediate;
    }
};

/// The retransmission buffer: every work request that is not wholly acknowledged, oldest first. The bytes
/// stay in the user's registered memory; only inlined ones are copied.
class send_queue {
  public:
    send_queue(std::uint32_t depth, std::uint32_t max_inline);

    bool empty() const noexcept { return entries_.empty(); }
    std::size_t size() const noexcept { return entries_.size(); }
    std::size_t reads() const noexcept { return reads_; } ///< How many of them are READs.
    std::uint64_t begin_index() const noexcept { return entries_.begin_index(); }
    std::uint64_t end_index() const noexcept { return entries_.end_index(); }
    const send_entry& operator[](std::uint64_t index) const noexcept { return entries_[index]; }
    const send_entry& front() const noexcept { return entries_.front(); }

    /// One more than the last packet that was posted.
    packet_number end_number() const noexcept { return next_first_; }
    /// Everything before this packet is acknowledged.
    packet_number unacknowledged() const noexcept { return unacknowledged_; }

    void push(const send_request& request, std::uint32_t packets) noexcept;

    /// Acknowledges all packets before `end`; completes the work requests that are done and gives how many.
    std::size_t acknowledge_before(packet_number end, completion_ring& completions) noexcept;

    void fail_front(errc status, completion_ring& completions) noexcept;
    void flush(completion_ring& completions) noexcept;

  private:
    void pop() noexcept;

    fixed_ring<send_entry> entries_;
    std::size_t reads_ = 0;
    std::uint32_t max_inline_;
    std::uint64_t inline_mask_;
    std::unique_ptr<std::byte[]> inline_bytes_;
    packet_number unacknowledged_ = 0;
    packet_number next_first_ = 0;
};

} // namespace rocio::transport

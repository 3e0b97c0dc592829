#pragma once

#include <rocio/types/memory_key.hpp>
#include <rocio/types/registered_buffer.hpp>

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>

namespace rocio {

/// Identifies a work request in its completion. `owner` indexes the engine's table of queue pairs,
/// `generation` tells a new queue pair from a destroyed one in the same place, `slot` is the queue pair's
/// own.
struct wr_id {
    std::uint16_t owner = 0;
    std::uint16_t generation = 0;
    std::uint32_t slot = 0;

    /// Owner and generation in one comparison.
    constexpr std::uint32_t tag() const noexcept { return owner | std::uint32_t{generation} << 16; }
    /// All of it in one comparison; the bits of the next slot are those of this one plus step().
    constexpr std::uint64_t bits() const noexcept { return std::bit_cast<std::uint64_t>(*this); }
    static constexpr wr_id from_bits(std::uint64_t v) noexcept { return std::bit_cast<wr_id>(v); }
    static constexpr std::uint64_t step() noexcept;
    friend constexpr auto operator<=>(const wr_id&, const wr_id&) noexcept = default;
};

constexpr std::uint64_t wr_id::step() noexcept {
    return wr_id{0, 0, 1}.bits();
}

enum class opcode : std::uint8_t {
    send,
    send_with_immediate,
    rdma_write,
    rdma_write_with_immediate,
    rdma_read
};

/// A send-side work request. The bytes must stay unchanged and registered until its completion, except
/// `inline_data`, which the device copies before post_send returns.
struct send_request {
    wr_id id{};
    opcode op = opcode::send;
    bool signalled = true;       ///< False: no completion on success; errors always complete.
    bool solicited = false;      ///< Sets the solicited event bit on the last packet.
    bool inlined = false;        ///< Take `inline_data` instead of `buffer`.
    std::uint32_t immediate = 0; ///< Host order; on the wire big-endian.
    registered_buffer buffer{};
    std::span<const std::byte> inline_data{};
    std::uint64_t remote_address = 0; ///< RDMA only.
    rkey remote_key{};                ///< RDMA only.

    std::size_t length() const noexcept { return inlined ? inline_data.size() : buffer.size; }
};

/// A receive work request: one buffer for one message.
struct receive_request {
    wr_id id{};
    registered_buffer buffer{};
};

} // namespace rocio

#pragma once

#include "transport/opcode_sequence.hpp"

#include <rocio/transport/memory_region_table.hpp>
#include <rocio/wire/packet.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace rocio::transport {

/// IBA 9.7.7: no message is longer.
inline constexpr std::uint32_t longest_message = 1U << 31;

/// The incoming RDMA WRITE: where its next bytes go.
class remote_write {
  public:
    enum class verdict : std::uint8_t { fits, no_access, bad_length };

    bool active() const noexcept { return active_; }
    std::uint32_t total() const noexcept { return total_; } ///< Bytes of the whole message.

    /// Whether the packet may be written. `shape` is its, and allowed after what went before. A FIRST or ONLY
    /// is checked for the whole message, every later packet again for the rest: the region may be removed
    /// while a message is under way. Changes nothing that another check() or abandon() does not replace.
    [[nodiscard]] verdict check(const wire::packet_view& packet, const request_shape& shape,
                                std::uint32_t path_mtu, const memory_region_table& regions) noexcept;

    /// Writes the packet that was checked last.
    void write(std::span<const std::byte> payload) noexcept;
    void abandon() noexcept { active_ = false; }

  private:
    struct rest {
        std::uint64_t address = 0;
        rkey key{};
        std::uint32_t length = 0;
    };
    rest rest_{};    ///< Of the message under way.
    rest checked_{}; ///< From the packet that was checked on.
    std::byte* target_ = nullptr;
    std::uint32_t total_ = 0;
    bool active_ = false;
};

} // namespace rocio::transport

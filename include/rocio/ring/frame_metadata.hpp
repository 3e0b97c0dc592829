#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rocio {

/// What an HSB FPGA writes behind the data of each frame, at the next multiple of 128 bytes: 128 bytes,
/// big-endian on the wire (its RTL and its host's parser agree on that; the table in its guide does not).
struct frame_metadata {
    static constexpr std::size_t size = 128;

    bool early_end = false;      ///< The stream ended before the byte count (flags bit 0).
    bool ended_by_count = false; ///< Ended by the byte count alone (flags bit 1).
    std::uint32_t psn = 0;       ///< Of the metadata's own packet, 24 bits.
    std::uint32_t crc = 0;       ///< Of the frame's data.
    std::uint64_t first_data_seconds = 0;
    std::uint32_t first_data_nanoseconds = 0;
    std::uint64_t bytes_written = 0;
    std::uint16_t frame_number = 0; ///< Wraps.
    std::uint64_t written_seconds = 0;
    std::uint32_t written_nanoseconds = 0;

    friend bool operator==(const frame_metadata&, const frame_metadata&) = default;

    static frame_metadata decode(std::span<const std::byte, size> in) noexcept;
    void encode(std::span<std::byte, size> out) const noexcept;
    /// Where the metadata of a frame of so many bytes begin in its page.
    static constexpr std::size_t offset_after(std::size_t frame_bytes) noexcept {
        return (frame_bytes + size - 1) / size * size;
    }
};

/// Makes 32-bit frame numbers of the 16-bit ones.
class frame_counter {
  public:
    /// `number` is at most 32767 ahead of the last one, or behind it.
    std::uint32_t extend(std::uint16_t number) noexcept;

  private:
    std::uint32_t last_ = 0;
    bool any_ = false;
};

} // namespace rocio

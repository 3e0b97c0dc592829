#pragma once

#include <rocio/types/error.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace rocio::tools {

/// A record of rogue's data files (StreamWriter): u32 payload bytes + 4, u32 {flags 15:0, error 23:16,
/// channel 31:24}, payload; all little-endian.
struct file_frame {
    std::vector<std::byte> payload{};
    std::uint16_t flags = 0;
    std::uint8_t error = 0;
    std::uint8_t channel = 0;
};

/// Takes a data file apart as its bytes come, in any pieces. Memory: the frames not taken yet, and one of at
/// most `largest` bytes. Not thread-safe.
class frame_file_parser {
  public:
    explicit frame_file_parser(std::size_t largest) : largest_(largest) {}

    /// Takes all of `bytes`; complete frames go to frames(). errc::invalid_argument with record number and
    /// offset for a length below 5 (empty frames are not written) or above `largest`; it stays so then.
    error_info feed(std::span<const std::byte> bytes);
    /// At the end of the file: an error if it ends inside a record.
    error_info finish() const;

    std::deque<file_frame>& frames() noexcept { return frames_; }
    const std::deque<file_frame>& frames() const noexcept { return frames_; }

  private:
    error_info begin_record();
    std::string place() const;

    static constexpr std::size_t header_bytes = 8;
    std::size_t largest_;
    std::vector<std::byte> header_{};
    file_frame current_{};
    std::size_t missing_ = 0; ///< Of the current payload.
    std::uint64_t records_ = 0;
    std::uint64_t offset_ = 0; ///< Where the current record begins.
    std::uint64_t taken_ = 0;
    error_info failure_{};
    std::deque<file_frame> frames_{};
};

} // namespace rocio::tools

#pragma once

#include <rocio/types/error.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rocio::fpga {

/// Where a board writes its frames to, as its registers name it. All of it comes from outside: unchecked.
struct board_target {
    std::uint32_t queue_pair = 0;
    std::uint32_t remote_key = 0;
    std::uint64_t buffer = 0;     ///< RDMA address of page 0.
    std::uint64_t page_bytes = 0; ///< From one page to the next; 0: not told.
    std::uint64_t pages = 1;
    std::uint32_t frame_bytes = 0;
    std::uint32_t host_ip = 0;  ///< First octet in bits 31:24; 0: not told.
    std::uint16_t udp_port = 0; ///< 0: not told.
    friend bool operator==(const board_target&, const board_target&) = default;
};

/// What a board is to send: windows of equal length, once or again and again.
struct board_program {
    std::vector<std::byte> bytes;       ///< All windows, each padded to whole beats.
    std::uint32_t windows = 0;          ///< At least 1.
    std::uint32_t window_bytes = 0;     ///< Without the padding; at least 1.
    std::uint32_t stride = 0;           ///< With it.
    std::uint32_t timer = 0;            ///< The pause as the register has it.
    std::chrono::microseconds pause{0}; ///< Between two windows.
    bool loop = false;

    std::span<const std::byte> window(std::uint32_t i) const noexcept {
        return std::span(bytes).subspan(std::size_t{i} * stride, stride);
    }
};

/// The data half of an emulated board, as its control half drives it. Called from within the control half,
/// which must not be called back from these functions.
class board_port {
  public:
    virtual ~board_port() = default;

    /// The registers name a target, or another one than before.
    virtual void connect(const board_target& target) = 0;
    /// The player was switched on.
    virtual void send(board_program program) = 0;
    /// The player was switched off.
    virtual void stop() = 0;
    /// The player cannot be switched on: why, for a person. The client sees the request fail.
    virtual void refuse(const error_info& why) = 0;

  protected:
    board_port() = default;
    board_port(const board_port&) = default;
    board_port& operator=(const board_port&) = default;
};

} // namespace rocio::fpga

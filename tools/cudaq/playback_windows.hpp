#pragma once

#include <rocio/fpga/hsb_control.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rocio::tools {

/// Writes of one block request, as the original batches them: 1,446 of the 1,472 bytes of a datagram.
inline constexpr std::size_t bram_batch_writes = 180;

/// Bytes of a window, of a payload of at most 1 GiB: header and payload, rounded up to whole beats of 64.
std::uint32_t window_bytes(std::uint32_t payload_size) noexcept;

/// The request of one message to `rpc_increment`, padded with zeros to the window's end: byte j of the
/// payload is (id + j) modulo 256. The timestamp is left to the FPGA, which fills it in as it sends.
std::vector<std::byte> make_window(std::uint32_t request_id, std::uint32_t payload_size);

/// Messages that are loaded and played at once.
struct playback_pass {
    std::uint32_t first = 0; ///< Id of the first message.
    std::uint32_t count = 0;

    friend bool operator==(const playback_pass&, const playback_pass&) = default;
};

/// Windows of that payload which the memory holds at once; 0 if not even one.
std::uint32_t windows_that_fit(std::uint32_t payload_size) noexcept;

/// The longest payload of which one window fits.
std::uint32_t longest_payload() noexcept;

/// `messages` in passes of at most what the memory holds. The player begins every pass at page 0 of the ring;
/// so where more than one pass is needed, all but the last are whole laps of `pages`, if a lap fits: a peer
/// that takes its slots in turn stays in step. Empty if no window fits.
std::vector<playback_pass> split_into_passes(std::uint32_t messages, std::uint32_t payload_size,
                                             std::uint32_t pages);

/// Every word of the windows of a pass, the first window in the first beats: window by window, beat by beat,
/// bank by bank. The words are little-endian pieces of the window.
std::vector<fpga::hsb_register> bram_image(const playback_pass& pass, std::uint32_t payload_size);

} // namespace rocio::tools

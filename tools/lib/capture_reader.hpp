#pragma once

#include <rocio/types/error.hpp>
#include <rocio/wire/icrc.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace rocio::tools {

/// A RoCEv2 packet found in a captured frame.
struct captured_datagram {
    wire::icrc_flow flow{};
    std::optional<std::uint16_t> ip_id{}; ///< IPv4 only.
    std::span<const std::byte> bytes{};   ///< BTH to ICRC.
    bool cut = false;                     ///< The capture has only its beginning.
};

/// Finds the RoCEv2 packet in an Ethernet frame (with VLAN tags or without); nothing if there is none.
/// Bounds-checked: any bytes may be given.
std::optional<captured_datagram> datagram_in_ethernet(std::span<const std::byte> frame) noexcept;
/// The same in a frame that starts with the IP header.
std::optional<captured_datagram> datagram_in_ip(std::span<const std::byte> packet) noexcept;

/// One frame of a capture file; `bytes` are valid until the next one is read.
struct captured_frame {
    std::uint64_t number = 0;        ///< From 1, as other tools count.
    std::chrono::nanoseconds time{}; ///< Since the epoch.
    std::span<const std::byte> bytes{};
};

/// Reads pcap and pcapng files of Ethernet, Linux "cooked" or raw IP frames, one frame at a time.
class capture_reader {
  public:
    /// "-" reads standard input. Errors: a file that cannot be read, is no capture, or has other frames; the
    /// sentence says which.
    static error_info open(const std::string& file, std::unique_ptr<capture_reader>& out);
    ~capture_reader();

    /// Reads the next frame. False at the end, and with an error in `why` where the file is damaged.
    bool next(captured_frame& out, error_info& why);
    /// The RoCEv2 packet in a frame of this file.
    std::optional<captured_datagram> datagram_in(const captured_frame& frame) const noexcept;

  private:
    struct body;
    explicit capture_reader(std::unique_ptr<body> b) noexcept;
    std::unique_ptr<body> body_;
};

} // namespace rocio::tools

#pragma once

#include <rocio/fpga/hsb_control_config.hpp>
#include <rocio/fpga/hsb_registers.hpp>
#include <rocio/types/error.hpp>

#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/udp.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace rocio::tools {

using mac_address = std::array<std::uint8_t, 6>;

/// What is played to whom.
struct playback_config {
    boost::asio::ip::udp::endpoint control{}; ///< The FPGA's, or the emulator's, control channel.
    fpga::hsb_control_config channel{};

    // The bridge, as it prints it.
    std::uint32_t queue_pair = 0;
    std::uint32_t remote_key = 0;
    std::uint64_t buffer = 0;      ///< A multiple of 128, as is page_size.
    std::uint32_t page_size = 384; ///< At least a window.
    std::uint32_t pages = 128;
    boost::asio::ip::address_v4 bridge_ip{0x0A000001};
    std::optional<mac_address> bridge_mac{}; ///< An FPGA sends to it; an emulator needs none.

    std::uint32_t messages = 100; ///< More than the player's memory holds go in passes.
    std::uint32_t payload_size = 8;
    std::chrono::microseconds spacing{120}; ///< Between the beginnings of two windows, at least.

    std::uint32_t vp_address = fpga::hsb::default_vp_address;
    std::optional<std::uint32_t> hif_address{}; ///< Default: 0x0800 for an emulator, 0x02000300 for an FPGA.

    bool emulator = false; ///< Not reset first; waits for each answer before it sends the next window.
    bool verify = true;
    bool loop = false;    ///< Until stop(); without verify only.
    bool forward = false; ///< The bridge sends back what it gets.

    /// How long the emulator waits for one answer, or how long after the last answer an FPGA's pass is over.
    std::chrono::milliseconds reply_timeout{10'000};
    std::chrono::milliseconds poll_interval{20};
    std::chrono::milliseconds unverified_wait{10'000}; ///< Given to a pass that is not verified.
    /// Of an FPGA: how long its capture takes to reset, and how long nothing more must come after the last
    /// message's answer, as the capture holds the later beats of long answers, too.
    std::chrono::milliseconds capture_settling{1000};
    /// Of an FPGA: from its reset to the first try to reach it again.
    std::chrono::milliseconds restart_wait{1000};

    /// Told what is done next, one line each; may be empty.
    std::function<void(const std::string&)> tell{};
};

/// errc::invalid_argument with a sentence.
error_info validate(const playback_config& config);

/// "02:00:0a:00:00:01", in either case; nothing for anything else.
std::optional<mac_address> parse_mac(const std::string& text);

} // namespace rocio::tools

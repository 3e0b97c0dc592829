#pragma once

#include <rocio/types/error.hpp>

#include <cstdint>
#include <string>

namespace rocio::fpga {

/// A connection with an HSB FPGA as the status shows it; a value.
struct hsb_channel_snapshot {
    std::string fpga;  ///< Its address.
    std::string state; ///< "new", "prepared", "streaming", "lost", "released".
    std::uint16_t ip_version = 0;
    std::uint32_t frame_size = 0, page_size = 0, pages = 0;
    std::uint32_t packet_payload = 0; ///< Bytes of data in each packet.
    std::uint32_t queue_pair = 0, remote_key = 0;
    std::uint64_t looks = 0;    ///< While the connection stands.
    std::uint64_t failures = 0; ///< Of these, those without an answer.
    error_info last_error{};
};

} // namespace rocio::fpga

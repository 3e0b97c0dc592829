#pragma once

#include <rocio/fpga/rssi_connection.hpp>
#include <rocio/fpga/srp_config.hpp>
#include <rocio/types/error.hpp>

#include <chrono>

namespace rocio::fpga {

/// How an SRP bus asks over RSSI.
struct srp_rssi_config {
    /// The connection repeats what is lost, so each request is sent once; answer_deadline includes the time
    /// until there is a connection.
    srp_config srp{.answer_deadline = std::chrono::seconds(5), .tries = 1};
    /// What the client asks for; the board's own parameters win.
    rssi_config rssi{};
    /// The CRC over what is sent; boards check it where they were built to.
    bool crc = true;
    /// Whether the CRC of what is received is checked, where it has one.
    bool check_crc = true;
    /// How long to wait before connecting again after a lost connection: at first, and at most after it was
    /// doubled each time. An answer brings back the first.
    std::chrono::milliseconds first_back_off{100};
    std::chrono::milliseconds longest_back_off{5000};
};

/// errc::invalid_argument for what validate() of its parts refuses, for back-offs outside 1 ms to 60 s or in
/// the wrong order.
error_info validate(const srp_rssi_config& config);

} // namespace rocio::fpga

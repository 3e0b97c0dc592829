#pragma once

#include <rocio/types/error.hpp>

#include <chrono>
#include <cstddef>

namespace rocio::fpga {

/// How the control channel's client asks. Each request has tries x answer_deadline to be answered, 5 s by
/// default; the vendor's host allows 0.5 s, which a busy machine or a first ARP exchange can exceed.
struct hsb_control_config {
    /// How long to wait for an answer before the request is sent again.
    std::chrono::milliseconds answer_deadline{200};
    /// How often a request is sent.
    unsigned tries = 25;
    /// Registers that go into one datagram; 183 fit an Ethernet frame of 1500 bytes.
    std::size_t registers_per_request = 180;
    /// Asks the FPGA to refuse a request that does not follow the last one it saw: finds out that somebody
    /// else uses the control channel (hsb_status::sequence_check_failed). Repeated requests, and the first
    /// after a failure, are never checked.
    bool check_sequence = false;
};

/// errc::invalid_argument for a deadline outside 1 ms to 60 s, tries outside 1 to 1000, registers outside 1
/// to 511.
error_info validate(const hsb_control_config& config);

} // namespace rocio::fpga

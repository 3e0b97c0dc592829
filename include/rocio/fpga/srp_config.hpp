#pragma once

#include <rocio/types/error.hpp>

#include <chrono>
#include <cstdint>

namespace rocio::fpga {

/// How an SRP bus asks over plain UDP: each request has tries x answer_deadline to be answered, 5 s by
/// default.
struct srp_config {
    /// How long to wait for an answer before the request is sent again.
    std::chrono::milliseconds answer_deadline{200};
    /// How often a request is sent. A write may be carried out as often.
    unsigned tries = 25;
    /// How long the board's own bus may take, in units of 100 ms; 0 is for ever.
    std::uint8_t board_timeout = 10;
    /// AXI's PROT, 0 to 7.
    std::uint8_t protection = 0;
};

/// errc::invalid_argument for a deadline outside 1 ms to 60 s, tries outside 1 to 1000, protection above 7.
error_info validate(const srp_config& config);

} // namespace rocio::fpga

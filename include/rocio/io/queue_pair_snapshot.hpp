#pragma once

#include <rocio/device/device_queue_pair.hpp>
#include <rocio/types/mtu.hpp>
#include <rocio/types/parameters.hpp>
#include <rocio/types/rnr_timer.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace rocio {

/// A queue pair as the status shows it; a value.
struct queue_pair_snapshot {
    std::string owner;  ///< The stream or ring it belongs to; "" for one of the user's own.
    std::string device; ///< Its name.
    std::string type;   ///< "rc", "uc".
    std::string state;  ///< "reset", "init", "ready to receive", "ready to send", "error".
    std::uint32_t number = 0;
    std::uint32_t receive_psn = 0; ///< The first that we expect.
    std::uint32_t send_psn = 0;    ///< Our first.
    std::string peer_address;      ///< "" until connected, as the two numbers are 0.
    std::uint32_t peer_number = 0;
    mtu path_mtu = mtu::b4096;
    rnr_timer min_rnr_timer{};
    std::uint8_t rnr_retry = 0;
    std::uint8_t retry_count = 0;
    /// Absent on devices that do not say.
    std::optional<device_queue_pair_counters> counters{};
};

} // namespace rocio

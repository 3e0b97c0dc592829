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
    /// "reset", "init", "ready to receive", "ready to send", "error"; "none" between two connections, while
    /// its owner has none on the device.
    std::string state;
    std::uint32_t number = 0;      ///< 0 while there is none.
    std::uint32_t receive_psn = 0; ///< The first that we expect.
    std::uint32_t send_psn = 0;    ///< Our first.
    std::string peer_address;      ///< "" until connected, as the two numbers are 0.
    std::uint32_t peer_number = 0;
    mtu path_mtu = mtu::b4096;
    rnr_timer min_rnr_timer{};
    std::uint8_t rnr_retry = 0;
    std::uint8_t retry_count = 0;
    /// Of all its connections. Absent on devices that do not say.
    std::optional<device_queue_pair_counters> counters{};

    void set_state(const std::optional<queue_pair_state>& now) { state = now ? to_string(*now) : "none"; }
    void set_local(const local_parameters& p);
    void set_peer(const peer_parameters& p);
};

inline void queue_pair_snapshot::set_local(const local_parameters& p) {
    number = p.queue_pair.value();
    receive_psn = p.receive_psn.value();
    send_psn = p.send_psn.value();
    path_mtu = p.path_mtu;
    min_rnr_timer = p.min_rnr_timer;
    rnr_retry = p.rnr_retry;
    retry_count = p.retry_count;
}

inline void queue_pair_snapshot::set_peer(const peer_parameters& p) {
    receive_psn = p.send_psn.value();
    peer_address = p.address.to_address_string();
    peer_number = p.queue_pair.value();
}

} // namespace rocio

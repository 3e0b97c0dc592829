#pragma once

#include "lib/options.hpp"

#include <rocio/ring/ring_transceiver.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace rocio::tools {

/// What serve and call take for their ring; both sides must be alike.
struct ring_options {
    std::string device;
    std::uint32_t slots = 64;
    std::uint32_t slot_size = 384;
    polling_policy poll = polling_policy::hybrid();
    thread_placement thread{};
    memory_options memory{};
    log_levels log{};
    bool json = false;

    void add_to(CLI::App& app);
    ring_config ring(ring_tx_mode mode) const;
};

/// The address where service and caller meet unless told otherwise.
inline constexpr const char* default_service = "127.0.0.1:18516";

} // namespace rocio::tools

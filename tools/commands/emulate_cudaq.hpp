#pragma once

#include "lib/options.hpp"

#include <rocio/open/open_device.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace rocio::tools {

/// What `rocio emulate --profile cudaq` and hsb_fpga_emulator take.
struct cudaq_emulator_options {
    std::string device;
    std::uint8_t ib_port = 1;
    std::optional<std::uint32_t> gid_index{};
    std::uint16_t port = 8193;
    std::string listen{};
    std::string bridge_ip{};
    std::uint32_t vp_address = 0x1000;
    std::uint32_t hif_address = 0x0800;
    std::uint32_t page_size = 256;
    std::chrono::nanoseconds reply_timeout = std::chrono::seconds{10};
    std::optional<std::uint64_t> passes{};
    std::optional<std::chrono::nanoseconds> seconds{};
    thread_placement thread{};
    memory_options memory{};
    polling_policy poll = polling_policy::hybrid();
    log_levels log{};
    open_options opening{};
    bool one_session = false; ///< As the original: ends with its session.
    bool json = false;

    /// What the original has but the device.
    void add_originals_to(CLI::App& app);
    /// What it has not and no other profile has either.
    void add_own_to(CLI::App& app);
};

/// Runs it; gives the exit status.
int emulate_cudaq(const cudaq_emulator_options& o);

} // namespace rocio::tools

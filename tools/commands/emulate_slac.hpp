#pragma once

#include "lib/options.hpp"
#include "slac/bus_kind.hpp"

#include <rocio/fpga/control_faults.hpp>
#include <rocio/fpga/slac_board.hpp>
#include <rocio/open/open_device.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace rocio::tools {

/// What `rocio emulate --profile slac` takes.
struct slac_emulator_options {
    std::string device{};
    bus_kind bus = bus_kind::srp_udp;
    std::string registers{}; ///< ADDRESS[:PORT]; empty: the device's own.
    std::uint32_t payload = 4096;
    std::uint32_t depth = 16;
    std::size_t prbs_word_bytes = 32;
    std::optional<double> rate{};
    std::optional<std::uint64_t> count{};
    std::string frames{};
    fpga::control_faults control{};
    unsigned wedge_at = 0;
    unsigned reply_after_reads = 0;
    bool stale = false;
    bool no_soft_reset = false;
    bool no_prbs_source = false;
    std::optional<std::chrono::nanoseconds> seconds{};
    thread_placement thread{};
    memory_options memory{};
    polling_policy poll = polling_policy::hybrid();
    log_levels log{};
    open_options opening{};
    bool json = false;

    /// What no other profile has.
    void add_own_to(CLI::App& app);
};

/// Runs it; gives the exit status.
int emulate_slac(const slac_emulator_options& o);

} // namespace rocio::tools

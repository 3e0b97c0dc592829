#pragma once

#include "cudaq/bridge.hpp"
#include "lib/log_levels.hpp"
#include "lib/options.hpp"

#include <rocio/fpga/hsb_data_path.hpp>
#include <rocio/soft/fault_plan.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace rocio::tools {

/// What `rocio bridge` and hsb_bridge_cpu take.
struct bridge_options {
    std::string device = "mlx5_0";
    std::string peer_ip = "192.168.0.2";
    bridge_config bridge{}; ///< Without device and peer address.
    std::chrono::nanoseconds timeout = std::chrono::seconds{60};
    bool unified = false;
    bool forward = false;

    // Only `rocio bridge` has these.
    std::string fpga_ip{}; ///< Brings that FPGA up; empty: the FPGA knows us by other means.
    std::uint16_t control_port = 8192;
    fpga::hsb_sensor sensor{};
    std::uint32_t ethernet_mtu = 1500;
    std::string host_mac{}; ///< Empty: the interface's.
    std::vector<std::string> handlers{};
    fault_plan faults{};
    std::string pcap{};
    log_levels log{};
    std::optional<options::http_address> http{};
    bool json = false;

    /// The original's options, as `--name=VALUE`.
    void add_original_to(CLI::App& app);
    /// Those and our own.
    void add_to(CLI::App& app);
};

/// Runs the bridge with the original's output on stdout; gives the exit status. Throws rocio::exception.
int run_bridge(const bridge_options& options);

} // namespace rocio::tools

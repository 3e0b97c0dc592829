#pragma once

#include "lib/frame_check.hpp"
#include "lib/log_levels.hpp"
#include "lib/options.hpp"

#include <rocio/io/polling_policy.hpp>
#include <rocio/open/open_device.hpp>
#include <rocio/ring/sensor_receiver_config.hpp>
#include <rocio/types/mtu.hpp>

#include <CLI/App.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace rocio::tools {

/// What `rocio emulate --profile hsb` takes.
struct emulate_hsb_options {
    // As other profiles have them, too.
    std::string device = "soft:127.0.0.3";
    std::uint8_t ib_port = 1;
    std::optional<std::uint32_t> gid_index{};
    std::optional<double> rate{}; ///< Frames per second; default 60.
    std::optional<std::uint64_t> count{};
    std::optional<std::chrono::nanoseconds> seconds{};
    thread_placement thread{};
    memory_options memory{};
    polling_policy poll = polling_policy::hybrid();
    log_levels log{};
    open_options opening{};
    bool json = false;

    // Its own.
    std::uint16_t control_port = 8192;
    std::string control_address{}; ///< Default: the device's own.
    std::uint16_t ip_version = 0x2606;
    std::uint32_t virtual_ports = 2;
    std::uint8_t data_plane = 0;
    std::string announce_to = "255.255.255.255:12267"; ///< "off": says nothing of itself.

    /// Its own options: --hsb-port --hsb-address --ip-version --virtual-ports --data-plane --announce.
    void add_to(CLI::App& app);
};

/// Runs an emulated sensor board until SIGINT, --seconds or --count ends it; gives the exit status: 0 when
/// frames were sent and none failed. Throws rocio::exception.
int emulate_hsb(const emulate_hsb_options& o);

/// What `rocio recv --fpga hsb` takes.
struct recv_hsb_options {
    // As the stream's receiver has them, too.
    std::string device = "soft:127.0.0.2";
    std::string fpga_ip{}; ///< Default: that of the first board that announces itself.
    std::string name = "sensor";
    std::uint8_t ib_port = 1;
    std::optional<std::uint32_t> gid_index{};
    std::optional<mtu> path_mtu{};
    std::uint32_t payload = 4096; ///< Bytes of a frame.
    verify_kind verify = verify_kind::prbs;
    std::optional<std::chrono::nanoseconds> seconds{};
    std::optional<std::uint64_t> count{};
    thread_placement thread{};
    memory_options memory{};
    polling_policy poll = polling_policy::hybrid();
    log_levels log{};
    open_options opening{};
    bool json = false;
    std::optional<options::http_address> http{};

    // Its own.
    std::uint16_t control_port = 8192;
    std::uint8_t data_plane = 0;
    std::optional<std::uint8_t> sensor{}; ///< Default: the data plane's number.
    std::uint8_t sifs_per_sensor = 2;
    std::uint32_t pages = 4;
    sensor_policy policy = sensor_policy::every;
    std::uint32_t ethernet_mtu = 1500;
    std::optional<std::array<std::uint8_t, 6>> host_mac{}; ///< Default: the interface's.
    std::string announcements = "0.0.0.0:12267";           ///< Where a board is listened for.
    bool any_ip_id = false; ///< The board is emulated on a device that numbers its IP packets.

    /// Its own options: --hsb-port --data-plane --sensor --sifs-per-sensor --pages --policy --ethernet-mtu
    /// --host-mac --announcements --any-ip-id.
    void add_to(CLI::App& app);
};

/// Brings a board up and receives its frames until SIGINT, --seconds, --count or the board's end; gives the
/// exit status: 0 only when frames came and all were right. Throws rocio::exception.
int recv_hsb(const recv_hsb_options& o);

} // namespace rocio::tools

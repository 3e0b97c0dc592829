#pragma once

#include <rocio/fpga/slac_register_map.hpp>
#include <rocio/types/error.hpp>
#include <rocio/types/mtu.hpp>
#include <rocio/types/rnr_timer.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace rocio::fpga {

/// Which queue pair number the Core's SQpn register gets. By its name it is the FPGA's; the scripts of the
/// original write the host's, which evidently works with the one queue pair of the shipped core.
enum class slac_sqpn : std::uint8_t { host, fpga };

/// A board with a SLAC RoCEv2 engine: where its registers are and how long its steps may take. Defaults are
/// those of Simple-10GbE-RUDP-KCU105 and of surf's setupConnection().
struct slac_engine_config {
    std::uint32_t engine_base = 0x0015'0000;
    std::uint32_t udp_base = 0x0011'0000;
    std::uint32_t udp_client = 0; ///< 0..15, the UDP engine's client that carries RoCEv2.
    /// The SsiPrbsTx that feeds the engine; given, it is switched on and off with it. Default: the source is
    /// the application's own.
    std::optional<std::uint32_t> prbs_base{};
    slac_sqpn sqpn = slac_sqpn::host;
    /// Where the counter in the immediate goes back to 0; 0 keeps it at 0. Default: region length /
    /// max_payload of the host.
    std::optional<std::uint32_t> counter_wrap{};
    /// Pulse SoftReset before a set-up and after the end. Firmware without it only gives a warning.
    bool soft_reset = true;
    /// Read back what is written before it takes effect: a bus over plain UDP may repeat an old write late.
    bool verify = true;
    /// Where the FPGA takes RoCEv2 packets; emulated boards may have another port than hardware.
    std::uint32_t roce_port = 4791;
    slac_register_map map{};

    std::chrono::milliseconds request_deadline{5000};  ///< One request of a set-up; QP DESTROY.
    std::chrono::milliseconds clean_up_deadline{3000}; ///< Each other request of a roll-back or teardown.
    std::chrono::milliseconds reset_pause{50};         ///< After SoftReset.
    std::chrono::milliseconds settle_pause{100};       ///< After SendMetaData is cleared, around a teardown.
    std::chrono::milliseconds disarm_pause{100};       ///< After the source was switched off.
    std::chrono::milliseconds first_poll{1};           ///< For the reply, in the first 20 ms.
    std::chrono::milliseconds poll{50};                ///< Later.

    std::chrono::milliseconds liveness_interval{1000}; ///< Between two looks at a board that sends.
    /// Failed accesses in a row until the board is given up: while watching it and while cleaning up.
    unsigned register_link_tries = 3;
};

/// How the FPGA's queue pair behaves, and the host's too.
struct slac_transport {
    mtu path_mtu = mtu::b4096;
    rnr_timer min_rnr_timer{};    ///< Code 12, 0.64 ms. Code 1 collapses throughput on software devices.
    std::uint8_t rnr_retry = 7;   ///< 0..7, 7: endless.
    std::uint8_t retry_count = 3; ///< 0..7.
};

/// errc::invalid_argument with the option's name, value and range. Bases and offsets are multiples of 4.
error_info validate(const slac_engine_config& config);
error_info validate(const slac_transport& transport);

/// Sets one option by the name it has on the command line and in a board file, without the leading dashes:
/// engine-base, udp-base, udp-client, prbs-base, sqpn (host, fpga), counter-wrap, roce-port, soft-reset and
/// verify (on, off), request-deadline, clean-up-deadline, reset-pause, settle-pause, disarm-pause,
/// liveness-interval (ms), register-link-tries, and map-NAME for the offsets of the register map
/// (map-soft-reset takes none, too). Underscores serve as dashes; numbers are decimal or 0x…
/// errc::invalid_argument with a sentence; then `config` is unchanged. Pure.
error_info set_option(slac_engine_config& config, std::string_view name, std::string_view value);

/// Reads a board file: lines `name = value`, blank lines, and comments from `#` to the line's end. An error
/// names the line; then `config` is unchanged. No option may come twice. The result is validated. Pure.
error_info parse_board_file(std::string_view text, slac_engine_config& config);

} // namespace rocio::fpga

#pragma once

#include <rocio/fpga/hsb_configuration.hpp>
#include <rocio/types/error.hpp>
#include <rocio/types/gid.hpp>
#include <rocio/types/parameters.hpp>
#include <rocio/types/qpn.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

namespace rocio::fpga {

/// What a connection with an HSB FPGA is made with.
struct hsb_channel_config {
    gid fpga{};           ///< The FPGA's IPv4 address: frames come from there.
    hsb_data_path path{}; ///< Which sensor: hsb_data_path::of().

    std::uint32_t frame_size = 0; ///< Bytes of a frame's data.
    /// Default 0: as the receiving side says (its depth and largest message), and without that 2 pages of
    /// hsb_page_size(frame_size).
    std::uint32_t page_size = 0;
    std::uint32_t pages = 0;
    std::uint32_t mtu =
        hsb_default_mtu; ///< Of the Ethernet on the way. No packet exceeds our path MTU either.

    /// The address the FPGA sends to; default: that of the connecting queue pair.
    std::optional<std::array<std::uint8_t, 4>> host{};
    /// The Ethernet address it sends to. Hardware needs one: given here, or asked with `find_mac`, which gets
    /// our side's numbers and must not block. Without either all zeros are written, as emulated boards take
    /// them.
    std::optional<std::array<std::uint8_t, 6>> mac{};
    std::function<std::optional<std::array<std::uint8_t, 6>>(const local_parameters&)> find_mac{};
    std::uint16_t source_port = hsb_data_source_port;

    /// The FPGA's queue pair as our device is told; nothing comes from it in packets to us. Default: our
    /// own number, since some NICs take two queue pairs with the same remote number for one.
    std::optional<qpn> queue_pair{};
    /// An FPGA's packets carry IP id 0, which lets a soft device check them more strictly. Off for a board
    /// emulated on a device that sends others (rdma_rxe).
    bool exact_icrc = true;

    /// How long preparing, configuring and releasing may take, each.
    std::chrono::milliseconds step_deadline{15'000};
    /// How often the FPGA is looked at while the connection stands, and after how many looks in a row without
    /// an answer it is lost.
    std::chrono::milliseconds watch_interval{1'000};
    unsigned watch_failures = 3;
};

/// errc::invalid_argument for an address that is not IPv4, a frame size of 0, a deadline or an interval
/// outside 1 ms to 1 h, 0 failures; the rest is checked against the FPGA's version when it is known.
error_info validate(const hsb_channel_config& config);

/// What the FPGA is told: the configuration with what our side's numbers add. Errors:
/// errc::invalid_argument without an IPv4 address of ours, errc::not_in_region when the pages do not fit our
/// region.
error_info make_stream(const hsb_channel_config& config, const local_parameters& local,
                       hsb_stream_config& out);

} // namespace rocio::fpga

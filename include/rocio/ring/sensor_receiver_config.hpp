#pragma once

#include <rocio/device/device.hpp>
#include <rocio/io/memory_options.hpp>
#include <rocio/ring/frame_metadata.hpp>
#include <rocio/types/error.hpp>
#include <rocio/types/gid.hpp>
#include <rocio/types/mtu.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace rocio {

/// Which frames a receiver gives out when they come faster than they are taken.
enum class sensor_policy : std::uint8_t {
    every,  ///< All, in order, as long as their pages are not written again.
    latest, ///< Only the newest, as the vendor's receiver does.
};

/// What a sensor receiver is made with.
struct sensor_receiver_config {
    std::string name = "sensor";
    std::shared_ptr<rocio::device> device{};
    std::uint8_t port = 1;
    std::optional<std::uint32_t> gid_index{}; ///< Default: chosen for `local_address` and `peer_address`.
    std::optional<gid> local_address{};       ///< The GID to use, where the port has several.
    std::optional<gid> peer_address{};        ///< The FPGA's; helps the choice of the GID.
    std::uint32_t frame_size = 0;             ///< Bytes of a frame's data, 1 to 1 GiB.
    /// Frames that fit into the memory, 1 to 4096; the FPGA writes them in turn and never waits. IP versions
    /// before 0x2602 have 4 at most.
    std::uint32_t pages = 4;
    sensor_policy policy = sensor_policy::every;
    /// Receives that are kept posted, 1 to 65536: frames that may arrive between two looks at the device.
    std::uint32_t receives = 256;
    std::optional<mtu> path_mtu{}; ///< Default: the port's active MTU; no packet may be longer.
    memory_options memory{};       ///< Of the pages.

    /// Bytes from one page to the next: the data, rounded up to 128, and the metadata.
    std::uint64_t page_size() const noexcept {
        return frame_metadata::offset_after(frame_size) + frame_metadata::size;
    }
};

/// Errors: errc::invalid_argument, with attribute, value and what is allowed.
error_info validate(const sensor_receiver_config& config);

} // namespace rocio

#pragma once

#include <rocio/device/device.hpp>
#include <rocio/io/memory_options.hpp>
#include <rocio/types/error.hpp>
#include <rocio/types/gid.hpp>
#include <rocio/types/mtu.hpp>
#include <rocio/types/psn.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace rocio {

/// How a ring sends: SEND into the peer's next receive (FPGAs), or WRITE with immediate into the peer's slot
/// of the same number (the immediate is the slot).
enum class ring_tx_mode : std::uint8_t { send, write_with_immediate };

enum class ring_mode : std::uint8_t {
    duplex,  ///< Receives and sends.
    rx_only, ///< Receives; nothing is sent.
    tx_only, ///< Sends; no receive is posted.
    forward, ///< Sends back every slot it receives, from the receive slot itself. Flags stay 0.
    unified, ///< rx_poll() and tx_publish() on the caller's thread; no context runs.
};

/// When a receive that brought a slot is posted again.
enum class ring_rearm : std::uint8_t {
    on_release, ///< When the slot was released: at most as many messages are on their way as there are slots.
    on_publish, ///< At once, as CUDA-Q's transceiver does: a fast SENDer overwrites slots that are being
                ///< read.
};

/// When the flag of a send slot becomes 0.
enum class ring_tx_clear : std::uint8_t {
    on_completion, ///< When the device is done with the bytes; only then the slot may be written again.
    on_claim,      ///< When the send is posted, as CUDA-Q's transceiver does.
};

/// What a ring is made with.
struct ring_config {
    std::string name = "ring";
    std::shared_ptr<rocio::device> device{};
    std::uint8_t port = 1;
    std::optional<std::uint32_t> gid_index{}; ///< Default: chosen for `local_address` and `peer_address`.
    std::optional<gid> local_address{};       ///< The GID to use, where the port has several.
    std::optional<gid> peer_address{};        ///< Helps the choice of the GID.
    std::uint32_t slots = 64;                 ///< Of each direction: a power of two, at most 65536.
    std::uint32_t slot_size = 384;            ///< Bytes; slots x slot_size within 32 bits.
    std::uint32_t frame_size = 384;           ///< Bytes of a message published by its flag; 1 to slot_size.
    ring_mode mode = ring_mode::duplex;
    ring_tx_mode tx_mode = ring_tx_mode::send;
    ring_rearm rearm = ring_rearm::on_release;
    ring_tx_clear tx_clear = ring_tx_clear::on_completion;
    std::optional<mtu> path_mtu{}; ///< Default: the port's active MTU.
    /// Of the first packet of both sides; CUDA-Q and HSB peers expect 0.
    psn first_psn{0};
    /// Counts how long filled slots are held (ring_snapshot::held), some nanoseconds per message; by the
    /// times at which the engine sweeps, so no clock is read for it.
    bool measure_held = true;
    memory_options memory{}; ///< Of the slots and flags.
};

/// Errors: errc::invalid_argument, errc::region_too_large, each with value and what is allowed.
error_info validate(const ring_config& config);

} // namespace rocio

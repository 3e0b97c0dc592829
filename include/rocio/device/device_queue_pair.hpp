#pragma once

#include <rocio/device/device_completion_queue.hpp>
#include <rocio/types/error.hpp>
#include <rocio/types/memory_access.hpp>
#include <rocio/types/parameters.hpp>
#include <rocio/types/work_request.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace rocio {

enum class queue_pair_type : std::uint8_t { rc, uc };
enum class queue_pair_state : std::uint8_t { reset, init, ready_to_receive, ready_to_send, error };

constexpr std::string_view to_string(queue_pair_type type) noexcept {
    return type == queue_pair_type::rc ? "rc" : "uc";
}
constexpr std::string_view to_string(queue_pair_state state) noexcept {
    switch (state) {
    case queue_pair_state::reset:
        return "reset";
    case queue_pair_state::init:
        return "init";
    case queue_pair_state::ready_to_receive:
        return "ready to receive";
    case queue_pair_state::ready_to_send:
        return "ready to send";
    case queue_pair_state::error:
        return "error";
    }
    return "unknown";
}

struct device_queue_pair_config {
    queue_pair_type type = queue_pair_type::rc;
    device_completion_queue* completions =
        nullptr;                    ///< Sends and receives complete here; must outlive the queue pair.
    std::uint32_t send_depth = 128; ///< 1..device_limits::max_work_requests.
    std::uint32_t receive_depth = 128;
    std::uint32_t max_inline = 0; ///< Bytes.
    std::uint8_t port = 1;
};

/// RESET → INIT.
struct init_attributes {
    std::uint8_t port = 1;
    std::uint32_t gid_index = 0;
    memory_access remote_access = memory_access::local_read; ///< What peers may do through this queue pair.
};

/// INIT → RTR and RTR → RTS in the terms of both sides: `local.send_psn` is our first PSN, `peer.send_psn`
/// the first we expect.
struct connect_attributes {
    local_parameters local{};
    peer_parameters peer{};
    std::uint8_t hop_limit = 64;
    std::uint8_t traffic_class = 0;
    /// Replaces init_attributes::gid_index: the handshake was made at another of the port's addresses.
    std::optional<std::uint32_t> gid_index{};
};

/// How many work requests of a span were accepted, and why the next one was not.
struct post_outcome {
    std::size_t accepted = 0;
    errc reason = errc::success;
};

/// What a queue pair really got, as the device tells it: never less than was asked for. A queue may take even
/// more before it is full (rdma_rxe), but completions have a place only for what was asked. All zero on
/// devices that give exactly what was asked for.
struct device_queue_pair_capacity {
    std::uint32_t send_depth = 0, receive_depth = 0; ///< Work requests.
    std::uint32_t max_inline = 0;                    ///< Bytes.
};

/// What a device counted for one queue pair; absent on devices that do not say.
struct device_queue_pair_counters {
    std::uint64_t messages_sent = 0, messages_received = 0, bytes_sent = 0, bytes_received = 0;
    std::uint64_t packets_sent = 0, packets_received = 0;
    std::uint64_t retransmits = 0, timeouts = 0, duplicates = 0, out_of_sequence = 0;
    std::uint64_t rnr_naks_sent = 0, rnr_naks_received = 0;
    std::uint64_t sequence_naks_sent = 0, sequence_naks_received = 0;
    std::uint64_t other_naks_sent = 0, other_naks_received = 0;
    // UC: what is lost without anybody being told.
    std::uint64_t psn_gaps = 0, psns_missed = 0, interrupted_messages = 0;
    std::uint64_t dropped_out_of_message = 0, dropped_without_receive = 0;
    std::uint64_t dropped_without_access = 0, dropped_bad_length = 0;

    device_queue_pair_counters& operator+=(const device_queue_pair_counters& more) noexcept;
};

class device_queue_pair {
  public:
    virtual ~device_queue_pair() = default;

    virtual qpn number() const noexcept = 0;
    virtual queue_pair_state state() const noexcept = 0;

    virtual error_info to_init(const init_attributes& attributes) = 0;
    virtual error_info to_ready_to_receive(const connect_attributes& attributes) = 0;
    virtual error_info to_ready_to_send(const connect_attributes& attributes) = 0;
    /// Everything posted completes as flushed. Works in every state.
    virtual error_info to_error() = 0;

    virtual post_outcome post_send(std::span<const send_request> requests) noexcept = 0;
    virtual post_outcome post_receive(std::span<const receive_request> requests) noexcept = 0;

    virtual device_queue_pair_capacity capacity() const noexcept { return {}; }
    virtual bool counters(device_queue_pair_counters& out) const noexcept { return (void)out, false; }
};

} // namespace rocio

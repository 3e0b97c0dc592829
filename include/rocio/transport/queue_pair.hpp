#pragma once

#include <rocio/types/ack_timeout.hpp>
#include <rocio/types/error.hpp>
#include <rocio/types/memory_access.hpp>
#include <rocio/types/mtu.hpp>
#include <rocio/types/psn.hpp>
#include <rocio/types/qpn.hpp>
#include <rocio/types/rnr_timer.hpp>
#include <rocio/types/work_completion.hpp>
#include <rocio/types/work_request.hpp>
#include <rocio/wire/packet.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

namespace rocio::transport {

/// The transport reads no clock: every call that needs the time gets it. steady_clock only names the type.
using time_point = std::chrono::steady_clock::time_point;
inline constexpr time_point never = time_point::max();

enum class queue_pair_state : std::uint8_t { reset, init, ready_to_receive, ready_to_send, error };

struct queue_pair_config {
    qpn number{};
    std::uint32_t send_depth = 128;       ///< Send work requests outstanding, 1..65536.
    std::uint32_t receive_depth = 128;    ///< Receive work requests posted, 1..65536.
    std::uint32_t max_inline = 256;       ///< Bytes of an inlined send, 0..4096.
    std::uint32_t max_message = 1U << 30; ///< Bytes of the longest send, up to 2^31.
    /// READs of the peer that are remembered, so that they can be answered again, 0..128; 0 refuses READs. RC
    /// only.
    std::uint32_t responder_depth = 16;
};

/// INIT → RTR.
struct receive_path {
    qpn peer{};
    mtu path_mtu = mtu::b1024;
    psn expected{};            ///< First PSN the peer sends.
    rnr_timer min_rnr_timer{}; ///< Told to the peer in every RNR NAK.
};

/// How much may be on its way to the peer. `cost` gives what one datagram of that many UDP payload bytes
/// takes of `capacity`; capacity 0 leaves only `max_packets`.
struct flow_window {
    std::uint32_t capacity = 0;
    std::uint32_t (*cost)(std::uint32_t datagram_bytes) = nullptr;
    std::uint32_t max_packets = 128; ///< Packets without acknowledgement, 1..2^22; rxe limits itself to 128.
    /// Packets that may leave in one segmented send, 1..64; above 1 at most 128 max_packets, and `train_cost`
    /// is what a datagram costs that follows another one in such a train.
    std::uint32_t longest_train = 1;
    std::uint32_t (*train_cost)(std::uint32_t datagram_bytes) = nullptr;
};

/// READ requests that may wait for their responses; what rxe and NICs take at least by common default.
inline constexpr std::uint32_t default_initiator_depth = 8;

/// RTR → RTS.
struct send_path {
    psn first{}; ///< PSN of our first packet.
    ack_timeout timeout{};
    std::uint8_t retry_count = 7; ///< 0..7 retransmissions without progress; 7 means seven.
    std::uint8_t rnr_retry = 7;   ///< 0..7; 7 means endless.
    bool unlimited_retry = false; ///< For tests over very bad networks: never give up.
    flow_window window{};         ///< Towards the peer. UC: a quarter of it is one burst.
    /// From the peer: READ responses that may be on their way to us. A longer READ is asked for in pieces of
    /// a quarter of it.
    flow_window response_window{};
    std::uint32_t initiator_depth = default_initiator_depth; ///< READ requests outstanding, 1..128.
};

/// One packet to send: header bytes, payload inside registered memory (or inside the queue pair, for inlined
/// sends), no pad, no ICRC. Valid until the next call that changes the queue pair.
struct packet_out {
    wire::header_bytes header{};
    std::span<const std::byte> payload{};
    /// Above 0: goes with the packets before it as that segment of one segmented send. Each may as well be
    /// sent alone.
    std::uint8_t segment = 0;
};

/// How many of a span of work requests were accepted and why the next one was not.
struct post_result {
    std::size_t accepted = 0;
    errc reason = errc::success;
};

/// What a queue pair counted since it was made. Each counter has one writer, the caller's thread.
struct queue_pair_counters {
    std::uint64_t packets_sent = 0;
    std::uint64_t packets_received = 0;
    std::uint64_t bytes_sent = 0;     ///< Payload, retransmissions included.
    std::uint64_t bytes_received = 0; ///< Payload accepted.
    std::uint64_t messages_sent = 0;
    std::uint64_t messages_received = 0;
    std::uint64_t retransmitted_packets = 0;
    std::uint64_t timeouts = 0;
    std::uint64_t rnr_naks_sent = 0;
    std::uint64_t rnr_naks_received = 0;
    std::uint64_t sequence_naks_sent = 0;
    std::uint64_t sequence_naks_received = 0;
    std::uint64_t other_naks_sent = 0;
    std::uint64_t other_naks_received = 0;
    std::uint64_t duplicates_received = 0;
    std::uint64_t out_of_sequence_received = 0; ///< Ahead of the expected PSN, dropped.
    std::uint64_t acks_sent = 0;
    std::uint64_t acks_received = 0;
    std::uint64_t ignored_packets = 0; ///< Well formed, but not for this state: stray or impossible answers.
    std::uint64_t read_responses_sent = 0;
    std::uint64_t read_responses_received = 0; ///< Those that were put into memory.
    // UC only: what an unreliable connection loses without telling its peer.
    std::uint64_t psn_gaps = 0;                ///< Times that the PSN jumped ahead.
    std::uint64_t psns_missed = 0;             ///< Packets that these gaps hide.
    std::uint64_t interrupted_messages = 0;    ///< Begun and never completed.
    std::uint64_t dropped_out_of_message = 0;  ///< MIDDLE or LAST whose message was not begun or is dropped.
    std::uint64_t dropped_without_receive = 0; ///< Messages for which no receive was posted.
    std::uint64_t dropped_without_access = 0;  ///< WRITEs beyond key, bounds or rights.
    std::uint64_t dropped_bad_length = 0;      ///< Packets whose length does not fit their place.
};

/// A queue pair without I/O: packets and the time go in, packets and completions come out. Not thread-safe;
/// no clock, no socket, no logging. Allocates only while it is made.
///
/// Drive loop, once per turn:
///
///     for each packet received: on_packet(view, now);
///     if (next_deadline() <= now) on_deadline(now);
///     while ((n = next_packets(out, now)) != 0) {
///         taken = link.send(first n of out);
///         commit(taken, now);
///         if (taken < n) break;
///     }
///     poll(completions);
///
/// However many packets one turn feeds in, at most one acknowledgement and one negative one come out of it:
/// call next_packets() once per batch, not once per packet.
class queue_pair {
  public:
    virtual ~queue_pair() = default;

    virtual qpn number() const noexcept = 0;
    virtual queue_pair_state state() const noexcept = 0;

    /// State changes in IBA 10.3 order; errc::invalid_state from any other state. to_error() from every
    /// state: every posted work request completes as flushed, sends first, in order. `remote_access`: what
    /// the peer may do through this queue pair, besides what the regions grant; default nothing.
    virtual errc to_init(memory_access remote_access = memory_access::local_read) = 0;
    virtual errc to_rtr(const receive_path& path) = 0;
    virtual errc to_rts(const send_path& path) = 0;
    virtual void to_error() = 0;

    /// Sends: RTS (and ERROR, where each is accepted and flushed). Receives: INIT, RTR, RTS, ERROR. A work
    /// request keeps its place in its queue until its completion has been polled (an unsignalled send: until
    /// it is acknowledged). Reasons: errc::invalid_state, errc::queue_full, errc::not_supported (the
    /// operation: READ on UC), errc::message_too_long, errc::inline_too_long, errc::invalid_argument (an
    /// inlined READ). Whether the buffer lies in a region is found out when it is used: the work request then
    /// completes with errc::local_protection_error and the queue pair goes to the error state.
    virtual post_result post_send(std::span<const send_request> requests) = 0;
    virtual post_result post_receive(std::span<const receive_request> requests) = 0;

    /// Takes one packet whose ICRC, addresses and queue pair number the caller has checked. The only writer
    /// of user memory: all checks first, then one copy.
    virtual void on_packet(const wire::packet_view& packet, time_point now) = 0;

    /// Fills `out` with what may be sent now, responses before requests, and gives how many: READ responses
    /// (in half of `out`, so that they cannot keep requests back), at most two acknowledgements, at most 64
    /// requests. Changes nothing that matters: until commit() the same packets are given again. (A send whose
    /// buffer may not be read fails here, when everything before it is acknowledged.) What a queue pair in
    /// the error state still owes its peer, the answer that says why, is given too.
    virtual std::size_t next_packets(std::span<packet_out> out, time_point now) = 0;
    /// The link took the first `n` of the last next_packets(). After on_packet(), on_deadline() or to_error()
    /// there is nothing to commit: the packets are given again.
    virtual void commit(std::size_t n, time_point now) = 0;
    /// From now on each packet leaves by itself: the link cannot carry trains.
    virtual void end_trains() noexcept = 0;

    /// When on_deadline() wants to be called: `never` if nothing is waiting. May lie in the past.
    virtual time_point next_deadline() const noexcept = 0;
    virtual void on_deadline(time_point now) = 0;

    /// Takes completions, oldest first.
    virtual std::size_t poll(std::span<work_completion> out) = 0;
    virtual bool has_completions() const noexcept = 0;
    /// True when next_packets() would give something at `now`.
    virtual bool wants_to_send(time_point now) const noexcept = 0;

    /// True when it is in the error state because the peer asked for memory that key, bounds or rights do not
    /// give it.
    virtual bool access_violated() const noexcept = 0;

    virtual const queue_pair_counters& counters() const noexcept = 0;
};

} // namespace rocio::transport

#pragma once

#include <rocio/fpga/rssi_segment.hpp>
#include <rocio/types/error.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace rocio::fpga {

enum class rssi_role : std::uint8_t { client, server };

enum class rssi_state : std::uint8_t {
    closed,       ///< Not begun, or ended by close().
    listening,    ///< A server before the first SYN.
    syn_sent,     ///< A client that waits for the server's answer.
    syn_received, ///< A server that has answered.
    open,
    lost, ///< Reset by the peer, out of retransmits, or silent for too long; failure() says which.
};

struct rssi_config {
    /// A server's own. A client asks for them and then takes the server's; it sends no longer segments, and
    /// keeps no more of them, than these say.
    rssi_parameters parameters{};
    std::chrono::milliseconds try_period{100}; ///< Between a client's SYNs.
    std::uint8_t first_sequence = 100;
};

/// errc::invalid_argument for parameters that are not usable(), a try_period outside 1 ms to 60 s, segments
/// longer than 9000 bytes.
error_info validate(const rssi_config& config);

struct rssi_counters {
    std::uint64_t sent = 0;         ///< Data segments, each once.
    std::uint64_t received = 0;     ///< Data segments in order.
    std::uint64_t retransmits = 0;  ///< Segments sent again, SYNs included.
    std::uint64_t out_of_order = 0; ///< Kept until what was missing came.
    std::uint64_t duplicates = 0;
    std::uint64_t refused = 0; ///< Segments that make no sense, or fit no window.
};

/// One side of an RSSI connection as a state machine: no socket, no clock. After each call that is given
/// `now`, take what next_segment() has until it has nothing, and call on_deadline() at next_deadline().
/// Memory is bounded by the window on the receiving side; on the sending side by what the user queues.
class rssi_connection {
  public:
    using time_point = std::chrono::steady_clock::time_point;

    /// A server listens from the start; a client is closed. `config` must be valid.
    rssi_connection(rssi_role role, const rssi_config& config);

    /// Clients: sends SYNs, each with a new sequence number, until the server answers, close(), or for ever.
    void connect(time_point now);
    /// Any bytes.
    void on_segment(std::span<const std::byte> segment, time_point now);
    void on_deadline(time_point now);
    std::optional<time_point> next_deadline() const;
    /// Writes the next segment to send to `out`, which has room for max_segment bytes, and gives its length;
    /// 0 when there is none now.
    std::size_t next_segment(std::span<std::byte> out, time_point now);

    /// Queues one data segment of 1 to max_payload() bytes. Only while open.
    void send(std::span<const std::byte> payload);
    std::size_t max_payload() const noexcept;
    /// Segments queued and not acknowledged.
    std::size_t unacknowledged() const noexcept { return flight_.size() + queue_.size(); }
    /// The next payload in order; nothing when there is none. What is not taken makes this side busy.
    std::optional<std::vector<std::byte>> receive();
    /// Tells the peer by a reset, if there is one.
    void close(time_point now);

    rssi_state state() const noexcept { return state_; }
    /// The peer's BUSY flag.
    bool peer_busy() const noexcept { return peer_busy_; }
    /// In state `lost`: why.
    const error_info& failure() const noexcept { return failure_; }
    const rssi_counters& counters() const noexcept { return counters_; }
    /// SYNs sent since connect().
    unsigned tries() const noexcept { return tries_; }
    /// In use: the server's own, or what it said.
    const rssi_parameters& parameters() const noexcept { return used_; }
    /// Server: the SYN that made the connection had this number.
    std::uint8_t peer_first_sequence() const noexcept { return peer_first_; }

  private:
    struct sent_segment {
        std::uint8_t sequence = 0;
        bool nul = false;
        std::vector<std::byte> payload{};
        unsigned transmissions = 1;
        time_point due{};   ///< When it is sent again.
        bool again = false; ///< Is sent again at the next occasion.
    };
    struct kept_segment {
        bool nul = false;
        std::vector<std::byte> payload{};
    };

    void begin(std::uint8_t peer_sequence);
    void on_first_syn(const rssi_header& h, time_point now);
    void on_syn_ack(const rssi_header& h, time_point now);
    void on_open(const rssi_header& h, std::span<const std::byte> payload, time_point now);
    void on_syn_while_open(const rssi_header& h);
    bool acknowledge(std::uint8_t number);
    void take_data(const rssi_header& h, std::span<const std::byte> payload, time_point now);
    void take_in_order(bool nul, std::vector<std::byte> payload);
    void owe_acknowledgement(time_point now);
    void lose(const char* why, bool tell);
    void on_syn_deadline(time_point now);
    void find_overdue(time_point now);
    void keep_alive(time_point now);

    bool own_busy() const noexcept;
    std::size_t send_window() const noexcept;
    std::size_t receive_window() const noexcept;
    std::chrono::milliseconds retransmit_timeout() const;
    time_point null_deadline() const;

    std::size_t emit_syn(std::span<std::byte> out, time_point now);
    std::size_t emit_next(std::span<std::byte> out, time_point now);
    std::size_t emit_sent(std::span<std::byte> out, sent_segment& s, time_point now);
    std::size_t emit(std::span<std::byte> out, rssi_header h, std::span<const std::byte> payload,
                     time_point now);

    rssi_role role_;
    rssi_config config_;
    rssi_parameters used_;
    rssi_state state_;
    error_info failure_{};
    rssi_counters counters_{};

    // Set-up.
    unsigned tries_ = 0;
    std::uint8_t first_try_ = 0, syn_sequence_ = 0, peer_first_ = 0;
    time_point syn_due_{};
    bool syn_now_ = false, reset_now_ = false;

    // Sending.
    std::uint8_t next_sequence_;
    std::deque<sent_segment> flight_{}; ///< Sent, not acknowledged, in order.
    std::deque<std::vector<std::byte>> queue_{};
    bool peer_busy_ = false, null_now_ = false;
    time_point last_sent_{}, last_heard_{};

    // Receiving.
    std::uint8_t expected_ = 0;
    std::map<std::uint8_t, kept_segment> kept_{};
    std::deque<std::vector<std::byte>> received_{};
    unsigned unacknowledged_received_ = 0;
    std::optional<time_point> acknowledge_due_{};
    bool acknowledge_now_ = false;
};

} // namespace rocio::fpga

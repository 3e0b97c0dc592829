#pragma once

#include <rocio/transport/queue_pair.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace rocio::transport {

/// What a responder owes its peer: at most one acknowledgement of the newest accepted packet and one negative
/// one, however many packets came since the last time it could send.
class acknowledger {
  public:
    void connect(const receive_path& path) noexcept;

    psn expected() const noexcept { return expected_; }
    std::uint32_t completed_messages() const noexcept { return completed_; }

    /// The expected packet was accepted.
    void accepted(bool ask, bool ends_message) noexcept;
    /// The expected packet was a READ request of so many response packets. Its responses acknowledge all
    /// before it.
    void accepted_read(std::uint32_t packets) noexcept;
    /// An old packet came again: its acknowledgement may have been lost, so the newest is told again
    /// (IBA 9.7.5.1.3).
    void repeated() noexcept { ack_owed_ = true; }
    /// A packet from beyond the expected one came; one sequence NAK per gap (IBA 9.7.5.2.2).
    void gap_before(psn seen) noexcept;
    /// The expected packet came and there is no receive for it.
    void receiver_not_ready() noexcept;
    /// The expected packet cannot be executed, nor any after it.
    void refuse(wire::nak_code code) noexcept { refuse(code, expected_); }
    /// The same of a READ that was accepted, from the response `at` on.
    void refuse(wire::nak_code code, psn at) noexcept;

    /// The acknowledgement that is owed would tell of a READ that is not answered.
    void withhold() noexcept { ack_owed_ = false; }

    bool owes() const noexcept { return ack_owed_ || owed_ != negative::none; }
    std::size_t fill(std::span<packet_out> out) const noexcept;
    void commit(std::size_t n, queue_pair_counters& counters) noexcept;

  private:
    void forget_answered_gap() noexcept;

    enum class negative : std::uint8_t { none, sequence, not_ready, refusal };

    /// A sequence NAK acknowledges everything before it. So do the others by the standard, but the Linux
    /// kernel does not take a "not ready" for that (capture peer_req_rnr_mid_message): it gets the
    /// acknowledgement as well.
    bool ack_leaves() const noexcept { return ack_owed_ && owed_ != negative::sequence; }
    wire::aeth answer() const noexcept;

    qpn peer_{};
    rnr_timer timer_{};
    psn expected_{};
    psn gap_end_{};      ///< The farthest packet that was dropped for coming too early.
    psn acknowledged_{}; ///< The expected PSN that the last acknowledgement implied.
    std::uint32_t completed_ = 0;
    bool ack_owed_ = false;
    bool peer_asks_ = false; ///< The peer has set AckReq at least once.
    bool told_ = false;      ///< A negative answer for the expected packet was given or is owed.
    negative owed_ = negative::none;
    wire::nak_code code_ = wire::nak_code::invalid_request;
    psn refused_{};
};

} // namespace rocio::transport

#pragma once

#include <cstdint>

namespace rocio::fpga {

/// Everything the sender of an emulated SLAC board needs. The numbers have passed the engine's own checks,
/// but come from outside all the same.
struct slac_stream {
    std::uint32_t fpga_qpn = 0;      ///< 24 bits.
    std::uint32_t host_qpn = 0;      ///< 24 bits.
    std::uint32_t sq_psn = 0;        ///< 24 bits; of the first frame.
    std::uint32_t rq_psn = 0;        ///< 24 bits.
    std::uint32_t path_mtu = 0;      ///< Code 1..5.
    std::uint32_t timeout = 0;       ///< Code 0..31.
    std::uint32_t min_rnr_timer = 0; ///< Code 0..31.
    std::uint32_t retry_count = 0;   ///< 0..7.
    std::uint32_t rnr_retry = 0;     ///< 0..7.
    std::uint32_t lkey = 0;
    std::uint64_t region_address = 0; ///< As the memory region was allocated; a SEND does not use it.
    std::uint32_t region_length = 0;
    std::uint32_t host_ip = 0;       ///< First octet in bits 31:24; 0: not programmed.
    std::uint16_t host_port = 0;     ///< 0: not programmed.
    std::uint32_t counter_wrap = 0;  ///< The immediate's counter counts modulo this; 0: stands at 0.
    std::uint32_t payload_bytes = 0; ///< Of each frame; at most the path MTU.
    std::uint32_t word_bits = 0;     ///< Of the PRBS, a multiple of 32.
    std::uint32_t trigger_delay = 0; ///< Frames leave every (delay + 1) clocks; 0: as fast as they can.
    std::uint32_t clock_hz = 0;      ///< The clock of trigger_delay.

    /// Frames per second; 0: as fast as they can.
    double rate() const noexcept {
        return trigger_delay == 0 ? 0.0 : double(clock_hz) / (double(trigger_delay) + 1.0);
    }
    friend bool operator==(const slac_stream&, const slac_stream&) = default;
};

/// The data half of an emulated SLAC board, as its control half drives it. Called from within the control
/// half, which must not be called back from these functions.
class slac_stream_port {
  public:
    virtual ~slac_stream_port() = default;

    /// The engine makes a queue pair, which it would give the number `proposed`. Gives the number that it has
    /// on the wire, 2 to 0xFFFFFF, where that is not the board's to choose; anything else refuses it.
    virtual std::uint32_t create_queue_pair(std::uint32_t proposed) { return proposed; }
    /// It is gone. A stop() may still follow.
    virtual void destroy_queue_pair() {}
    /// The source was switched on: a connection from PSN sq_psn on. Comes only after stop(), or first.
    virtual void start(const slac_stream& stream) = 0;
    /// The source was switched off, or what it needs was taken away. Comes once after each start().
    virtual void stop() = 0;

  protected:
    slac_stream_port() = default;
    slac_stream_port(const slac_stream_port&) = default;
    slac_stream_port& operator=(const slac_stream_port&) = default;
};

} // namespace rocio::fpga

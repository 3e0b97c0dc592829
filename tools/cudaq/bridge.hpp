#pragma once

#include "cudaq/frame_ring.hpp"

#include <rocio/connect/any_handshake.hpp>
#include <rocio/io/busy_poll_thread.hpp>
#include <rocio/io/polling_policy.hpp>
#include <rocio/io/thread_placement.hpp>
#include <rocio/ring/ring_transceiver.hpp>
#include <rocio/rpc/ring_dispatcher.hpp>
#include <rocio/types/error.hpp>
#include <rocio/types/gid.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace rocio::tools {

/// How the bridge answers; named as the original names its threads.
enum class bridge_mode : std::uint8_t {
    three_thread, ///< Flags of the ring, and a dispatcher on the context.
    unified,      ///< Receive, call and send by turns on a thread of its own.
    forward,      ///< Every message is sent back as it came; nothing is called.
};
/// "3-thread", "UNIFIED", "FORWARD".
const char* to_string(bridge_mode mode) noexcept;

struct bridge_config {
    std::shared_ptr<rocio::device> device{};
    std::uint8_t port = 1;
    std::optional<std::uint32_t>
        gid_index{};                    ///< Default: the first of the peer's subnet that is not its own.
    gid peer_address{};                 ///< An IPv4 address.
    std::uint16_t peer_udp_port = 4791; ///< Other than 4791 for soft devices only.
    std::uint32_t peer_queue_pair = 2;  ///< 2: what an HSB FPGA has.
    std::uint32_t pages = 64;           ///< Slots, a power of two.
    std::uint32_t page_size = 384;      ///< Bytes of a slot.
    std::uint32_t payload_size = 24;    ///< A message has 24 bytes more: its header.
    bridge_mode mode = bridge_mode::three_thread;
    /// Of the unified thread: spin never gives the CPU away, hybrid naps after 50 µs without a message, park
    /// at once. The other modes have the policy of their context.
    polling_policy poll = polling_policy::hybrid();
    thread_placement thread{};       ///< Of the unified thread.
    memory_options memory{};         ///< Of the ring.
    std::shared_ptr<log_sink> log{}; ///< Of the context that has the ring; null: as it is.
    /// Makes the handshake that brings the FPGA up; then the peer's numbers are not used. Not in unified
    /// mode.
    std::function<any_handshake(boost::asio::io_context&)> bring_up{};
};

/// What a bridge has done; a value.
struct bridge_report {
    bridge_mode mode = bridge_mode::three_thread;
    std::uint64_t received = 0;   ///< Messages.
    std::uint64_t dispatched = 0; ///< Requests that a function answered; 0 in forward mode.
    std::uint64_t silent =
        0;                  ///< Requests that got no answer, since they were wrong or their function failed.
    std::uint64_t sent = 0; ///< Messages that left.
    ring_snapshot ring{};
    rpc::rpc_snapshot calls{};
};

/// CUDA-Q's bridge for an HSB FPGA without a GPU: answers the requests that the FPGA writes into a ring.
/// There is no rendezvous: the peer's address and queue pair are known, and ours go to the FPGA by its
/// control plane. A request with a wrong magic, of an unknown function or of a wrong length gets no answer,
/// as from the original.
///
/// The path MTU is that of the port, 4096 where it carries that: an HSB FPGA sends single packets longer than
/// the next smaller step. Answers have the length of a frame, 24 + payload_size; longer ones leave whole.
///
/// Thread safety: stop() and progress() from any thread; the rest on the context, or before it runs.
class bridge {
  public:
    /// Throws rocio::exception: a config that cannot be, errc::unsupported_context.
    bridge(boost::asio::io_context& context, const bridge_config& config, rpc::function_table functions);
    bridge(const bridge&) = delete;
    bridge& operator=(const bridge&) = delete;
    /// stop(), and waits for the unified thread. run() must be over, or its context run no more.
    ~bridge();

    /// Makes the queue pair, posts the receives and connects, which with bring_up is left to run(); throws
    /// rocio::exception.
    void start();
    /// Our numbers, for the FPGA; complete after start().
    local_parameters local() const { return ring_.local(); }
    std::uint32_t frame_size() const noexcept { return ring_.config().frame_size; }

    /// Answers until stop(), or until the device fails: then that is the result. Precondition: start(). The
    /// object outlives it.
    boost::asio::awaitable<error_info> run();
    void stop();

    struct counts {
        std::uint64_t received = 0, sent = 0;
    };
    counts progress() const;
    /// When run() is over, or on its context; in unified mode when run() is over.
    bridge_report report() const;

  private:
    using executor = boost::asio::io_context::executor_type;
    using transceiver = basic_ring_transceiver<executor>;
    using frames = frame_ring<transceiver>;

    boost::asio::awaitable<error_info> bring_up();
    boost::asio::awaitable<void> answer();
    boost::asio::awaitable<void> wait_for_end();
    boost::asio::awaitable<void> run_unified();
    void unified_loop();

    boost::asio::io_context& context_;
    bridge_config config_;
    /// Of the ring in unified mode: a context that nobody runs.
    std::unique_ptr<boost::asio::io_context> idle_context_;
    transceiver ring_;
    frames frames_;
    std::optional<rpc::ring_dispatcher<frames>> dispatcher_{};
    std::optional<rpc::dispatcher> unified_{};
    std::unique_ptr<busy_poll_thread> thread_{};
    std::atomic<bool> stopping_{false};
};

} // namespace rocio::tools

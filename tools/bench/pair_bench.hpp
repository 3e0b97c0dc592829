#pragma once

#include "bench/measurement.hpp"
#include "bench/message_operation.hpp"

#include <rocio/io/polling_policy.hpp>
#include <rocio/types/error.hpp>
#include <rocio/types/log_sink.hpp>
#include <rocio/types/mtu.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rocio::tools {

/// One of the two ends of a benchmark; `operation`, `what`, `size`, `count` and `queue_pairs` must be the
/// same on both.
struct pair_bench_config {
    message_operation operation = message_operation::send;
    measured what = measured::latency;
    std::string device{};
    std::optional<boost::asio::ip::tcp::endpoint> listen{}; ///< This one or `peer`.
    std::optional<boost::asio::ip::tcp::endpoint> peer{};
    std::uint32_t size = 64;
    std::uint64_t count = 10000;    ///< Measured messages, after a tenth of that as warm-up.
    std::uint32_t max_inline = 236; ///< Longer messages come from registered memory.
    std::uint32_t send_depth = 128; ///< Of each queue pair.
    std::uint32_t receive_depth = 512;
    std::uint32_t queue_pairs = 1; ///< A bandwidth's messages go over all of them in turn.
    std::uint32_t batch = 1;       ///< A bandwidth's sends that are posted together.
    std::uint32_t buffers = 1;     ///< Message n comes from buffer n % buffers, each with bytes of its own.
    std::uint32_t take = 16;       ///< Frames that the user of a receive_server takes together.
    std::uint32_t immediate_shift = 0; ///< The immediate of message n is n << immediate_shift.
    /// Messages per second of an open loop; 0: the next when the one before is answered.
    double rate = 0;
    polling_policy poll = polling_policy::spin();
    std::optional<std::uint32_t> gid_index{};
    std::optional<mtu> path_mtu{};
    std::chrono::milliseconds connect_timeout{10000};
    std::shared_ptr<log_sink> log{};
    /// Told once: where a listening side waits.
    std::function<void(const boost::asio::ip::tcp::endpoint&)> listening{};
    std::atomic<std::uint64_t>* progress = nullptr; ///< Where the number of messages through goes.
    const std::atomic<bool>* abandoned = nullptr;   ///< Becomes true when nobody will come to `listen`.

    bool dials() const noexcept { return peer.has_value(); }
    bool sent_inline() const noexcept { return size <= max_inline && operation != message_operation::read; }
    std::uint64_t warm_up() const noexcept { return count / 10; }
    std::uint64_t messages() const noexcept { return warm_up() + count; }
    bool is_paced() const noexcept { return rate > 0; }
    /// Of a ping-pong: a latency is the time between two sends, so there is one more of these.
    std::uint64_t ping_pong_messages() const noexcept { return messages() + (is_paced() ? 0 : 1); }
    /// Messages move in both directions.
    bool is_ping_pong() const noexcept {
        return what == measured::latency && operation != message_operation::read;
    }
};

/// Runs one end and blocks until all messages are through and both sides know it. Of a ping-pong each latency
/// is half of the time from one send to the next; of a READ the whole of one; of an open loop all the time
/// from when the message was due to its answer. Throws rocio::exception: those of opening and connecting,
/// errc::bad_response for bytes or numbers that are not the other side's, errc::peer_lost when no message
/// moves for longest_silence.
using end_runner = measurement (*)(const pair_bench_config& config);

/// With rocio's own objects: queue pairs on a busy_poll_context, callbacks on its own executor.
measurement run_queue_pair(const pair_bench_config& config);
/// The same with plain libibverbs calls in a loop, for system devices; waits on completion events when
/// `poll` parks.
measurement run_plain_verbs(const pair_bench_config& config);

// What both have in common.

/// Without a message for so long the other side is given up.
inline constexpr std::chrono::seconds longest_silence{10};
/// Receives of a ping-pong; more than the one that is needed, so that posting the next is on nobody's way.
inline constexpr std::uint32_t ping_pong_receives = 16;

/// What a side sends: byte `i` tells the side, the place and the buffer (of 256), so that other bytes are
/// noticed.
constexpr std::byte pattern(bool dials, std::size_t i, std::size_t buffer = 0) noexcept {
    return static_cast<std::byte>((i * 7 + (dials ? 31 : 62) + buffer * 37) & 0xFF);
}
void fill_pattern(std::span<std::byte> bytes, bool dials, std::size_t buffer = 0) noexcept;
/// Throws rocio::exception(errc::bad_response).
void check_pattern(std::span<const std::byte> bytes, bool dials);

/// errc::bad_response for an immediate that is not the one that is next.
error_info wrong_number(std::uint64_t expected, std::optional<std::uint32_t> found);

/// Half of the time between neighbours, microseconds, without the first `warm_up`.
std::vector<double> half_round_trips(std::span<const std::chrono::steady_clock::time_point> sent,
                                     std::uint64_t warm_up);

} // namespace rocio::tools

#pragma once

#include "bench/bench_result.hpp"
#include "bench/measurement.hpp"

#include <atomic>
#include <cstdint>
#include <string_view>

namespace rocio::tools {

/// The baseline of the soft device: what the kernel's UDP does between two threads over 127.x addresses, with
/// nothing of rocio in between. The threads spin, or sleep in the kernel until a datagram comes.
struct raw_udp_config {
    std::uint32_t size = 64; ///< Bytes of a message; more than raw_datagram are sent as several datagrams.
    std::uint64_t count = 10000;   ///< Measured messages, after a tenth of that as warm-up.
    std::uint64_t answer_size = 0; ///< Bytes of the answer; 0: as the message.
    double rate = 0;               ///< As pair_bench_config; for messages of one datagram.
    std::uint32_t window = 45;     ///< Of a stream: messages on their way at most.
    bool sleeps = false;
    bench_cpus cpus{};
    std::atomic<std::uint64_t>* progress = nullptr;

    std::uint64_t warm_up() const noexcept { return count / 10; }
    std::uint64_t messages() const noexcept { return warm_up() + count; }
};

/// Bytes of a message in one datagram, as in a packet of the largest path MTU.
inline constexpr std::uint32_t raw_datagram = 4096;
/// What the soft device adds to them in a SEND with immediate: headers and ICRC.
inline constexpr std::uint32_t raw_overhead = 20;
constexpr std::uint32_t raw_datagrams_of(std::uint32_t size) noexcept {
    return size <= raw_datagram ? 1 : (size + raw_datagram - 1) / raw_datagram;
}

/// How a stream's datagrams are handed to the kernel.
enum class raw_stream_kind : std::uint8_t {
    plain,    ///< Batches by sendmmsg and recvmmsg, one acknowledgement per batch.
    segmented ///< Trains by UDP_SEGMENT and UDP_GRO, one acknowledgement per train.
};
constexpr std::string_view name_of(raw_stream_kind kind) noexcept {
    return kind == raw_stream_kind::plain ? "plain UDP" : "segmented UDP";
}

/// Datagrams on their way, and how many are handed over together, so that the default socket buffer holds
/// them.
struct raw_window {
    std::uint32_t together = 1;
    std::uint32_t in_flight = 1;
};
raw_window raw_window_of(raw_stream_kind kind, std::uint32_t size, std::uint32_t window) noexcept;

/// Messages there and back: `latencies` are whole round trips, or with a rate the times from due to answered.
/// Throws std::system_error, and rocio::exception for a CPU that is not there.
measurement raw_udp_round_trips(const raw_udp_config& config);
/// One way. `lost` are datagrams that the receiving socket had no room for; they are sent again.
measurement raw_udp_stream(raw_stream_kind kind, const raw_udp_config& config);

} // namespace rocio::tools

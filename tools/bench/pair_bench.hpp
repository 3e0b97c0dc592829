#pragma once

#include <rocio/io/engine_snapshot.hpp>
#include <rocio/io/polling_policy.hpp>
#include <rocio/types/log_sink.hpp>
#include <rocio/types/mtu.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rocio::tools {

/// What two processes measure with each other, each the counterpart of a program of perftest.
enum class pair_test : std::uint8_t {
    send,  ///< SEND there and back, as ib_send_lat.
    write, ///< RDMA WRITE there and back, both ends watch their memory, as ib_write_lat.
    stream ///< SEND one way, as ib_send_bw.
};

std::string_view name_of(pair_test test) noexcept;

/// One of the two processes. `size` and `count` must be the same on both sides.
struct pair_bench_config {
    pair_test test = pair_test::send;
    std::string device{};
    std::optional<boost::asio::ip::tcp::endpoint> listen{}; ///< This one or `peer`.
    std::optional<boost::asio::ip::tcp::endpoint> peer{};
    std::uint32_t size = 64;
    std::uint64_t count = 10000;    ///< Measured messages, after a tenth of that as warm-up.
    std::uint32_t max_inline = 236; ///< Longer messages come from registered memory.
    std::uint32_t send_depth = 128;
    std::uint32_t receive_depth = 512;
    polling_policy poll = polling_policy::spin();
    std::optional<std::uint32_t> gid_index{};
    std::optional<mtu> path_mtu{};
    std::chrono::milliseconds connect_timeout{10000};
    std::shared_ptr<log_sink> log{};
    /// Told once: where a listening side waits.
    std::function<void(const std::string&)> say{};

    bool dials() const noexcept { return peer.has_value(); }
    bool sent_inline() const noexcept { return size <= max_inline; }
    std::uint64_t warm_up() const noexcept { return count / 10; }
    std::uint64_t messages() const noexcept { return warm_up() + count; }
};

struct pair_bench_result {
    /// send and write: half of the time from one send to the next, microseconds, in order.
    std::vector<double> half_round_trips{};
    /// stream: what this side saw of the measured messages.
    double seconds = 0;
    std::optional<engine_snapshot> engine{}; ///< None for plain verbs.
};

/// With rocio's own objects: a queue_pair on a busy_poll_context, callbacks on its own executor. Blocks until
/// all messages are through and both sides know it. Throws rocio::exception: those of opening and connecting,
/// errc::peer_closed when the other side ends early (another count), errc::peer_lost when no message moves
/// for 10 s, errc::bad_response for other bytes than were sent.
pair_bench_result run_queue_pair(const pair_bench_config& config);

/// The same messages with nothing but libibverbs between program and device: context, completion queue and
/// queue pair of its own, post and poll in a loop; the policy park waits for completion events instead. Only
/// the numbers are exchanged by rocio. Throws as above; errc::verbs_not_built without libibverbs.
pair_bench_result run_plain_verbs(const pair_bench_config& config);

// What both have in common.

/// Without a message for so long the other side is given up.
inline constexpr std::chrono::seconds longest_silence{10};
/// Receives of a ping-pong; more than the one that is needed, so that posting the next is on nobody's way.
inline constexpr std::uint32_t ping_pong_receives = 16;

/// What a side sends: byte `i` tells the side and the place, so that other bytes are noticed.
constexpr std::byte pattern(bool dials, std::size_t i) noexcept {
    return static_cast<std::byte>((i * 7 + (dials ? 31 : 62)) & 0xFF);
}
void fill_pattern(std::span<std::byte> bytes, bool dials) noexcept;
/// Throws rocio::exception(errc::bad_response).
void check_pattern(std::span<const std::byte> bytes, bool dials);

/// Half of the time between neighbours, microseconds, without the first `warm_up`.
std::vector<double> half_round_trips(std::span<const std::chrono::steady_clock::time_point> sent,
                                     std::uint64_t warm_up);
/// For a progress line.
std::string progress_text(const pair_bench_config& config, std::uint64_t messages);

} // namespace rocio::tools

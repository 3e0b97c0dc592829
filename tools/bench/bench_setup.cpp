#include "bench/bench_setup.hpp"

#include "bench/both_ends.hpp"
#include "bench/raw_udp.hpp"
#include "bench/rpc_bench.hpp"
#include "bench/stream_receiver.hpp"

#include <rocio/open/open_device.hpp>

#include <algorithm>

namespace rocio::tools {

namespace {

using progress_counter = std::atomic<std::uint64_t>;

constexpr std::uint32_t open_loop_depth = 128;
constexpr std::uint32_t stream_window = 45; ///< Three trains of 15, which the default socket buffer holds.
constexpr std::uint32_t stream_slots = 256;
constexpr std::uint32_t stream_memory = 1U << 28; ///< Bytes of slots at most, but for 16 of them.
constexpr std::uint32_t read_request = 28;        ///< BTH and RETH.

measurement halved(measurement m) {
    for (double& us : m.latencies) us /= 2;
    return m;
}

raw_udp_config raw_config(const pair_bench_config& c, const bench_setup& s, progress_counter& progress) {
    raw_udp_config raw;
    raw.size = c.size;
    raw.count = c.count;
    raw.rate = c.rate;
    raw.window = c.send_depth * c.queue_pairs;
    raw.sleeps = c.poll.budget.count() == 0;
    raw.cpus = s.cpus;
    raw.progress = &progress;
    return raw;
}

bench_side raw_latency(const pair_bench_config& common, const bench_setup& setup) {
    return {"plain UDP",
            [common, setup](std::uint32_t size, std::uint64_t count, progress_counter& progress) {
                auto raw = raw_config(common, setup, progress);
                raw.size = size;
                raw.count = count;
                const bool reads = common.operation == message_operation::read;
                if (reads) {
                    raw.answer_size = size;
                    raw.size = read_request;
                }
                auto m = raw_udp_round_trips(raw);
                return reads || raw.rate > 0 ? m : halved(std::move(m));
            }};
}

bench_side raw_bandwidth(raw_stream_kind kind, const pair_bench_config& common, const bench_setup& setup) {
    return {std::string(name_of(kind)),
            [kind, common, setup](std::uint32_t size, std::uint64_t count, progress_counter& progress) {
                auto raw = raw_config(common, setup, progress);
                raw.size = size;
                raw.count = count;
                return raw_udp_stream(kind, raw);
            }};
}

/// `common` at a size and a count.
bench_side pair_side(std::string name, const pair_bench_config& common, const bench_setup& setup,
                     end_runner first, end_runner second) {
    return {std::move(name), [=](std::uint32_t size, std::uint64_t count, progress_counter& progress) {
                auto c = common;
                c.size = size;
                c.count = count;
                c.progress = &progress;
                return run_both_ends(c, setup.devices, setup.cpus, first, second);
            }};
}

std::vector<bench_side> baselines_of(const pair_bench_config& common, const bench_setup& setup) {
    if (!setup.on_soft_devices())
        return {pair_side("plain verbs", common, setup, run_plain_verbs, run_plain_verbs)};
    if (common.what == measured::latency) return {raw_latency(common, setup)};
    return {raw_bandwidth(raw_stream_kind::plain, common, setup),
            raw_bandwidth(raw_stream_kind::segmented, common, setup)};
}

pair_bench_config pair_config(message_operation operation, measured what, const bench_setup& setup) {
    auto c = setup.common;
    c.operation = operation;
    c.what = what;
    c.max_inline = setup.max_inline.value_or(default_inline(operation, what));
    const bool one_by_one = what == measured::latency && !c.is_paced();
    const auto usual = one_by_one ? ping_pong_receives : open_loop_depth;
    c.send_depth = setup.tx_depth.value_or(usual);
    c.receive_depth = setup.depth.value_or(what == measured::latency ? c.send_depth : 512);
    if (what == measured::latency) c.queue_pairs = c.batch = 1;
    return c;
}

/// Half of a mebibyte of different messages, 2 to 64 of them.
std::uint32_t buffers_for(std::uint32_t size) noexcept {
    return std::clamp<std::uint32_t>((1U << 19) / size, 2, 64);
}

} // namespace

std::uint64_t largest_message(const bench_setup& setup) {
    std::uint64_t largest = ~std::uint64_t{0};
    for (const auto& name : setup.devices)
        largest = std::min<std::uint64_t>(largest, open_device(name)->limits().max_message);
    return largest;
}

std::uint32_t default_inline(message_operation operation, measured what) noexcept {
    if (what == measured::bandwidth) return 0;
    return is_send(operation) ? 236 : 220;
}

bench_series pair_series(const std::string& mode, message_operation operation, measured what,
                         const bench_setup& setup) {
    const auto common = pair_config(operation, what, setup);
    bench_series s;
    s.mode = mode;
    s.what = what;
    s.rate = common.rate;
    s.ours = pair_side("rocio", common, setup, run_queue_pair, run_queue_pair);
    s.baselines = baselines_of(common, setup);
    return s;
}

bench_series stream_series(const bench_setup& setup) {
    auto common = pair_config(message_operation::send_imm, measured::bandwidth, setup);
    common.send_depth = setup.tx_depth.value_or(stream_window);
    common.receive_depth = setup.depth.value_or(stream_slots);
    common.immediate_shift = 8; // below it is the channel
    common.queue_pairs = 1;
    bench_series s;
    s.mode = "stream";
    s.what = measured::bandwidth;
    s.baselines = baselines_of(common, setup);
    s.ours = {"rocio", [common, setup](std::uint32_t size, std::uint64_t count, progress_counter& progress) {
                  auto c = common;
                  c.size = size;
                  c.count = count;
                  c.buffers = buffers_for(size);
                  c.progress = &progress;
                  if (!setup.depth)
                      c.receive_depth = std::clamp<std::uint32_t>(stream_memory / size, 16, stream_slots);
                  return run_both_ends(c, setup.devices, setup.cpus, run_queue_pair, run_stream_receiver);
              }};
    return s;
}

bench_series rpc_series(const bench_setup& setup) {
    bench_series s;
    s.mode = "rpc";
    s.sizes = {rpc_message};
    s.ours = {"rpc", [setup](std::uint32_t, std::uint64_t count, progress_counter& progress) {
                  return rpc_round_trips(setup.devices[0], setup.devices[1], count, setup.cpus, progress);
              }};
    s.baselines = {
        {"plain UDP", [setup](std::uint32_t size, std::uint64_t count, progress_counter& progress) {
             auto raw = raw_config(setup.common, setup, progress);
             raw.size = size;
             raw.count = count;
             return raw_udp_round_trips(raw);
         }}};
    return s;
}

bench_series udp_series(measured what, const bench_setup& setup) {
    auto common = pair_config(message_operation::send, what, setup);
    common.send_depth = setup.tx_depth.value_or(stream_window);
    bench_series s;
    s.mode = "udp";
    s.what = what;
    s.ours = what == measured::latency ? raw_latency(common, setup)
                                       : raw_bandwidth(raw_stream_kind::plain, common, setup);
    if (what == measured::bandwidth) s.baselines = {raw_bandwidth(raw_stream_kind::segmented, common, setup)};
    return s;
}

} // namespace rocio::tools

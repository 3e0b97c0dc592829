#pragma once

#include "bench/bench_result.hpp"
#include "bench/bench_run.hpp"
#include "bench/pair_bench.hpp"

#include <array>
#include <optional>
#include <string>

namespace rocio::tools {

/// What all modes with both ends in one process take.
struct bench_setup {
    std::array<std::string, 2> devices{"soft:127.61.0.1", "soft:127.61.0.2"};
    bench_cpus cpus{};
    pair_bench_config common{};
    std::optional<std::uint32_t> depth{};    ///< Receives kept posted.
    std::optional<std::uint32_t> tx_depth{}; ///< Messages on their way.
    std::optional<std::uint32_t> max_inline{};

    bool on_soft_devices() const { return devices[0].starts_with("soft:"); }
};

/// Bytes of the largest message that both devices take. Opens them. Throws rocio::exception.
std::uint64_t largest_message(const bench_setup& setup);

/// perftest's own limits for its inline sends; the device may have a lower one.
std::uint32_t default_inline(message_operation operation, measured what) noexcept;

/// Messages of one operation. Baseline: plain UDP, and for a bandwidth segmented UDP, at the same number of
/// messages on their way, on soft devices; a loop of plain libibverbs calls on others.
bench_series pair_series(const std::string& mode, message_operation operation, measured what,
                         const bench_setup& setup);
/// SEND with immediate into a receive_server, each frame compared. Baselines as above.
bench_series stream_series(const bench_setup& setup);
/// Calls of 64 bytes over rings. Baseline: plain UDP.
bench_series rpc_series(const bench_setup& setup);
/// Plain UDP itself; segmented UDP beside its bandwidth.
bench_series udp_series(measured what, const bench_setup& setup);

} // namespace rocio::tools

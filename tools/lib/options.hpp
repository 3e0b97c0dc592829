#pragma once

#include "lib/connection_kind.hpp"
#include "lib/frame_check.hpp"
#include "lib/log_levels.hpp"

#include <rocio/io/memory_options.hpp>
#include <rocio/io/polling_policy.hpp>
#include <rocio/io/thread_placement.hpp>
#include <rocio/types/mtu.hpp>
#include <rocio/types/rnr_timer.hpp>

#include <CLI/App.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

/// The options that are spelled alike in every subcommand. Each function adds one to `app`; the variable's
/// value is the default, is left alone when the option is not given, and must outlive the parse. What is
/// refused is refused with the option, the value and the values allowed. Each returns the option for
/// `->required()` and the like.
namespace rocio::tools::options {

/// Where to serve the status.
struct http_address {
    std::string address = "127.0.0.1";
    std::uint16_t port = 0; ///< 0: a free one.
};

CLI::Option* device(CLI::App& app, std::string& value);                     ///< Environment ROCIO_DEVICE.
CLI::Option* gid_index(CLI::App& app, std::optional<std::uint32_t>& value); ///< "auto" leaves it to rocio.
CLI::Option* path_mtu(CLI::App& app, mtu& value);                           ///< --mtu, bytes or code.
CLI::Option* depth(CLI::App& app, std::uint32_t& value);
CLI::Option* payload(CLI::App& app, std::uint32_t& value);
CLI::Option* verify(CLI::App& app, verify_kind& value);
CLI::Option* prbs_width(CLI::App& app, std::size_t& word_bytes);      ///< In bits on the command line.
CLI::Option* counter_wrap(CLI::App& app, std::uint32_t& value);       ///< 0..2^24.
CLI::Option* http(CLI::App& app, std::optional<http_address>& value); ///< [ADDR:]PORT.
CLI::Option* seconds(CLI::App& app, std::optional<std::chrono::nanoseconds>& value);
CLI::Option* count(CLI::App& app, std::optional<std::uint64_t>& value);
CLI::Option* json(CLI::App& app, bool& value);
CLI::Option* ib_port(CLI::App& app, std::uint8_t& value);
CLI::Option* min_rnr_timer(CLI::App& app, rnr_timer& value); ///< --rnr-timer, the code.
CLI::Option* rnr_retry(CLI::App& app, std::uint8_t& value);
CLI::Option* retry_count(CLI::App& app, std::uint8_t& value);
CLI::Option* name(CLI::App& app, std::string& value);
CLI::Option* cpu(CLI::App& app, std::optional<unsigned>& value);
CLI::Option* realtime_priority(CLI::App& app, std::optional<int>& value);
CLI::Option* poll(CLI::App& app, polling_policy& value); ///< park|hybrid[:TIME]|spin.
CLI::Option* huge_pages(CLI::App& app, rocio::huge_pages& value);
CLI::Option* numa_node(CLI::App& app, std::optional<unsigned>& value);
CLI::Option* prefault(CLI::App& app, bool& value);
CLI::Option* lock_memory(CLI::App& app, bool& value);
CLI::Option* connect(CLI::App& app, connection_kind& value); ///< --connect tcp|cm|static.
CLI::Option* connect_timeout(CLI::App& app, std::chrono::milliseconds& value);
CLI::Option* log(CLI::App& app, log_levels& value); ///< Environment ROCIO_LOG.

/// --cpu and --realtime-priority.
void thread(CLI::App& app, thread_placement& value);
/// --huge-pages, --numa-node, --prefault and --lock-memory.
void memory(CLI::App& app, memory_options& value);

/// "8080", "0.0.0.0:8080" or "[::1]:8080"; throws CLI::ValidationError.
http_address parse_http_address(const std::string& text);
/// "2.5", "2.5s", "250ms", "100us": above 0, at most a year; throws CLI::ValidationError.
std::chrono::nanoseconds parse_duration(const std::string& option, const std::string& text);

} // namespace rocio::tools::options

#include "lib/spdlog_sink.hpp"

#include <rocio/spdlog_sink.hpp>

#include <spdlog/sinks/stdout_color_sinks.h>

#include <string>
#include <utility>

#include <unistd.h>

namespace rocio::tools {

namespace {

spdlog::sink_ptr standard_error() {
    auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
    const bool terminal = ::isatty(STDERR_FILENO) != 0;
    // On a terminal a live_line may stand there: the log line takes its place.
    sink->set_pattern(std::string(terminal ? "\r\033[K" : "") + "%H:%M:%S.%e %^%l%$ %n: %v");
    return sink;
}

} // namespace

std::shared_ptr<log_sink> spdlog_to(log_levels levels, spdlog::sink_ptr out) {
    return std::make_shared<spdlog_sink>(
        [levels = std::move(levels), out = std::move(out)](std::string_view room) {
            auto made = std::make_shared<spdlog::logger>(std::string(room), out);
            const auto level = levels.of(room);
            made->set_level(level ? spdlog_sink::to_spdlog(*level) : spdlog::level::off);
            made->flush_on(spdlog::level::warn);
            return made;
        });
}

std::shared_ptr<log_sink> command_log(log_levels levels, rate_limit limit) {
    return std::make_shared<rate_limited_sink>(spdlog_to(std::move(levels), standard_error()), limit);
}

} // namespace rocio::tools

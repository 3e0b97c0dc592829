#include "lib/spdlog_sink.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>

#include <utility>

#include <unistd.h>

namespace rocio::tools {

namespace {

spdlog::level::level_enum to_spdlog(log_level level) {
    switch (level) {
    case log_level::debug:
        return spdlog::level::debug;
    case log_level::info:
        return spdlog::level::info;
    case log_level::warning:
        return spdlog::level::warn;
    case log_level::error:
        return spdlog::level::err;
    }
    return spdlog::level::err;
}

spdlog::sink_ptr standard_error() {
    auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
    const bool terminal = ::isatty(STDERR_FILENO) != 0;
    // On a terminal a live_line may stand there: the log line takes its place.
    sink->set_pattern(std::string(terminal ? "\r\033[K" : "") + "%H:%M:%S.%e %^%l%$ %n: %v");
    return sink;
}

} // namespace

spdlog_sink::spdlog_sink(log_levels levels) : spdlog_sink(std::move(levels), standard_error()) {}

spdlog_sink::spdlog_sink(log_levels levels, spdlog::sink_ptr out)
    : levels_(std::move(levels)), out_(std::move(out)) {}

spdlog::logger& spdlog_sink::logger_of(std::string_view room) {
    const std::lock_guard lock(mutex_);
    auto found = loggers_.find(room);
    if (found == loggers_.end()) {
        auto made = std::make_unique<spdlog::logger>(std::string(room), out_);
        const auto level = levels_.of(room);
        made->set_level(level ? to_spdlog(*level) : spdlog::level::off);
        made->flush_on(spdlog::level::warn);
        found = loggers_.emplace(room, std::move(made)).first;
    }
    return *found->second;
}

void spdlog_sink::write(log_level level, std::string_view room, std::string_view text) noexcept {
    try {
        logger_of(room).log(to_spdlog(level), spdlog::string_view_t(text.data(), text.size()));
    } catch (...) { // a log line that cannot be written must not end what it tells of
    }
}

} // namespace rocio::tools

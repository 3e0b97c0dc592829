#pragma once

#include "lib/log_levels.hpp"

#include <rocio/types/log_sink.hpp>

#include <spdlog/logger.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace rocio::tools {

/// Hands rocio's log lines to spdlog: one logger per room, named as the room, each with the level that
/// log_levels gives it. The loggers are this object's own, not in spdlog's registry. Thread-safe.
class spdlog_sink final : public log_sink {
  public:
    /// To standard error, coloured on a terminal.
    explicit spdlog_sink(log_levels levels = {});
    /// To a sink of the caller's.
    spdlog_sink(log_levels levels, spdlog::sink_ptr out);

    void write(log_level level, std::string_view room, std::string_view text) noexcept override;

  private:
    spdlog::logger& logger_of(std::string_view room);

    log_levels levels_;
    spdlog::sink_ptr out_;
    std::mutex mutex_;
    std::map<std::string, std::unique_ptr<spdlog::logger>, std::less<>> loggers_;
};

} // namespace rocio::tools

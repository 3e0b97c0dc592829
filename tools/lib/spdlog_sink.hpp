#pragma once

#include "lib/log_levels.hpp"

#include <rocio/types/log_sink.hpp>
#include <rocio/types/rate_limited_sink.hpp>

#include <spdlog/common.h>

#include <memory>

namespace rocio::tools {

/// spdlog with one logger per room, named as the room, each with the level that log_levels gives it. The
/// loggers are this object's own, not in spdlog's registry. Thread-safe.
std::shared_ptr<log_sink> spdlog_to(log_levels levels, spdlog::sink_ptr out);

/// What a command logs to, as --log and ROCIO_LOG say it: standard error, coloured on a terminal, repeated
/// lines held back. Thread-safe.
std::shared_ptr<log_sink> command_log(log_levels levels, rate_limit limit = {.any_number = true});

} // namespace rocio::tools

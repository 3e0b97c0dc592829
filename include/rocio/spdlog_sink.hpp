#pragma once

#include <rocio/types/log_sink.hpp>

#include <spdlog/logger.h>
#include <spdlog/spdlog.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace rocio {

/// Hands rocio's log lines to spdlog, one logger per room. The only header that needs spdlog: a program that
/// includes it links spdlog itself, and no other header includes it. A rate_limited_sink in front of it keeps
/// repeated lines away. Thread-safe.
class spdlog_sink final : public log_sink {
  public:
    /// Gives the logger of a room, and is asked once for each; null: the room's lines are dropped.
    using logger_function = std::function<std::shared_ptr<spdlog::logger>(std::string_view room)>;

    explicit spdlog_sink(logger_function logger_of) : logger_of_(std::move(logger_of)) {}
    /// The logger of a room is the one that is registered in spdlog as "NAME.ROOM" when the room's first line
    /// comes, where NAME is the model's; else a clone of the model (its sinks, its level) under that name,
    /// not registered.
    explicit spdlog_sink(std::shared_ptr<spdlog::logger> model)
        : logger_of_([model = std::move(model)](std::string_view room) {
              const auto name = model->name() + "." + std::string(room);
              const auto registered = spdlog::get(name);
              return registered ? registered : model->clone(name);
          }) {}

    /// A line that spdlog cannot write is lost.
    void write(log_level level, std::string_view room, std::string_view text) noexcept override {
        try {
            if (auto* logger = of(room))
                logger->log(to_spdlog(level), spdlog::string_view_t(text.data(), text.size()));
        } catch (...) { // a log line that cannot be written must not end what it tells of
        }
    }

    static spdlog::level::level_enum to_spdlog(log_level level) noexcept {
        switch (level) {
        case log_level::debug:
            return spdlog::level::debug;
        case log_level::info:
            return spdlog::level::info;
        case log_level::warning:
            return spdlog::level::warn;
        case log_level::error:
            break;
        }
        return spdlog::level::err;
    }

  private:
    spdlog::logger* of(std::string_view room) {
        const std::lock_guard lock(mutex_);
        auto found = loggers_.find(room);
        if (found == loggers_.end()) found = loggers_.emplace(room, logger_of_(room)).first;
        return found->second.get();
    }

    const logger_function logger_of_;
    std::mutex mutex_{};
    std::map<std::string, std::shared_ptr<spdlog::logger>, std::less<>> loggers_{};
};

} // namespace rocio

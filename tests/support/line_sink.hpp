#pragma once

#include <rocio/types/log_sink.hpp>

#include <mutex>
#include <string>
#include <vector>

namespace rocio::test {

/// Keeps what is logged.
class line_sink final : public log_sink {
  public:
    struct line {
        log_level level;
        std::string room;
        std::string text;
    };

    void write(log_level level, std::string_view room, std::string_view text) noexcept override {
        const std::lock_guard held(mutex_);
        lines_.push_back({level, std::string(room), std::string(text)});
    }
    std::vector<line> lines() const {
        const std::lock_guard held(mutex_);
        return lines_;
    }

  private:
    mutable std::mutex mutex_;
    std::vector<line> lines_;
};

} // namespace rocio::test

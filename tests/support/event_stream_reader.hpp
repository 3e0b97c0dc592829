#pragma once

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <deque>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace rocio::test {

/// Reads the bytes of an answer to `/events`: header, chunks where there are such, events.
class event_stream_reader {
  public:
    struct event {
        std::string kind{}; ///< "" of a comment.
        std::string data{};

        boost::json::value json() const { return boost::json::parse(data); }
    };

    void feed(std::string_view bytes) {
        raw_ += bytes;
        if (head_.empty()) take_head();
        if (head_.empty()) return;
        if (is_chunked()) {
            while (take_chunk()) {
            }
        } else {
            body_ += std::exchange(raw_, {});
        }
        while (take_event()) {
        }
    }

    const std::string& head() const noexcept { return head_; }
    bool is_chunked() const { return head_.find("Transfer-Encoding: chunked\r\n") != std::string::npos; }
    bool ended() const noexcept { return ended_; } ///< By a last chunk.
    std::optional<event> next() {
        if (events_.empty()) return std::nullopt;
        auto first = std::move(events_.front());
        events_.pop_front();
        return first;
    }

  private:
    void take_head() {
        const auto end = raw_.find("\r\n\r\n");
        if (end == std::string::npos) return;
        head_ = raw_.substr(0, end + 4);
        raw_.erase(0, end + 4);
    }

    bool take_chunk() {
        const auto line = raw_.find("\r\n");
        if (line == std::string::npos) return false;
        const auto size = std::stoul(raw_.substr(0, line), nullptr, 16);
        if (raw_.size() < line + 2 + size + 2) return false;
        if (raw_.substr(line + 2 + size, 2) != "\r\n") throw std::runtime_error("a chunk of another size");
        body_ += raw_.substr(line + 2, size);
        raw_.erase(0, line + 2 + size + 2);
        ended_ = ended_ || size == 0;
        return true;
    }

    bool take_event() {
        const auto end = body_.find("\n\n");
        if (end == std::string::npos) return false;
        event found;
        std::string_view lines = std::string_view(body_).substr(0, end + 1);
        while (!lines.empty()) {
            const auto line = lines.substr(0, lines.find('\n'));
            if (line.starts_with("event: ")) found.kind = line.substr(7);
            if (line.starts_with("data: ")) found.data = line.substr(6);
            if (line.starts_with(':')) found.data = line;
            lines.remove_prefix(line.size() + 1);
        }
        body_.erase(0, end + 2);
        events_.push_back(std::move(found));
        return true;
    }

    std::string raw_{};
    std::string head_{};
    std::string body_{};
    std::deque<event> events_{};
    bool ended_ = false;
};

} // namespace rocio::test

#pragma once

#include "tcp_fixture.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rocio::test {

/// Keeps what was logged.
class kept_log final : public log_sink {
  public:
    void write(log_level level, std::string_view, std::string_view text) noexcept override {
        lines.emplace_back(level, text);
    }
    std::size_t above_debug() const {
        return static_cast<std::size_t>(
            std::ranges::count_if(lines, [](const auto& l) { return l.first != log_level::debug; }));
    }
    std::vector<std::pair<log_level, std::string>> lines;
};

struct accepted {
    bool done = false;
    error_code ec{};
    std::optional<tcp_peer> peer{};
};

inline auto into(accepted& a) {
    return [&a](const error_code& ec, tcp_peer peer) {
        EXPECT_FALSE(a.done) << "completed twice";
        a.done = true;
        a.ec = ec;
        a.peer.emplace(std::move(peer));
    };
}

class TcpListener : public TcpFixture {
  protected:
    void run_until_done(const accepted& a) {
        run_until([&] { return a.done; });
    }
    /// A raw connection to `to`.
    std::unique_ptr<raw_peer> dial(const tcp_listener& to) {
        auto p = std::make_unique<raw_peer>(*context);
        p->connect(to.local_endpoint());
        return p;
    }
    std::unique_ptr<raw_peer> dial_with_hello(const tcp_listener& to) {
        auto p = dial(to);
        p->send(hello_message());
        return p;
    }
};

} // namespace rocio::test

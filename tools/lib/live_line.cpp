#include "lib/live_line.hpp"

#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include <sys/ioctl.h>
#include <unistd.h>

namespace rocio::tools {

namespace {

constexpr std::string_view clear = "\r\033[K";
constexpr std::size_t usual_width = 80;

std::size_t width_of(int fd) {
    winsize size{};
    if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return usual_width;
    return size.ws_col;
}

/// What a terminal does not take is of no consequence here.
void put(int fd, std::string_view text) {
    while (!text.empty()) {
        const auto n = ::write(fd, text.data(), text.size());
        if (n <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(n));
    }
}

} // namespace

struct live_line::state : std::enable_shared_from_this<state> {
    state(const boost::asio::any_io_executor& executor, std::function<std::string()> line, int to,
          std::chrono::milliseconds pause)
        : text(std::move(line)), fd(to), interval(std::max(pause, shortest_interval)), timer(executor) {}

    void show() {
        const auto line = text();
        // The last column stays free: a terminal may wrap after it.
        put(fd, std::string(clear).append(line.substr(0, width_of(fd) - 1)));
        timer.expires_after(interval);
        timer.async_wait([weak = weak_from_this()](const boost::system::error_code& ec) {
            const auto self = weak.lock();
            if (!ec && self && !self->stopped) self->show();
        });
    }

    std::function<std::string()> text;
    int fd;
    std::chrono::milliseconds interval;
    boost::asio::steady_timer timer;
    bool stopped = false;
};

live_line::live_line(const boost::asio::any_io_executor& executor, std::function<std::string()> text, int fd,
                     std::chrono::milliseconds interval) {
    if (::isatty(fd) == 0) return;
    state_ = std::make_shared<state>(executor, std::move(text), fd, interval);
    state_->show();
}

live_line::~live_line() {
    stop();
}

bool live_line::is_active() const noexcept {
    return state_ && !state_->stopped;
}

void live_line::stop() {
    if (!is_active()) return;
    state_->stopped = true;
    state_->timer.cancel();
    put(state_->fd, clear);
}

} // namespace rocio::tools

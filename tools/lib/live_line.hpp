#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace rocio::tools {

/// A progress line that is rewritten in place while something long runs: on a terminal only, at most five
/// times a second, gone at the end. Where `fd` is no terminal it does nothing at all. Until stop() its timer
/// keeps the context's run() alive. Not thread-safe: to be used, stopped and destroyed on the executor.
class live_line {
  public:
    static constexpr std::chrono::milliseconds shortest_interval{200};

    /// `text` gives the line, without an end; it is cut to the terminal's width. `fd`: standard error by
    /// default.
    live_line(const boost::asio::any_io_executor& executor, std::function<std::string()> text, int fd = 2,
              std::chrono::milliseconds interval = shortest_interval);
    live_line(live_line&&) noexcept = default;
    live_line& operator=(live_line&&) = delete;
    ~live_line();

    /// True while the line is shown, which it never is off a terminal.
    bool is_active() const noexcept;
    /// Clears the line for good. Idempotent.
    void stop();

  private:
    struct state;
    std::shared_ptr<state> state_;
};

} // namespace rocio::tools

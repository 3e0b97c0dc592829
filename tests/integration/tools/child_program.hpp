#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace rocio::test {

/// A program of this test's own, in a process of its own; what it says on both its outputs is kept. The
/// destructor kills it.
class child_program {
  public:
    /// Throws std::system_error when it cannot be started.
    explicit child_program(std::vector<std::string> command);
    ~child_program();
    child_program(const child_program&) = delete;
    child_program& operator=(const child_program&) = delete;

    /// Waits for a text among what it has said since the last text found here; gives the rest of that line,
    /// or throws std::runtime_error when the program ends or the time is over first.
    std::string wait_for(std::string_view text, std::chrono::milliseconds limit);
    /// Whether it has said so, at any time.
    bool has_said(std::string_view text);
    /// Waits for its end; gives the exit status, or throws.
    int wait_for_end(std::chrono::milliseconds limit);
    void kill(int signal);
    std::size_t open_descriptors() const;
    const std::string& said() const noexcept { return said_; }

  private:
    using time_point = std::chrono::steady_clock::time_point;
    /// False: the program has closed its outputs, or the time is over.
    bool read_more(time_point until);
    std::string command_line() const;

    std::vector<std::string> command_;
    pid_t pid_ = -1;
    int output_ = -1;
    bool reaped_ = false;
    std::string said_{};
    std::size_t searched_ = 0;
};

} // namespace rocio::test

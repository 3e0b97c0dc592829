#include "child_program.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rocio::test {

namespace {

using std::chrono::steady_clock;

[[noreturn]] void fail(int number, const char* what) {
    throw std::system_error(number, std::generic_category(), what);
}

} // namespace

child_program::child_program(std::vector<std::string> command) : command_(std::move(command)) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail(errno, "pipe2");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    std::vector<char*> arguments;
    for (auto& word : command_) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const int result = ::posix_spawnp(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    output_ = ends[0];
    if (result == 0) return;
    ::close(output_);
    fail(result, command_[0].c_str());
}

child_program::~child_program() {
    if (!reaped_) {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    ::close(output_);
}

std::string child_program::command_line() const {
    std::string out;
    for (const auto& word : command_) out += (out.empty() ? "" : " ") + word;
    return out;
}

bool child_program::read_more(time_point until) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now()).count();
    pollfd wanted{output_, POLLIN, 0};
    if (left <= 0 || ::poll(&wanted, 1, static_cast<int>(left)) <= 0) return false;
    std::array<char, 4096> piece{};
    const auto n = ::read(output_, piece.data(), piece.size());
    if (n <= 0) return false;
    said_.append(piece.data(), static_cast<std::size_t>(n));
    return true;
}

std::string child_program::wait_for(std::string_view text, std::chrono::milliseconds limit) {
    const auto until = steady_clock::now() + limit;
    for (;;) {
        const auto found = said_.find(text, searched_);
        const auto end = found == std::string::npos ? found : said_.find('\n', found);
        if (end != std::string::npos) {
            searched_ = end;
            return said_.substr(found + text.size(), end - found - text.size());
        }
        if (!read_more(until))
            throw std::runtime_error("never said '" + std::string(text) + "': " + command_line() + "\n" +
                                     said_);
    }
}

bool child_program::has_said(std::string_view text) {
    while (read_more(steady_clock::now() + std::chrono::milliseconds{1})) {
    }
    return said_.find(text) != std::string::npos;
}

int child_program::wait_for_end(std::chrono::milliseconds limit) {
    const auto until = steady_clock::now() + limit;
    while (read_more(until)) {
    }
    if (steady_clock::now() >= until)
        throw std::runtime_error("does not end: " + command_line() + "\n" + said_);
    int status = 0;
    if (::waitpid(pid_, &status, 0) != pid_) fail(errno, "waitpid");
    reaped_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void child_program::kill(int signal) {
    if (!reaped_) ::kill(pid_, signal);
}

std::size_t child_program::open_descriptors() const {
    const std::filesystem::directory_iterator folder("/proc/" + std::to_string(pid_) + "/fd");
    return static_cast<std::size_t>(std::distance(begin(folder), end(folder)));
}

} // namespace rocio::test

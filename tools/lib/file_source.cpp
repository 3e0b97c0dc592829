#include "lib/file_source.hpp"

#include <boost/asio/buffer.hpp>

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rocio::tools {

namespace {

[[noreturn]] void fail_to_open(const std::string& name) {
    const error_code ec(errno, boost::system::system_category());
    throw exception({ec, "--frames " + name + ": " + ec.message()});
}

} // namespace

file_source::file_source(boost::asio::io_context& context, const std::string& file, std::size_t largest_frame,
                         std::optional<std::uint8_t> only_channel)
    : name_(file), only_channel_(only_channel), parser_(largest_frame), pipe_(context) {
    const int fd = file == "-" ? ::dup(STDIN_FILENO) : ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) fail_to_open(file);
    struct stat kind {};
    if (::fstat(fd, &kind) == 0 && S_ISREG(kind.st_mode)) {
        file_ = fd;
        return;
    }
    error_code ec;
    pipe_.assign(fd, ec);
    if (ec) {
        ::close(fd);
        throw exception(
            {ec, "--frames " + file + " can be neither read as a file nor waited for: " + ec.message()});
    }
    read_pipe();
}

file_source::~file_source() {
    if (file_ >= 0) ::close(file_);
}

std::optional<made_frame> file_source::next(std::span<std::byte> slot) {
    auto& frames = parser_.frames();
    if (frames.empty() && file_ >= 0) read_file();
    if (frames.empty()) return std::nullopt;
    const auto frame = std::move(frames.front());
    frames.pop_front();
    if (frame.channel != only_channel_.value_or(frame.channel)) {
        frames.clear();
        fail({errc::invalid_argument, "a frame is on channel " + std::to_string(frame.channel) +
                                          ", but this board sends on channel " +
                                          std::to_string(*only_channel_) + " only"});
        return std::nullopt;
    }
    std::copy(frame.payload.begin(), frame.payload.end(), slot.begin());
    if (file_ < 0 && frames.size() < frames_ahead / 2) read_pipe();
    return made_frame{frame.payload.size(), frame.channel};
}

void file_source::read_file() {
    while (!at_end_ && parser_.frames().empty()) {
        const auto n = ::read(file_, buffer_.data(), buffer_.size());
        if (n < 0 && errno == EINTR) continue;
        const error_code ec(n < 0 ? errno : 0, boost::system::system_category());
        take(n > 0 ? static_cast<std::size_t>(n) : 0, n == 0 ? error_code(boost::asio::error::eof) : ec);
    }
}

void file_source::read_pipe() {
    if (at_end_ || std::exchange(reading_, true)) return;
    pipe_.async_read_some(boost::asio::buffer(buffer_.data(), buffer_.size()),
                          [this, alive = std::weak_ptr<char>(alive_)](const error_code& ec, std::size_t n) {
                              if (alive.expired() || ec == boost::asio::error::operation_aborted) return;
                              reading_ = false;
                              take(n, ec);
                              if (parser_.frames().size() < frames_ahead) read_pipe();
                              if (ready_ && (at_end_ || !parser_.frames().empty())) ready_();
                          });
}

void file_source::take(std::size_t bytes, const error_code& ec) {
    at_end_ = static_cast<bool>(ec);
    if (auto e = parser_.feed(std::span(buffer_).first(bytes))) return fail(e);
    if (ec && ec != boost::asio::error::eof) return fail({ec, ec.message()});
    if (!ec) return;
    if (auto e = parser_.finish()) fail(e);
}

void file_source::fail(const error_info& why) {
    at_end_ = true;
    failure_ = {why.code, "--frames " + name_ + ": " + why.text};
}

} // namespace rocio::tools

#include "raw_http_client.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace rocio::test {

namespace {

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

bool would_block() {
    return errno == EAGAIN || errno == EWOULDBLOCK;
}

std::string lower(std::string text) {
    for (auto& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

/// The status line and the fields of `head`, which ends before the empty line.
http_response parse_head(std::string_view head) {
    http_response response;
    if (!head.starts_with("HTTP/1.1 ") || head.size() < 12) {
        throw std::runtime_error("not a response: " + std::string(head));
    }
    response.status = static_cast<unsigned>(std::stoul(std::string(head.substr(9, 3))));
    for (auto at = head.find("\r\n"); at != std::string_view::npos;) {
        const auto end = head.find("\r\n", at + 2);
        const auto line = head.substr(at + 2, end == std::string_view::npos ? end : end - at - 2);
        const auto colon = line.find(": ");
        if (colon == std::string_view::npos)
            throw std::runtime_error("not a header field: " + std::string(line));
        response.headers[lower(std::string(line.substr(0, colon)))] = line.substr(colon + 2);
        at = end;
    }
    return response;
}

} // namespace

raw_http_client::raw_http_client(int receive_buffer)
    : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    if (fd_ < 0) fail("socket");
    if (receive_buffer > 0) ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
}

raw_http_client::raw_http_client(raw_http_client&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      outgoing_(std::move(other.outgoing_)),
      incoming_(std::move(other.incoming_)),
      ended_(other.ended_) {}

raw_http_client::~raw_http_client() {
    if (fd_ >= 0) ::close(fd_);
}

void raw_http_client::connect(const std::string& address, std::uint16_t port) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    ::inet_pton(AF_INET, address.c_str(), &to.sin_addr);
    sockaddr generic{};
    static_assert(sizeof generic == sizeof to);
    std::copy_n(reinterpret_cast<const char*>(&to), sizeof to, reinterpret_cast<char*>(&generic));
    if (::connect(fd_, &generic, sizeof generic) != 0 && errno != EINPROGRESS) fail("connect");
}

void raw_http_client::send(std::string_view bytes) {
    outgoing_ += bytes;
    work();
}

void raw_http_client::get(std::string_view target) {
    send("GET " + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
}

void raw_http_client::work() {
    while (!outgoing_.empty()) {
        const auto n = ::send(fd_, outgoing_.data(), outgoing_.size(), MSG_NOSIGNAL);
        if (n < 0) {
            if (!would_block() && errno != ENOTCONN) outgoing_.clear(); // the server closed
            break;
        }
        outgoing_.erase(0, static_cast<std::size_t>(n));
    }
    std::array<char, 65536> part{};
    while (!ended_) {
        const auto n = ::recv(fd_, part.data(), part.size(), 0);
        if (n > 0) {
            incoming_.append(part.data(), static_cast<std::size_t>(n));
            continue;
        }
        if (n < 0 && (would_block() || errno == ENOTCONN)) return;
        ended_ = true;
    }
}

void raw_http_client::finish_sending() {
    ::shutdown(fd_, SHUT_WR);
}

void raw_http_client::reset() {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    ::close(std::exchange(fd_, -1));
    ended_ = true;
}

std::optional<http_response> raw_http_client::next_response(bool to_head) {
    const auto head_end = incoming_.find("\r\n\r\n");
    if (head_end == std::string::npos) return std::nullopt;
    auto response = parse_head(std::string_view(incoming_).substr(0, head_end));
    const auto length = to_head ? 0 : std::stoul(response.header("content-length"));
    if (incoming_.size() < head_end + 4 + length) return std::nullopt;
    response.body = incoming_.substr(head_end + 4, length);
    incoming_.erase(0, head_end + 4 + length);
    return response;
}

} // namespace rocio::test

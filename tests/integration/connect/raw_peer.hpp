#pragma once

#include "connect/rendezvous_message.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <poll.h>

namespace rocio::test {

namespace asio = boost::asio;

/// The other end of a connection, driven by hand with plain system calls: it says what it likes. While it
/// waits for something it runs the context of the library's side.
class raw_peer {
  public:
    explicit raw_peer(asio::io_context& library) : library_(library) {}

    void connect(const asio::ip::tcp::endpoint& to) {
        socket_.connect(to);
        socket_.set_option(asio::ip::tcp::no_delay(true));
    }
    void accept(asio::ip::tcp::acceptor& at) {
        while (!is_readable(at.native_handle())) turn();
        at.accept(socket_);
        socket_.set_option(asio::ip::tcp::no_delay(true));
    }

    void send(std::span<const std::byte> bytes) {
        asio::write(socket_, asio::buffer(bytes.data(), bytes.size()));
    }
    void send(std::string_view text) { asio::write(socket_, asio::buffer(text)); }
    void send(const rendezvous::message& m) { send(rendezvous::encode(m)); }
    void send(rendezvous::message_kind bare) { send(rendezvous::encode(bare)); }

    /// The next message; nothing when the library's side closed instead.
    std::optional<rendezvous::message> receive() {
        for (;;) {
            if (const auto found = rendezvous::find_frame(inbox_); found.size != 0) return take(found.size);
            if (!receive_some()) return std::nullopt;
        }
    }
    /// The next message that is no sign of life.
    std::optional<rendezvous::message> receive_word() {
        auto m = receive();
        while (m && m->kind == rendezvous::message_kind::ping) m = receive();
        return m;
    }
    /// Reads on until the library's side has closed, gracefully or not.
    void wait_until_closed() {
        while (receive_some()) inbox_.clear();
    }

    void close() { socket_.close(); }
    /// A process that dies with unread data, or a machine that restarts.
    void reset() {
        socket_.set_option(asio::socket_base::linger(true, 0));
        socket_.close();
    }
    asio::ip::tcp::socket& socket() { return socket_; }

  private:
    static bool is_readable(int fd) {
        pollfd p{fd, POLLIN, 0};
        return ::poll(&p, 1, 0) > 0;
    }
    void turn() {
        library_.restart();
        library_.run_one_for(std::chrono::milliseconds(2));
        ASSERT_LT(std::chrono::steady_clock::now(), limit_) << "the other side took no step";
    }
    bool receive_some() {
        while (!is_readable(socket_.native_handle())) {
            turn();
            if (::testing::Test::HasFatalFailure()) return false;
        }
        std::array<std::byte, 4096> piece;
        boost::system::error_code ec;
        const auto n = socket_.read_some(asio::buffer(piece), ec);
        inbox_.insert(inbox_.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(n));
        return !ec;
    }
    rendezvous::message take(std::size_t size) {
        rendezvous::message m;
        const auto error = rendezvous::decode(std::span(inbox_).first(size), m);
        EXPECT_FALSE(error) << error.message();
        inbox_.erase(inbox_.begin(), inbox_.begin() + static_cast<std::ptrdiff_t>(size));
        return m;
    }

    asio::io_context& library_;
    asio::io_context own_; ///< Never runs.
    asio::ip::tcp::socket socket_{own_};
    std::vector<std::byte> inbox_;
    std::chrono::steady_clock::time_point limit_ =
        std::chrono::steady_clock::now() + std::chrono::seconds(20);
};

} // namespace rocio::test

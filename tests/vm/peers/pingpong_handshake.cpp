#include "pingpong_handshake.hpp"

#include <boost/asio/read.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <charconv>
#include <cstdio>

namespace rocio::test {

namespace asio = boost::asio;
using asio::use_awaitable;

namespace {

constexpr std::size_t text_size = 4 + 1 + 6 + 1 + 6 + 1 + 32 + 1;
constexpr std::array<char, 5> done{'d', 'o', 'n', 'e', 0};

std::optional<std::uint32_t> hex(std::string_view text) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

asio::awaitable<std::string> read_text(asio::ip::tcp::socket& socket, std::size_t size) {
    std::string text(size, '\0');
    co_await asio::async_read(socket, asio::buffer(text), use_awaitable);
    co_return text;
}

} // namespace

std::string pingpong_text(const local_parameters& ours) {
    std::array<char, text_size> head{};
    std::snprintf(head.data(), head.size(), "0000:%06x:%06x:", ours.queue_pair.value(),
                  ours.send_psn.value());
    std::string text = head.data();
    for (const auto byte : ours.address.bytes()) {
        std::array<char, 3> two{};
        std::snprintf(two.data(), two.size(), "%02x", byte);
        text += two.data();
    }
    return text += '\0';
}

std::optional<peer_parameters> parse_pingpong_text(const std::string& text, mtu path_mtu) {
    if (text.size() != text_size || text[4] != ':' || text[11] != ':' || text[18] != ':') return std::nullopt;
    const std::string_view view = text;
    const auto number = hex(view.substr(5, 6)), first = hex(view.substr(12, 6));
    gid::bytes_type address{};
    for (std::size_t i = 0; i < address.size(); ++i) {
        const auto byte = hex(view.substr(19 + 2 * i, 2));
        if (!byte) return std::nullopt;
        address[i] = static_cast<std::uint8_t>(*byte);
    }
    if (!number || !first) return std::nullopt;
    peer_parameters peer;
    peer.address = gid(address);
    peer.queue_pair = qpn{*number};
    peer.send_psn = peer.receive_psn = psn{*first};
    peer.path_mtu = path_mtu;
    return peer;
}

pingpong_handshake::pingpong_handshake(const asio::any_io_executor& executor,
                                       std::optional<tcp::endpoint> server, tcp::endpoint listen,
                                       mtu path_mtu)
    : state_(std::make_shared<state>(executor)) {
    state_->server = server;
    state_->listen = listen;
    state_->path_mtu = path_mtu;
}

error_code pingpong_handshake::code_of(const std::exception_ptr& failure) {
    if (!failure) return {};
    try {
        std::rethrow_exception(failure);
    } catch (const boost::system::system_error& e) {
        return e.code();
    } catch (const std::exception&) {
        return errc::handshake_malformed;
    }
}

asio::awaitable<peer_parameters> pingpong_handshake::exchange(std::shared_ptr<state> s,
                                                              local_parameters ours) {
    s->ours = ours;
    if (s->server) {
        co_await s->socket.async_connect(*s->server, use_awaitable);
        co_await asio::async_write(s->socket, asio::buffer(pingpong_text(ours)), use_awaitable);
    } else {
        tcp::acceptor acceptor(s->executor, s->listen);
        s->socket = co_await acceptor.async_accept(use_awaitable);
    }
    const auto text = co_await read_text(s->socket, text_size);
    const auto peer = parse_pingpong_text(text, s->path_mtu);
    if (!peer) throw boost::system::system_error(make_error_code(errc::handshake_malformed));
    co_return *peer;
}

asio::awaitable<void> pingpong_handshake::ready(std::shared_ptr<state> s) {
    if (s->server) {
        co_await asio::async_write(s->socket, asio::buffer(done), use_awaitable);
    } else {
        co_await asio::async_write(s->socket, asio::buffer(pingpong_text(s->ours)), use_awaitable);
        co_await read_text(s->socket, done.size());
    }
    s->socket.close();
}

asio::awaitable<void> pingpong_handshake::wait_released(std::shared_ptr<state> s) {
    s->released.expires_at(asio::steady_timer::time_point::max());
    error_code ignored;
    co_await s->released.async_wait(asio::redirect_error(use_awaitable, ignored));
}

asio::awaitable<void> pingpong_handshake::release(std::shared_ptr<state> s) {
    error_code ignored;
    s->socket.close(ignored);
    s->released.cancel();
    co_return;
}

} // namespace rocio::test

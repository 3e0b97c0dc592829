#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rocio::test {

/// A UDP socket that hands every datagram to a function, which may answer with send(). It does not keep the
/// context's run() busy by itself once it is destroyed.
class udp_server {
  public:
    using endpoint = boost::asio::ip::udp::endpoint;
    using receiver = std::function<void(std::span<const std::byte> datagram, const endpoint& from)>;

    /// A free port of `address`.
    udp_server(boost::asio::io_context& context, const std::string& address, receiver on_datagram)
        : state_(std::make_shared<state>(context, address, std::move(on_datagram))) {
        state_->next();
    }
    udp_server(const udp_server&) = delete;
    udp_server& operator=(const udp_server&) = delete;
    ~udp_server() {
        boost::system::error_code ignored;
        state_->socket.close(ignored);
    }

    endpoint local() const { return state_->socket.local_endpoint(); }
    void send(std::span<const std::byte> bytes, const endpoint& to) {
        state_->socket.send_to(boost::asio::buffer(bytes.data(), bytes.size()), to);
    }

  private:
    struct state : std::enable_shared_from_this<state> {
        state(boost::asio::io_context& context, const std::string& address, receiver r)
            : socket(context, endpoint(boost::asio::ip::make_address(address), 0)), receive(std::move(r)) {}

        void next() {
            socket.async_receive_from(
                boost::asio::buffer(bytes), from, [self = shared_from_this()](const auto& ec, std::size_t n) {
                    if (ec || !self->socket.is_open()) return;
                    self->receive(std::span<const std::byte>(self->bytes).first(n), self->from);
                    if (self->socket.is_open()) self->next();
                });
        }

        boost::asio::ip::udp::socket socket;
        receiver receive;
        endpoint from{};
        std::array<std::byte, 65'536> bytes{};
    };

    std::shared_ptr<state> state_;
};

} // namespace rocio::test

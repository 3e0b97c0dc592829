#include <rocio/fpga/hsb_board_server.hpp>
#include <rocio/fpga/hsb_control.hpp>
#include <rocio/types/error.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>

#include <array>
#include <string>

namespace rocio::fpga {

namespace {

namespace asio = boost::asio;
using asio::ip::udp;

std::string to_text(const udp::endpoint& where) {
    return where.address().to_string() + ":" + std::to_string(where.port());
}

/// Tells senders apart: 64-bit FNV-1a over address and port.
std::uint64_t number_of(const udp::endpoint& sender) {
    std::uint64_t hash = 0xcbf29ce484222325;
    const auto add = [&hash](std::uint8_t byte) { hash = (hash ^ byte) * 0x100000001b3; };
    if (sender.address().is_v4()) {
        for (const auto byte : sender.address().to_v4().to_bytes()) add(byte);
    } else {
        for (const auto byte : sender.address().to_v6().to_bytes()) add(byte);
    }
    add(static_cast<std::uint8_t>(sender.port() >> 8));
    add(static_cast<std::uint8_t>(sender.port()));
    return hash;
}

error_info bind_failure(const udp::endpoint& where, const error_code& ec) {
    const auto sentence = "control channel at UDP " + to_text(where) + ": ";
    if (ec == asio::error::address_in_use)
        return {errc::address_in_use, sentence + "another process has it; choose another port or address"};
    if (ec == boost::system::errc::address_not_available)
        return {errc::address_not_available, sentence + "the address is on no interface of this machine"};
    return {ec, sentence + ec.message()};
}

} // namespace

struct hsb_board_server::state : std::enable_shared_from_this<state> {
    state(const asio::any_io_executor& executor, hsb_responder& b) : socket(executor), board(&b) {}

    error_info bind(const udp::endpoint& where) {
        error_code ec;
        socket.open(where.protocol(), ec);
        if (!ec) socket.non_blocking(true, ec);
        if (!ec) socket.bind(where, ec);
        if (!ec) local = socket.local_endpoint(ec);
        return ec ? bind_failure(where, ec) : error_info{};
    }

    void receive() {
        socket.async_receive_from(asio::buffer(request), sender,
                                  [self = shared_from_this()](const error_code& ec, std::size_t n) {
                                      if (!self->board || ec == asio::error::operation_aborted) return;
                                      if (!ec) self->serve(n);
                                      self->receive();
                                  });
    }

    /// The answer is sent at once or, as the FPGA's own network would have it, not at all.
    void serve(std::size_t n) {
        last_request = std::chrono::steady_clock::now();
        const auto length = board->answer(std::span(request).first(n), number_of(sender), answer);
        if (length == 0 || !board) return;
        error_code lost;
        socket.send_to(asio::buffer(answer.data(), length), sender, 0, lost);
    }

    udp::socket socket;
    hsb_responder* board;
    udp::endpoint local{}, sender{};
    std::chrono::steady_clock::time_point last_request = std::chrono::steady_clock::now();
    std::array<std::byte, hsb_max_datagram> request{};
    std::array<std::byte, hsb_max_datagram> answer{};
};

hsb_board_server::hsb_board_server(const asio::any_io_executor& executor, const udp::endpoint& where,
                                   hsb_responder& board)
    : state_(std::make_shared<state>(executor, board)) {
    throw_if(state_->bind(where));
    state_->receive();
}

hsb_board_server::~hsb_board_server() {
    if (state_) stop();
}

udp::endpoint hsb_board_server::local_endpoint() const {
    return state_->local;
}

std::chrono::steady_clock::time_point hsb_board_server::last_request() const noexcept {
    return state_->last_request;
}

void hsb_board_server::stop() {
    state_->board = nullptr;
    error_code ignored;
    state_->socket.close(ignored);
}

} // namespace rocio::fpga

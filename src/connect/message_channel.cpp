#include "connect/message_channel.hpp"

#include "connect/tcp_socket.hpp"

#include <boost/asio/buffer.hpp>

namespace rocio::detail {

namespace {

void drop_front(std::vector<std::byte>& bytes, std::size_t n) {
    bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
}

} // namespace

task<error_code> message_channel::flush(const step_guard& step) {
    while (!outbox_.empty()) {
        if (step.over()) co_return error_code(asio::error::operation_aborted);
        auto [ec, n] = co_await socket_.async_write_some(asio::buffer(outbox_), as_result);
        drop_front(outbox_, n);
        if (ec) co_return ec;
    }
    co_return error_code();
}

void message_channel::try_flush() {
    if (outbox_.empty()) return;
    error_code ignored;
    socket_.non_blocking(true, ignored);
    drop_front(outbox_, socket_.write_some(asio::buffer(outbox_), ignored));
}

bool message_channel::next(rendezvous::message& out, error_info& error) {
    const auto found = rendezvous::find_frame(inbox_);
    if (found.error) {
        error = found.error;
        return true;
    }
    if (found.size == 0) return false;
    error = rendezvous::decode(std::span(inbox_).first(found.size), out);
    drop_front(inbox_, found.size);
    return true;
}

task<error_info> message_channel::read(rendezvous::message& out, const step_guard& step) {
    error_info error;
    while (!next(out, error)) {
        if (step.over()) co_return error_info{asio::error::operation_aborted, {}};
        auto [ec, n] = co_await socket_.async_read_some(asio::buffer(piece_), as_result);
        inbox_.insert(inbox_.end(), piece_.begin(), piece_.begin() + static_cast<std::ptrdiff_t>(n));
        if (ec) co_return error_info{ec, {}};
    }
    co_return error;
}

task<void> message_channel::discard(const step_guard& step) {
    while (!step.over()) {
        auto [ec, n] = co_await socket_.async_read_some(asio::buffer(piece_), as_result);
        if (ec || n == 0) co_return;
    }
}

error_code message_channel::take(message_channel& other) {
    inbox_ = std::move(other.inbox_);
    return move_stream(other.socket_, socket_);
}

} // namespace rocio::detail

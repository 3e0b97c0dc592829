#include "lib/frame_receiver.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace rocio::tools {

namespace asio = boost::asio;
using std::chrono::steady_clock;

frame_receiver::frame_receiver(asio::io_context& context, const frame_receiver_config& config)
    : config_(config),
      server_(context, config_.server),
      view_(server_.all()),
      acceptor_(listen(context, config_.server.device, config_.acceptor)) {}

double frame_receiver::seconds() const {
    return std::chrono::duration<double>(last_ - first_).count();
}

bool frame_receiver::done() const noexcept {
    if (stopping_) return true;
    if (config_.count && counts_.frames >= *config_.count) return true;
    return config_.sessions && counts_.sessions >= *config_.sessions;
}

void frame_receiver::report(const std::string& text, bool is_error) const {
    if (config_.report) config_.report(text, is_error);
}

void frame_receiver::stop() {
    stopping_ = true;
    acceptor_->close();
    server_.stop();
}

asio::awaitable<error_info> frame_receiver::run() {
    while (!done()) {
        auto [ec, peer] = co_await acceptor_->next();
        if (ec && !stopping_) co_return error_info{ec, "cannot accept peers: " + ec.message()};
        if (!ec) co_await serve(std::move(peer));
    }
    acceptor_->close();
    server_.stop();
    co_return error_info{};
}

asio::awaitable<void> frame_receiver::serve(std::unique_ptr<any_handshake> peer) {
    error_code ec;
    co_await server_.async_connect(std::move(*peer), config_.transport,
                                   asio::redirect_error(asio::use_awaitable, ec));
    if (ec) {
        if (!stopping_) report("no connection: " + server_.last_error().message(), true);
        co_return;
    }
    const auto s = server_.snapshot();
    report("connected: " + s.fpga_ip + " queue pair " + std::to_string(s.fpga_qpn), false);
    begin_session();
    ec = co_await take_frames();
    end_session();
    if (stopping_ || !ec) co_return;
    const bool goodbye = ec == errc::peer_closed;
    if (!goodbye) ++counts_.failed_sessions;
    report(goodbye ? "peer said goodbye" : "connection ended: " + server_.last_error().message(), !goodbye);
}

void frame_receiver::begin_session() {
    ++counts_.sessions;
    checker_.emplace();
}

void frame_receiver::end_session() {
    const auto result = checker_->result();
    counts_.lost += result.lost;
    counts_.duplicated += result.duplicated;
    counts_.corrupt += result.corrupt;
    checker_.reset();
}

asio::awaitable<error_code> frame_receiver::take_frames() {
    while (!config_.count || counts_.frames < *config_.count) {
        error_code ec;
        const auto n =
            co_await view_.async_receive_some(batch_, asio::redirect_error(asio::use_awaitable, ec));
        if (ec) co_return ec;
        if (counts_.frames == 0) first_ = batch_[0].received();
        for (std::size_t i = 0; i < n; ++i) {
            if (!config_.count || counts_.frames < *config_.count) check(batch_[i]);
            batch_[i].release();
        }
        last_ = steady_clock::now();
    }
    co_return error_code{};
}

void frame_receiver::check(const frame& f) {
    ++counts_.frames;
    counts_.bytes += f.size();
    checker_->check(f.payload());
}

} // namespace rocio::tools

#include "lib/frame_receiver.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace rocio::tools {

namespace asio = boost::asio;
using std::chrono::steady_clock;

frame_receiver::frame_receiver(asio::io_context& context, const frame_receiver_config& config,
                               std::unique_ptr<peer_source> peers)
    : config_(config), server_(context, config_.server), view_(server_.all()), peers_(std::move(peers)) {
    const auto nothing = frame_check(config_.verify).result();
    counts_.lost = nothing.lost;
    counts_.duplicated = nothing.duplicated;
}

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
    peers_->close();
    server_.stop();
}

asio::awaitable<error_info> frame_receiver::run() {
    error_info failure;
    while (!done()) {
        auto peer = co_await peers_->next();
        if (!peer.handshake) {
            if (!stopping_) failure = peer.failure;
            break;
        }
        co_await serve(std::move(peer.handshake));
    }
    peers_->close();
    server_.stop();
    co_return failure;
}

asio::awaitable<void> frame_receiver::serve(std::unique_ptr<any_handshake> peer) {
    error_code ec;
    co_await server_.async_connect(std::move(*peer), config_.transport,
                                   asio::redirect_error(asio::use_awaitable, ec));
    if (ec) {
        const auto why = server_.last_error();
        peers_->ended(why, false);
        if (!stopping_) report("no connection: " + why.message(), true);
        co_return;
    }
    if (config_.connected) config_.connected(server_.snapshot());
    begin_session();
    ec = co_await take_frames();
    end_session();
    if (stopping_ || !ec) co_return;
    const auto why = server_.last_error();
    peers_->ended(why, true);
    const bool goodbye = ec == errc::peer_closed;
    if (!goodbye) ++counts_.failed_sessions;
    if (server_.snapshot().idle_ends > idle_ends_) {
        ++idle_ends_;
        report("stream ended: " + why.text, false);
        co_return;
    }
    report(goodbye ? "peer said goodbye" : "connection ended: " + why.message(), !goodbye);
}

void frame_receiver::begin_session() {
    ++counts_.sessions;
    checker_.emplace(config_.verify);
}

void frame_receiver::end_session() {
    const auto result = checker_->result();
    if (result.lost) counts_.lost = counts_.lost.value_or(0) + *result.lost;
    if (result.duplicated) counts_.duplicated = counts_.duplicated.value_or(0) + *result.duplicated;
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
            if (!config_.count || counts_.frames < *config_.count) on_frame(batch_[i]);
            batch_[i].release();
        }
        last_ = steady_clock::now();
    }
    co_return error_code{};
}

void frame_receiver::on_frame(const frame& f) {
    ++counts_.frames;
    counts_.bytes += f.size();
    checker_->check(f.payload(), f.counter());
}

} // namespace rocio::tools

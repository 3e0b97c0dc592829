#include "lib/peer_source.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace rocio::tools {

namespace asio = boost::asio;

namespace {

template <class Listener>
class listener_source final : public listening_source {
  public:
    template <class... Args>
    explicit listener_source(Args&&... args) : listener_(std::forward<Args>(args)...) {}

    asio::awaitable<next_peer> next() override {
        error_code ec;
        auto peer = co_await listener_.async_accept(asio::redirect_error(asio::use_awaitable, ec));
        next_peer result;
        if (ec) {
            if (!closed_) result.failure = {ec, "cannot accept peers: " + ec.message()};
        } else {
            result.handshake = std::make_unique<any_handshake>(std::move(peer));
        }
        co_return result;
    }
    asio::ip::tcp::endpoint endpoint() const override { return listener_.local_endpoint(); }
    std::optional<handshake_snapshot> handshake() const override { return listener_.handshake(); }
    void close() override {
        closed_ = true;
        listener_.close();
    }

  private:
    Listener listener_;
    bool closed_ = false;
};

class hand_source final : public peer_source {
  public:
    hand_source(asio::io_context& context, hand_peer_config config)
        : context_(context), config_(std::move(config)) {}

    asio::awaitable<next_peer> next() override {
        next_peer result;
        result.failure = failure_;
        if (!std::exchange(given_, true))
            result.handshake = std::make_unique<any_handshake>(hand_peer(context_, config_));
        co_return result;
    }
    void ended(const error_info& why, bool connected) override {
        if (!connected || why.code != errc::peer_closed) failure_ = why;
    }
    std::string description() const override {
        return "bringing up " + config_.address.to_address_string() + " by hand";
    }
    void close() override { given_ = true; }

  private:
    asio::io_context& context_;
    hand_peer_config config_;
    error_info failure_{};
    bool given_ = false;
};

} // namespace

std::string listening_source::description() const {
    const auto where = endpoint();
    return "waiting for a sender at " + where.address().to_string() + ":" + std::to_string(where.port());
}

std::unique_ptr<listening_source> listen(asio::io_context& context, const std::shared_ptr<device>& dev,
                                         const listening_config& config) {
    using executor = asio::io_context::executor_type;
    if (config.kind == connection_kind::cm)
        return std::make_unique<listener_source<basic_cm_acceptor<executor>>>(context, dev, config.cm);
    return std::make_unique<listener_source<basic_tcp_listener<executor>>>(context, config.tcp);
}

std::unique_ptr<peer_source> by_hand(asio::io_context& context, hand_peer_config config) {
    return std::make_unique<hand_source>(context, std::move(config));
}

} // namespace rocio::tools

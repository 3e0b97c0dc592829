#include "lib/peer_acceptor.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace rocio::tools {

namespace asio = boost::asio;

namespace {

template <class Listener>
class acceptor_of final : public peer_acceptor {
  public:
    template <class... Args>
    explicit acceptor_of(Args&&... args) : listener_(std::forward<Args>(args)...) {}

    asio::awaitable<std::pair<error_code, std::unique_ptr<any_handshake>>> next() override {
        error_code ec;
        auto peer = co_await listener_.async_accept(asio::redirect_error(asio::use_awaitable, ec));
        if (ec) co_return std::pair(ec, std::unique_ptr<any_handshake>());
        co_return std::pair(ec, std::make_unique<any_handshake>(std::move(peer)));
    }
    asio::ip::tcp::endpoint endpoint() const override { return listener_.local_endpoint(); }
    void close() override { listener_.close(); }

  private:
    Listener listener_;
};

} // namespace

std::unique_ptr<peer_acceptor> listen(asio::io_context& context, const std::shared_ptr<device>& dev,
                                      const peer_acceptor_config& config) {
    using executor = asio::io_context::executor_type;
    if (config.kind == connection_kind::cm)
        return std::make_unique<acceptor_of<basic_cm_acceptor<executor>>>(context, dev, config.cm);
    return std::make_unique<acceptor_of<basic_tcp_listener<executor>>>(context, config.tcp);
}

} // namespace rocio::tools

#include <rocio/fpga/hsb_announcer.hpp>
#include <rocio/types/error.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/steady_timer.hpp>

#include <array>

namespace rocio::fpga {

namespace {

namespace asio = boost::asio;
using asio::ip::udp;

} // namespace

struct hsb_announcer::state : std::enable_shared_from_this<state> {
    state(const asio::any_io_executor& executor, const hsb_announcement& a, const hsb_announcer_config& c)
        : what(a), config(c), socket(executor), timer(executor) {}

    error_info open() {
        error_code ec;
        socket.open(config.from.protocol(), ec);
        if (!ec) socket.non_blocking(true, ec);
        if (!ec) socket.set_option(asio::socket_base::reuse_address(true), ec);
        if (!ec) socket.set_option(asio::socket_base::broadcast(true), ec);
        if (!ec) socket.bind(config.from, ec);
        if (!ec) return {};
        return {ec, "announcements from UDP " + config.from.address().to_string() + ":" +
                        std::to_string(config.from.port()) + ": " + ec.message()};
    }

    void announce() {
        encode_announcement(what, bytes);
        ++what.sequence;
        error_code lost;
        socket.send_to(asio::buffer(bytes), config.to, 0, lost);
        sent += !lost;
        timer.expires_after(config.interval);
        timer.async_wait([self = shared_from_this()](const error_code& ec) {
            if (!ec && self->socket.is_open()) self->announce();
        });
    }

    hsb_announcement what;
    hsb_announcer_config config;
    udp::socket socket;
    asio::steady_timer timer;
    std::array<std::byte, hsb_announcement_bytes> bytes{};
    std::uint64_t sent = 0;
};

hsb_announcer::hsb_announcer(const asio::any_io_executor& executor, const hsb_announcement& what,
                             const hsb_announcer_config& config)
    : state_(std::make_shared<state>(executor, what, config)) {
    throw_if(state_->open());
    state_->announce();
}

hsb_announcer::~hsb_announcer() {
    if (state_) stop();
}

std::uint64_t hsb_announcer::sent() const noexcept {
    return state_->sent;
}

void hsb_announcer::stop() {
    error_code ignored;
    state_->socket.close(ignored);
    state_->timer.cancel();
}

} // namespace rocio::fpga

#include "fpga/endpoint_text.hpp"
#include "fpga/register_client_core.hpp"
#include "fpga/srp_protocol.hpp"

#include <rocio/fpga/srp_udp_bus.hpp>

#include <boost/asio/basic_datagram_socket.hpp>
#include <boost/asio/buffer.hpp>

#include <array>

namespace rocio::fpga::detail {

namespace {

using asio::ip::udp;

/// Receives only while something is outstanding.
class udp_transport final : public message_transport {
  public:
    udp_transport(const async::control_strand& strand, const udp::endpoint& peer)
        : socket_(strand), peer_(peer) {
        socket_.open(peer.protocol());
        socket_.non_blocking(true);
        // The kernel keeps out what comes from elsewhere.
        socket_.connect(peer);
    }

    void begin(const std::shared_ptr<void>& keep) override {
        wanted_ = true;
        if (!receiving_) receive(keep);
    }
    void rest() override {
        wanted_ = false;
        error_code ignored;
        socket_.cancel(ignored);
    }
    void send(std::uint32_t id, std::span<const std::byte> message) override {
        error_code ec;
        socket_.send(asio::buffer(message.data(), message.size()), 0, ec);
        if (ec == asio::error::connection_refused) {
            // What the network says of an earlier datagram.
            unreachable_ = true;
            socket_.send(asio::buffer(message.data(), message.size()), 0, ec);
        }
        refusal_ =
            ec == asio::error::connection_refused || ec == asio::error::would_block ? error_code() : ec;
        if (!ec) its_user().on_sent(id);
    }
    void close() override {
        wanted_ = false;
        error_code ignored;
        socket_.close(ignored);
    }
    std::string peer() const override { return "SRP at UDP " + endpoint_text(peer_.address(), peer_.port()); }
    error_info silence() const override {
        if (refusal_) return {refusal_, {}};
        if (!unreachable_) return {};
        return {bus_errc::no_answer, "nobody listens there; start the emulator, or check the port"};
    }

  private:
    void receive(const std::shared_ptr<void>& keep) {
        receiving_ = true;
        socket_.async_receive(asio::buffer(in_), [this, keep](const error_code& ec, std::size_t n) {
            receiving_ = false;
            if (!wanted_) return;
            if (!ec) {
                unreachable_ = false;
                its_user().on_message(std::span(in_).first(n));
            } else if (ec == asio::error::connection_refused) {
                unreachable_ = true;
            } else if (ec != asio::error::operation_aborted) {
                refusal_ = ec;
                return;
            }
            receive(keep);
        });
    }

    asio::basic_datagram_socket<udp, async::control_strand> socket_;
    udp::endpoint peer_;
    std::array<std::byte, srp_max_message + 1> in_{};
    bool wanted_ = false, receiving_ = false;
    bool unreachable_ = false;
    error_code refusal_{};
};

} // namespace

register_client_core_ptr make_srp_udp_core(const asio::any_io_executor& executor, const udp::endpoint& peer,
                                           const srp_config& config) {
    throw_if(validate(config));
    if (peer.port() == 0) throw exception({errc::invalid_argument, "the SRP port is 0; boards have 8192"});
    const auto strand = asio::make_strand(executor);
    try {
        return std::make_shared<register_client_core>(
            strand, std::make_unique<srp_protocol>(config), std::make_unique<udp_transport>(strand, peer),
            register_client_core::limits{config.answer_deadline, config.tries});
    } catch (const boost::system::system_error& e) {
        throw exception({e.code(), "SRP at UDP " + endpoint_text(peer.address(), peer.port()) + ": " +
                                       e.code().message()});
    }
}

} // namespace rocio::fpga::detail

#include "lib/hand_peer.hpp"

#include "lib/hand_line.hpp"

#include <rocio/async/control_strand.hpp>

#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/read_until.hpp>

#include <iostream>
#include <string>

#include <unistd.h>

namespace rocio::tools {

class hand_exchange : public std::enable_shared_from_this<hand_exchange> {
  public:
    using operation = async::cancellable_operation<hand_exchange>;
    using result = std::tuple<error_code, peer_parameters>;

    hand_exchange(const asio::any_io_executor& executor, hand_peer_config config)
        : strand_(asio::make_strand(executor)),
          input_(strand_),
          deadline_(strand_),
          config_(std::move(config)) {}

    const async::control_strand& strand() const noexcept { return strand_; }
    const error_info& last_error() const noexcept { return last_error_; }
    void on_cancel(const operation&) { stop_reading(); }

    static async::task<result> run(std::shared_ptr<hand_exchange> self, std::shared_ptr<operation> op,
                                   local_parameters local) {
        if (self->config_.receive_psn) local.receive_psn = psn{*self->config_.receive_psn};
        if (self->config_.send_psn) local.send_psn = psn{*self->config_.send_psn};
        self->config_.print(hand_line(local), !self->config_.queue_pair);
        hand_answer answer{self->config_.queue_pair.value_or(0), 0};
        self->last_error_ = {};
        if (!self->config_.queue_pair) {
            self->last_error_ = co_await self->read(answer);
            if (op->cancelled()) self->last_error_ = {asio::error::operation_aborted, "cancelled"};
        }
        co_return result(self->last_error_.code, self->peer(local, answer));
    }

  private:
    using descriptor = asio::posix::basic_stream_descriptor<async::control_strand>;
    static constexpr std::size_t longest_line = 4096;

    async::task<error_info> read(hand_answer& answer) {
        std::string line;
        error_code ec;
        input_.assign(::dup(STDIN_FILENO), ec);
        if (ec) {
            // A file: epoll refuses it, and reading it cannot block.
            if (!std::getline(std::cin, line)) co_return ended();
            co_return parse_hand_answer(line, answer);
        }
        deadline_.expires_after(config_.timeout);
        deadline_.async_wait([self = shared_from_this()](const error_code& failed) {
            if (failed) return;
            self->timed_out_ = true;
            self->stop_reading();
        });
        auto [failure, n] = co_await asio::async_read_until(input_, asio::dynamic_buffer(line, longest_line),
                                                            '\n', async::as_result);
        deadline_.cancel();
        stop_reading();
        if (timed_out_) {
            co_return error_info{errc::handshake_timed_out,
                                 "no line with qpn=… came on standard input within " +
                                     std::to_string(config_.timeout.count()) + " ms; see --connect-timeout"};
        }
        if (failure && (failure != asio::error::eof || line.empty())) co_return ended();
        co_return parse_hand_answer(line.substr(0, failure ? line.size() : n), answer);
    }
    static error_info ended() {
        return {errc::peer_closed, "standard input ended before a line with qpn=… came; give --peer-qpn"};
    }
    void stop_reading() {
        error_code ignored;
        if (input_.is_open()) input_.close(ignored);
    }
    peer_parameters peer(const local_parameters& local, const hand_answer& answer) const {
        peer_parameters p;
        p.address = config_.address;
        p.udp_port = config_.udp_port;
        p.queue_pair = qpn{answer.queue_pair};
        p.send_psn = local.receive_psn;
        p.receive_psn = local.send_psn;
        p.path_mtu = local.path_mtu;
        p.region.key.value = answer.key;
        if (config_.send_psn)
            p.imposed = imposed_parameters{local.address, local.send_psn, local.path_mtu, 0, 0};
        return p;
    }

    async::control_strand strand_;
    descriptor input_;
    async::control_timer deadline_;
    hand_peer_config config_;
    error_info last_error_{};
    bool timed_out_ = false;
};

hand_peer::hand_peer(asio::io_context& context, hand_peer_config config)
    : executor_(context.get_executor()),
      exchange_(std::make_shared<hand_exchange>(executor_, std::move(config))),
      rest_(executor_, peer_parameters{}) {}

error_info hand_peer::last_error() const {
    return exchange_->last_error();
}

void hand_peer::start(const std::shared_ptr<hand_exchange>& exchange, const local_parameters& local,
                      async::control_handler<void(error_code, peer_parameters)> handler) {
    auto op = std::make_shared<hand_exchange::operation>(exchange);
    async::relay_cancellation(handler.slot(), op);
    async::run_task(exchange->strand(), hand_exchange::run(exchange, op, local), std::move(handler));
}

} // namespace rocio::tools

#include "slac/board_sender.hpp"

#include <rocio/connect/static_peer.hpp>

#include <boost/asio/co_spawn.hpp>

#include <exception>
#include <utility>

namespace rocio::tools {

namespace asio = boost::asio;

namespace {

frame_sender_config sender_config(const board_sender_config& c, const fpga::slac_stream& stream) {
    frame_sender_config s;
    s.payload = stream.payload_bytes;
    s.window = c.window;
    s.count = c.count;
    s.rate = c.rate;
    if (!s.rate && stream.trigger_delay != 0) s.rate = stream.rate();
    s.prbs_word_bytes = stream.word_bits / 8;
    s.counter_period = stream.counter_wrap;
    s.source = c.source;
    s.memory = c.memory;
    return s;
}

gid mapped(std::uint32_t ip) {
    const auto part = [ip](int shift) { return std::to_string(ip >> shift & 0xFF); };
    return gid::parse(part(24) + "." + part(16) + "." + part(8) + "." + part(0)).value_or(gid{});
}

peer_parameters host_of(const fpga::slac_stream& stream, const gid& ours) {
    peer_parameters p;
    p.address = mapped(stream.host_ip);
    p.udp_port = stream.host_port;
    p.queue_pair = qpn{stream.host_qpn};
    p.path_mtu = mtu_from_code(static_cast<std::uint8_t>(stream.path_mtu)).value_or(mtu::b4096);
    p.receive_psn = psn{stream.sq_psn};
    p.send_psn = psn{stream.rq_psn};
    p.imposed = imposed_parameters{ours, psn{stream.sq_psn}, p.path_mtu, 0, 0};
    return p;
}

} // namespace

/// One queue pair from CREATE to DESTROY.
class board_sender::session : public std::enable_shared_from_this<session> {
  public:
    session(asio::io_context& context, const board_sender_config& config)
        : context_(context), config_(config), pair_(context, config.dev, pair_config(config)) {}

    std::uint32_t number() const { return pair_.number().value(); }

    void start(const fpga::slac_stream& stream) {
        if (sender_) return sender_->pause(false);
        sender_ = std::make_unique<frame_sender>(context_, config_.dev, sender_config(config_, stream),
                                                 std::move(pair_));
        auto run = sender_->run(static_peer(context_, host_of(stream, address())));
        asio::co_spawn(context_, std::move(run),
                       [self = shared_from_this()](const std::exception_ptr& e, const error_info& result) {
                           self->ended(e, result);
                       });
    }
    void pause() {
        if (sender_) sender_->pause(true);
    }
    void close() {
        closed_ = true;
        if (sender_ && !over_) sender_->abandon();
    }
    bool started() const noexcept { return sender_ != nullptr; }
    board_sender_counts counts() const {
        board_sender_counts c;
        if (!sender_) return c;
        c.connections = 1;
        c.failed = failed_ ? 1 : 0;
        c.frames = sender_->counts().frames;
        c.bytes = sender_->counts().bytes;
        c.retransmits = sender_->counters().retransmits;
        c.rnr_naks = sender_->counters().rnr_naks_received;
        return c;
    }

  private:
    static queue_pair_config pair_config(const board_sender_config& config) {
        frame_sender_config c;
        c.window = config.window;
        return frame_sender::pair_config(c);
    }
    gid address() const {
        std::vector<gid_table_entry> table;
        throw_if(config_.dev->gid_table(1, table));
        auto choice = choose_gid(table, {});
        throw_if(choice.error);
        return choice.chosen->value;
    }
    void ended(const std::exception_ptr& e, const error_info& result) {
        over_ = true;
        if (e) std::rethrow_exception(e);
        if (closed_ || !result) return;
        failed_ = true;
        config_.say("the stream ended: " + result.message());
    }

    asio::io_context& context_;
    board_sender_config config_;
    basic_queue_pair<asio::io_context::executor_type> pair_;
    std::unique_ptr<frame_sender> sender_;
    bool over_ = false, closed_ = false, failed_ = false;
};

namespace {

board_sender_counts sum(const board_sender_counts& a, const board_sender_counts& b) {
    return {a.frames + b.frames,           a.bytes + b.bytes,
            a.failed + b.failed,           a.connections + b.connections,
            a.retransmits + b.retransmits, a.rnr_naks + b.rnr_naks};
}

} // namespace

board_sender::board_sender(asio::io_context& context, board_sender_config config)
    : context_(context), config_(std::move(config)) {}

board_sender::~board_sender() {
    close();
}

std::uint32_t board_sender::create_queue_pair(std::uint32_t) {
    destroy_queue_pair();
    try {
        session_ = std::make_shared<session>(context_, config_);
        return session_->number();
    } catch (const exception& e) {
        config_.say("no queue pair: " + std::string(e.what()));
        return 0;
    }
}

void board_sender::destroy_queue_pair() {
    if (!session_) return;
    session_->close();
    ended_ = sum(ended_, session_->counts());
    session_.reset();
}

void board_sender::start(const fpga::slac_stream& stream) {
    if (!session_) return;
    const bool again = session_->started();
    session_->start(stream);
    if (!again)
        config_.say("streaming to " + mapped(stream.host_ip).to_address_string() + " queue pair " +
                    std::to_string(stream.host_qpn));
}

void board_sender::stop() {
    if (session_) session_->pause();
}

board_sender_counts board_sender::counts() const {
    return session_ ? sum(ended_, session_->counts()) : ended_;
}

void board_sender::close() {
    destroy_queue_pair();
}

} // namespace rocio::tools

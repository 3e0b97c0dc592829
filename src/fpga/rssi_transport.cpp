#include "fpga/rssi_transport.hpp"

#include "fpga/endpoint_text.hpp"

#include <rocio/fpga/bus_error.hpp>
#include <rocio/fpga/srp.hpp>

#include <boost/asio/buffer.hpp>

#include <algorithm>

namespace rocio::fpga::detail {

namespace {

using asio::ip::udp;
using clock = async::steady_clock;

/// What is with the connection cannot be withdrawn any more, so no more is than keeps it busy.
constexpr std::size_t most_queued = 64;

} // namespace

rssi_transport::rssi_transport(const async::control_strand& strand, const udp::endpoint& peer,
                               const srp_rssi_config& config, rssi_report_ptr report)
    : strand_(strand),
      peer_(peer),
      config_(config),
      report_(std::move(report)),
      timer_(strand),
      machine_(rssi_role::client, config.rssi),
      frames_(srp_max_message, 0, config.check_crc),
      back_off_(config.first_back_off) {}

std::string rssi_transport::peer() const {
    return "SRP over RSSI at UDP " + endpoint_text(peer_.address(), peer_.port());
}

error_info rssi_transport::silence() const {
    if (machine_.state() == rssi_state::open) return {};
    std::string text = "no connection";
    if (machine_.state() == rssi_state::syn_sent)
        text += ", " + std::to_string(machine_.tries()) + " SYNs were not answered";
    if (last_failure_) text += " (the last one ended: " + last_failure_.message() + ")";
    text += unreachable_ ? "; nobody listens there; start the emulator, or check the port"
                         : "; check address and port, and that the board is up and has RSSI at this port";
    return {bus_errc::not_connected, text};
}

// Life of connections.

void rssi_transport::begin(const keep_alive& keep) {
    wanted_ = true;
    keep_ = keep;
    if (phase_ == phase::idle) back_off(keep);
}

void rssi_transport::rest() {
    wanted_ = false;
    if (phase_ == phase::idle || machine_.state() == rssi_state::open) return;
    machine_.close(clock::now());
    if (socket_) send_segments();
    drop();
}

void rssi_transport::close() {
    wanted_ = false;
    machine_.close(clock::now());
    if (socket_) send_segments();
    drop();
}

void rssi_transport::drop() {
    ++connection_;
    ++waits_;
    timer_.cancel();
    socket_.reset();
    waiting_.clear();
    phase_ = phase::idle;
    report();
}

void rssi_transport::back_off(const keep_alive& keep) {
    if (clock::now() >= not_before_) return connect(keep);
    phase_ = phase::backing_off;
    timer_.expires_at(not_before_);
    timer_.async_wait([this, keep, wait = ++waits_](const error_code& ec) {
        if (!ec && wait == waits_) connect(keep);
    });
}

void rssi_transport::connect(const keep_alive& keep) {
    phase_ = phase::connected;
    ++connection_;
    unreachable_ = announced_ = false;
    socket_.emplace(strand_);
    error_code ec;
    socket_->open(peer_.protocol(), ec);
    if (!ec) socket_->non_blocking(true, ec);
    // The kernel keeps out what comes from elsewhere.
    if (!ec) socket_->connect(peer_, ec);
    if (ec) {
        not_before_ = clock::now() + back_off_;
        drop();
        return its_user().on_failure({ec, {}});
    }
    frames_.reset();
    machine_.connect(clock::now());
    receive(keep);
    pump(keep);
}

void rssi_transport::on_lost() {
    ++resets_;
    last_failure_ = machine_.failure();
    not_before_ = clock::now() + back_off_;
    back_off_ = std::min(2 * back_off_, config_.longest_back_off);
    drop();
    its_user().on_failure({bus_errc::connection_lost, "the connection was lost: " + last_failure_.message() +
                                                          "; it may or may not have been carried out"});
}

// Messages.

void rssi_transport::send(std::uint32_t id, std::span<const std::byte> message) {
    waiting_.emplace_back(id, std::vector<std::byte>(message.begin(), message.end()));
    if (machine_.state() != rssi_state::open || phase_ != phase::connected) return;
    if (const auto keep = keep_.lock()) pump(keep);
}

void rssi_transport::withdraw(std::uint32_t id) {
    std::erase_if(waiting_, [id](const auto& w) { return w.first == id; });
}

void rssi_transport::receive(const keep_alive& keep) {
    socket_->async_receive(asio::buffer(in_),
                           [this, keep, mine = connection_](const error_code& ec, std::size_t n) {
                               if (mine != connection_ || ec == asio::error::operation_aborted) return;
                               on_datagram(ec, n);
                               if (pump(keep)) receive(keep);
                           });
}

void rssi_transport::on_datagram(const error_code& ec, std::size_t n) {
    if (ec) {
        unreachable_ = unreachable_ || ec == asio::error::connection_refused;
        return;
    }
    unreachable_ = false;
    machine_.on_segment(std::span(in_).first(n), clock::now());
}

bool rssi_transport::pump(const keep_alive& keep) {
    const auto mine = connection_;
    if (!announced_ && machine_.state() == rssi_state::open) {
        announced_ = true;
        ++connections_;
    }
    deliver();
    send_waiting();
    send_segments();
    report();
    if (machine_.state() == rssi_state::lost) on_lost();
    if (mine != connection_) return false;
    wait(keep);
    return true;
}

void rssi_transport::deliver() {
    for (auto segment = machine_.receive(); segment; segment = machine_.receive()) {
        if (frames_.on_segment(*segment) != depacketizer::verdict::whole) continue;
        back_off_ = config_.first_back_off;
        its_user().on_message(frames_.frame());
    }
}

void rssi_transport::send_waiting() {
    if (machine_.state() != rssi_state::open) return;
    while (!waiting_.empty() && machine_.unacknowledged() < most_queued) {
        const auto [id, message] = std::move(waiting_.front());
        waiting_.pop_front();
        const packetizer_options options{.crc = config_.crc};
        for (const auto& s : packetize(message, machine_.max_payload(), options)) machine_.send(s);
        its_user().on_sent(id);
    }
}

void rssi_transport::send_segments() {
    for (auto n = machine_.next_segment(out_, clock::now()); n != 0;
         n = machine_.next_segment(out_, clock::now())) {
        error_code ec;
        socket_->send(asio::buffer(out_.data(), n), 0, ec);
        // What the network says of an earlier datagram; all else is as good as lost on the way.
        if (ec == asio::error::connection_refused) unreachable_ = true;
    }
}

void rssi_transport::wait(const keep_alive& keep) {
    const auto deadline = machine_.next_deadline();
    if (!deadline) return;
    timer_.expires_at(*deadline);
    timer_.async_wait([this, keep, wait = ++waits_](const error_code& ec) {
        if (ec || wait != waits_) return;
        machine_.on_deadline(clock::now());
        pump(keep);
    });
}

void rssi_transport::report() {
    srp_rssi_snapshot s;
    s.state = machine_.state();
    s.parameters = machine_.parameters();
    s.segments = machine_.counters();
    s.connections = connections_;
    s.resets = resets_;
    s.dropped_frames = frames_.dropped();
    report_->set(s);
}

} // namespace rocio::fpga::detail

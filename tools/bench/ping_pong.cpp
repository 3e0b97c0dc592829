#include "bench/ping_pong.hpp"

#include <algorithm>

namespace rocio::tools {

ping_pong::ping_pong(queue_pair_end& end)
    : end_(end),
      total_(end.config().ping_pong_messages()),
      ahead_(end.config().receive_depth),
      part_(total_ - end.config().count, end.config().count) {
    sent_.reserve(total_);
}

void ping_pong::post_receives() {
    const auto ahead = std::min<std::uint64_t>(ahead_, total_);
    while (posted_ < ahead) receive();
}

void ping_pong::begin() {
    if (end_.config().dials()) send();
}

measurement ping_pong::result() const {
    auto m = part_.result();
    m.latencies = half_round_trips(sent_, end_.config().warm_up());
    return m;
}

void ping_pong::receive() {
    ++posted_;
    end_.pair().async_receive(in_, received{this});
}

void ping_pong::send() {
    const auto number = static_cast<std::uint32_t>(sent_.size());
    sent_.push_back(clock::now());
    end_.start(0, number, sent{this});
}

void ping_pong::on_received(const error_code& ec, const received_message& message) {
    if (ec) return end_.fail({ec, {}});
    if (numbered_ && message.immediate != static_cast<std::uint32_t>(received_))
        return end_.fail(wrong_number(received_, message.immediate));
    ++received_;
    if (sent_.size() < total_) send();
    if (posted_ < total_) receive();
    part_.pass(received_);
    end_.moved();
    finish_when_done();
}

void ping_pong::on_sent(const error_code& ec) {
    if (ec) return end_.fail({ec, {}});
    ++acknowledged_;
    finish_when_done();
}

void ping_pong::finish_when_done() {
    if (received_ == total_ && acknowledged_ == total_) end_.finish();
}

} // namespace rocio::tools

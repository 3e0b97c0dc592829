#include "bench/message_flow.hpp"

#include <algorithm>

namespace rocio::tools {

message_sender::message_sender(queue_pair_end& end)
    : end_(end),
      timed_(end.config().what == measured::latency),
      total_(end.config().messages()),
      window_(timed_ ? 1 : end.config().send_depth),
      batch_(timed_ ? 1 : end.config().batch),
      lanes_(timed_ ? 1 : end.pair_count()),
      part_(end.config().warm_up(), end.config().count) {
    if (timed_) latencies_.reserve(total_);
}

void message_sender::begin() {
    part_.pass(0);
    for (std::uint32_t i = 0; i < lanes_.size(); ++i) {
        lanes_[i].room = window_;
        fill(i);
    }
}

measurement message_sender::result() const {
    auto m = part_.result();
    const auto warm_up = std::min<std::uint64_t>(end_.config().warm_up(), latencies_.size());
    m.latencies.assign(latencies_.begin() + static_cast<std::ptrdiff_t>(warm_up), latencies_.end());
    return m;
}

void message_sender::send(std::uint32_t pair) {
    ++posted_;
    --lanes_[pair].room;
    if (timed_) began_ = clock::now();
    end_.start(pair, lanes_[pair].number++, done{this, pair});
}

void message_sender::fill(std::uint32_t pair) {
    while (lanes_[pair].room > 0 && posted_ < total_) send(pair);
}

void message_sender::on_done(const error_code& ec, std::uint32_t pair) {
    if (ec) return end_.fail({ec, {}});
    if (timed_)
        latencies_.push_back(std::chrono::duration<double, std::micro>(clock::now() - began_).count());
    end_.moved();
    part_.pass(++done_);
    if (++lanes_[pair].room >= batch_) fill(pair);
    if (done_ == total_) end_.finish();
}

message_receiver::message_receiver(queue_pair_end& end)
    : end_(end),
      numbered_(has_immediate(end.config().operation)),
      total_(end.config().messages()),
      numbers_(end.pair_count()),
      part_(end.config().warm_up(), end.config().count) {}

void message_receiver::post_receives() {
    part_.pass(0);
    for (std::uint32_t pair = 0; pair < numbers_.size(); ++pair)
        for (std::uint32_t i = 0; i < end_.config().receive_depth; ++i) receive(pair);
}

void message_receiver::receive(std::uint32_t pair) {
    end_.pair(pair).async_receive(in_, received{this, pair});
}

/// Which queue pair gets how many is the sender's affair, so that some receives are left over at the end.
void message_receiver::on_received(const error_code& ec, const received_message& message,
                                   std::uint32_t pair) {
    if (received_ == total_) return;
    if (ec) return end_.fail({ec, {}});
    if (numbered_ && message.immediate != numbers_[pair])
        return end_.fail(wrong_number(numbers_[pair], message.immediate));
    ++numbers_[pair];
    end_.moved();
    part_.pass(++received_);
    if (received_ == total_) return end_.finish();
    receive(pair);
}

} // namespace rocio::tools

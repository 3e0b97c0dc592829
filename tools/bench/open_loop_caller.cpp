#include "bench/open_loop_caller.hpp"

#include <boost/asio/post.hpp>

namespace rocio::tools {

open_loop_caller::open_loop_caller(queue_pair_end& end)
    : end_(end),
      reads_(end.config().operation == message_operation::read),
      numbered_(has_immediate(end.config().operation)),
      spins_(end.config().poll.budget == polling_policy::endless),
      loop_(end.config().rate, end.config().warm_up(), end.config().count, end.config().send_depth),
      timer_(end.context().get_executor()),
      part_(end.config().warm_up(), end.config().count) {}

void open_loop_caller::post_receives() {
    if (reads_) return;
    for (std::uint32_t i = 0; i < end_.config().receive_depth; ++i) receive();
}

void open_loop_caller::begin() {
    part_.pass(0);
    loop_.begin(clock::now());
    pace();
}

measurement open_loop_caller::result() {
    auto m = part_.result();
    m.latencies = loop_.take_latencies();
    return m;
}

void open_loop_caller::receive() {
    end_.pair().async_receive(end_.in(), received{this});
}

void open_loop_caller::send_what_is_due() {
    while (loop_.may_send(clock::now())) {
        const auto number = static_cast<std::uint32_t>(loop_.messages_sent());
        loop_.sent();
        end_.start(0, number, sent{this});
    }
}

/// A spinning context looks at the clock after every turn; another one sleeps until the next is due.
void open_loop_caller::pace() {
    send_what_is_due();
    if (!loop_.has_more()) return;
    if (spins_) return boost::asio::post(end_.context().get_executor(), woken{this});
    timer_.expires_at(loop_.next_due());
    timer_.async_wait(woken{this});
}

void open_loop_caller::on_received(const error_code& ec, const received_message& message) {
    if (loop_.is_over()) return;
    if (ec) return end_.fail({ec, {}});
    if (numbered_ && message.immediate != static_cast<std::uint32_t>(loop_.messages_answered()))
        return end_.fail(wrong_number(loop_.messages_answered(), message.immediate));
    receive();
    on_answer();
}

void open_loop_caller::on_sent(const error_code& ec) {
    if (ec) return end_.fail({ec, {}});
    ++acknowledged_;
    if (reads_) return on_answer();
    if (loop_.is_over() && acknowledged_ == loop_.total()) end_.finish();
}

void open_loop_caller::on_answer() {
    loop_.answered(clock::now());
    part_.pass(loop_.messages_answered());
    end_.moved();
    send_what_is_due();
    if (loop_.is_over() && acknowledged_ == loop_.total()) end_.finish();
}

} // namespace rocio::tools

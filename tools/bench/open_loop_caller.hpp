#pragma once

#include "bench/open_loop.hpp"
#include "bench/queue_pair_end.hpp"

#include <boost/asio/steady_timer.hpp>

namespace rocio::tools {

/// The dialling side of a latency test at a fixed rate: messages leave when they are due, whatever the
/// answers do; an answer is a message of the other side, or the end of a READ. For one thread.
class open_loop_caller {
  public:
    explicit open_loop_caller(queue_pair_end& end);
    open_loop_caller(const open_loop_caller&) = delete;
    open_loop_caller& operator=(const open_loop_caller&) = delete;

    void post_receives();
    void begin();
    measurement result();

  private:
    using clock = open_loop::clock;
    struct received {
        open_loop_caller* self;
        void operator()(const error_code& ec, const received_message& m) const { self->on_received(ec, m); }
    };
    struct sent {
        open_loop_caller* self;
        void operator()(const error_code& ec) const { self->on_sent(ec); }
    };
    struct woken {
        open_loop_caller* self;
        void operator()(const error_code& = {}) const { self->pace(); }
    };

    void receive();
    void send_what_is_due();
    void pace();
    void on_received(const error_code& ec, const received_message& message);
    void on_sent(const error_code& ec);
    void on_answer();

    queue_pair_end& end_;
    const bool reads_, numbered_, spins_;
    open_loop loop_;
    boost::asio::basic_waitable_timer<clock, boost::asio::wait_traits<clock>, queue_pair_end::executor>
        timer_;
    std::uint64_t acknowledged_ = 0;
    measured_part part_;
};

} // namespace rocio::tools

#pragma once

#include "bench/queue_pair_end.hpp"

#include <vector>

namespace rocio::tools {

/// Messages there and back that the other side receives (SEND, WRITE with immediate), one on its way; the
/// listening side answers each. With a rate only the dialling side differs: see open_loop_caller. For one
/// thread.
class ping_pong {
  public:
    using clock = std::chrono::steady_clock;

    explicit ping_pong(queue_pair_end& end);
    ping_pong(const ping_pong&) = delete;
    ping_pong& operator=(const ping_pong&) = delete;

    void post_receives();
    void begin();
    measurement result() const;

  private:
    struct received {
        ping_pong* self;
        void operator()(const error_code& ec, const received_message& m) const { self->on_received(ec, m); }
    };
    struct sent {
        ping_pong* self;
        void operator()(const error_code& ec) const { self->on_sent(ec); }
    };

    void receive();
    void send();
    void on_received(const error_code& ec, const received_message& message);
    void on_sent(const error_code& ec);
    void finish_when_done();

    queue_pair_end& end_;
    const registered_buffer in_ = end_.in();
    const bool numbered_ = has_immediate(end_.config().operation);
    const std::uint64_t total_;
    const std::uint32_t ahead_;
    std::uint64_t posted_ = 0, received_ = 0, acknowledged_ = 0;
    std::vector<clock::time_point> sent_{};
    measured_part part_;
};

} // namespace rocio::tools

#pragma once

#include "bench/queue_pair_end.hpp"

#include <vector>

namespace rocio::tools {

/// The side of a one-way test that starts messages: as many on their way as the queues hold, or one at a
/// time, each timed, for the latency of a READ. For one thread.
class message_sender {
  public:
    using clock = std::chrono::steady_clock;

    explicit message_sender(queue_pair_end& end);
    message_sender(const message_sender&) = delete;
    message_sender& operator=(const message_sender&) = delete;

    void begin();
    measurement result() const;

  private:
    struct done {
        message_sender* self;
        std::uint32_t pair;
        void operator()(const error_code& ec) const { self->on_done(ec, pair); }
    };
    struct lane {
        std::uint32_t room = 0;   ///< Messages that may be started.
        std::uint32_t number = 0; ///< Of the next.
    };
    void send(std::uint32_t pair);
    void fill(std::uint32_t pair);
    void on_done(const error_code& ec, std::uint32_t pair);

    queue_pair_end& end_;
    const bool timed_;
    const std::uint64_t total_;
    const std::uint32_t window_, batch_;
    std::vector<lane> lanes_;
    std::uint64_t posted_ = 0, done_ = 0;
    clock::time_point began_{};
    std::vector<double> latencies_{};
    measured_part part_;
};

/// The other side of a one-way test: keeps the receive queues full and checks the numbers of the messages.
/// For one thread.
class message_receiver {
  public:
    explicit message_receiver(queue_pair_end& end);
    message_receiver(const message_receiver&) = delete;
    message_receiver& operator=(const message_receiver&) = delete;

    void post_receives();
    measurement result() const { return part_.result(); }

  private:
    struct received {
        message_receiver* self;
        std::uint32_t pair;
        void operator()(const error_code& ec, const received_message& m) const {
            self->on_received(ec, m, pair);
        }
    };
    void receive(std::uint32_t pair);
    void on_received(const error_code& ec, const received_message& message, std::uint32_t pair);

    queue_pair_end& end_;
    const registered_buffer in_ = end_.in();
    const bool numbered_;
    const std::uint64_t total_;
    std::vector<std::uint32_t> numbers_; ///< The next of each queue pair.
    std::uint64_t received_ = 0;
    measured_part part_;
};

} // namespace rocio::tools

#pragma once

#include "bench/queue_pair_end.hpp"

#include <vector>

namespace rocio::tools {

/// RDMA WRITE there and back: the last byte of a message counts, and whoever waits watches it. While its own
/// write is on the way the engine turns; after that only a device in software needs turns. For one thread.
class write_ping_pong {
  public:
    using clock = std::chrono::steady_clock;

    explicit write_ping_pong(queue_pair_end& end);
    write_ping_pong(const write_ping_pong&) = delete;
    write_ping_pong& operator=(const write_ping_pong&) = delete;

    /// Blocks until all messages are through. Throws rocio::exception.
    void run();
    measurement result() const;

  private:
    struct written {
        write_ping_pong* self;
        void operator()(const error_code& ec) const {
            self->writing_ = false;
            if (ec) self->closed_ = {ec, {}};
        }
    };

    void write(std::uint64_t n);
    void await_message(std::uint64_t n);
    void turn();
    void check_silence();
    clock::time_point sent_or_begin() const { return sent_.empty() ? begin_ : sent_.back(); }

    queue_pair_end& end_;
    const registered_buffer in_ = end_.in(), out_ = end_.out();
    const bool turns_ = end_.device_needs_turns();
    const std::uint64_t total_;
    const clock::time_point begin_ = clock::now();
    bool writing_ = false;
    error_info closed_{};
    std::vector<clock::time_point> sent_{};
    measured_part part_;
};

} // namespace rocio::tools

#include "bench/queue_pair_end.hpp"

#include <algorithm>
#include <atomic>

namespace rocio::tools {

namespace {

using clock = std::chrono::steady_clock;

/// SEND there and back, one message on its way.
class ping_pong {
  public:
    explicit ping_pong(queue_pair_end& end) : end_(end), total_(end.config().messages() + 1) {
        sent_.reserve(total_);
    }

    void post_receives() {
        const auto ahead = std::min<std::uint64_t>(ping_pong_receives, total_);
        while (posted_ < ahead) receive();
    }
    void begin() {
        if (end_.config().dials()) send();
    }
    std::vector<double> samples() const { return half_round_trips(sent_, end_.config().warm_up()); }

  private:
    struct received {
        ping_pong* self;
        void operator()(const error_code& ec, const received_message&) const { self->on_received(ec); }
    };
    struct sent {
        ping_pong* self;
        void operator()(const error_code& ec) const { self->on_sent(ec); }
    };

    void receive() {
        ++posted_;
        end_.pair().async_receive(in_, received{this});
    }
    void send() {
        sent_.push_back(clock::now());
        if (inline_)
            end_.pair().async_send(inline_bytes(out_.bytes()), sent{this});
        else
            end_.pair().async_send(out_, sent{this});
    }
    void on_received(const error_code& ec) {
        if (ec) return end_.fail({ec, {}});
        ++received_;
        if (sent_.size() < total_) send();
        if (posted_ < total_) receive();
        end_.moved();
        finish_when_done();
    }
    void on_sent(const error_code& ec) {
        if (ec) return end_.fail({ec, {}});
        ++acknowledged_;
        finish_when_done();
    }
    void finish_when_done() {
        if (received_ == total_ && acknowledged_ == total_) end_.finish();
    }

    queue_pair_end& end_;
    const registered_buffer in_ = end_.in(), out_ = end_.out();
    const bool inline_ = end_.sends_inline();
    const std::uint64_t total_;
    std::uint64_t posted_ = 0, received_ = 0, acknowledged_ = 0;
    std::vector<clock::time_point> sent_{};
};

/// RDMA WRITE there and back: the last byte of a message counts, and whoever waits watches it. While its own
/// write is on the way the engine turns; after that only a device in software needs turns.
class write_ping_pong {
  public:
    explicit write_ping_pong(queue_pair_end& end)
        : end_(end), total_(end.config().messages() + 1), to_(end.pair().peer().region.buffer()) {
        sent_.reserve(total_);
    }
    write_ping_pong(const write_ping_pong&) = delete;
    write_ping_pong& operator=(const write_ping_pong&) = delete;

    void run() {
        // Keeps the engine turning all the time.
        if (turns_) end_.pair().async_wait_closed([this](const error_code& ec) { closed_ = {ec, {}}; });
        for (std::uint64_t n = 1; n <= total_; ++n) {
            if (!end_.config().dials()) await_message(n);
            write(n);
            if (end_.config().dials()) await_message(n);
        }
    }
    std::vector<double> samples() const { return half_round_trips(sent_, end_.config().warm_up()); }

  private:
    struct written {
        write_ping_pong* self;
        void operator()(const error_code& ec) const {
            self->writing_ = false;
            if (ec) self->closed_ = {ec, {}};
        }
    };

    void write(std::uint64_t n) {
        out_.data[out_.size - 1] = static_cast<std::byte>(n);
        writing_ = true;
        sent_.push_back(clock::now());
        if (inline_)
            end_.pair().async_write(inline_bytes(out_.bytes()), to_, written{this});
        else
            end_.pair().async_write(out_, to_, written{this});
        while (writing_) turn();
        end_.moved();
    }
    void await_message(std::uint64_t n) {
        const auto expected = static_cast<std::byte>(n);
        const std::atomic_ref<std::byte> last(in_.data[in_.size - 1]);
        for (std::uint32_t looks = 1; last.load(std::memory_order_acquire) != expected; ++looks) {
            if (turns_ || looks % looks_between_turns == 0) turn();
            if (looks % looks_between_clocks == 0) check_silence();
        }
    }
    void turn() {
        end_.context().poll_one();
        if (!closed_ && end_.pair().state() != queue_pair_state::error) return;
        const auto reason = end_.pair().last_error();
        throw exception(reason ? reason : error_info{end_.pair().close_reason(), {}});
    }
    void check_silence() {
        if (clock::now() - sent_or_begin() > longest_silence)
            throw exception({errc::peer_lost, "no message for " + std::to_string(longest_silence.count()) +
                                                  " s: the other side hangs"});
    }
    clock::time_point sent_or_begin() const { return sent_.empty() ? begin_ : sent_.back(); }

    static constexpr std::uint32_t looks_between_turns = 4096;
    static constexpr std::uint32_t looks_between_clocks = 1 << 16;

    queue_pair_end& end_;
    const registered_buffer in_ = end_.in(), out_ = end_.out();
    const bool inline_ = end_.sends_inline();
    const bool turns_ = end_.device_needs_turns();
    const std::uint64_t total_;
    const remote_buffer to_;
    const clock::time_point begin_ = clock::now();
    bool writing_ = false;
    error_info closed_{};
    std::vector<clock::time_point> sent_{};
};

/// From the end of the warm-up to the last message.
class stopwatch {
  public:
    explicit stopwatch(std::uint64_t warm_up) : warm_up_(warm_up) { pass(0); }
    void pass(std::uint64_t messages) {
        if (messages == warm_up_) begin_ = clock::now();
    }
    void stop() { end_ = clock::now(); }
    double seconds() const { return std::chrono::duration<double>(end_ - begin_).count(); }

  private:
    std::uint64_t warm_up_;
    clock::time_point begin_{}, end_{};
};

/// Keeps as many messages on their way as the queue holds.
class stream_sender {
  public:
    explicit stream_sender(queue_pair_end& end)
        : end_(end), total_(end.config().messages()), time_(end.config().warm_up()) {}

    void begin() {
        const auto window = std::min<std::uint64_t>(end_.config().send_depth, total_);
        while (posted_ < window) send();
    }
    double seconds() const { return time_.seconds(); }

  private:
    struct sent {
        stream_sender* self;
        void operator()(const error_code& ec) const { self->on_sent(ec); }
    };
    void send() {
        ++posted_;
        if (inline_)
            end_.pair().async_send(inline_bytes(out_.bytes()), sent{this});
        else
            end_.pair().async_send(out_, sent{this});
    }
    void on_sent(const error_code& ec) {
        if (ec) return end_.fail({ec, {}});
        end_.moved();
        time_.pass(++acknowledged_);
        if (posted_ < total_) send();
        if (acknowledged_ < total_) return;
        time_.stop();
        end_.finish();
    }

    queue_pair_end& end_;
    const registered_buffer out_ = end_.out();
    const bool inline_ = end_.sends_inline();
    const std::uint64_t total_;
    stopwatch time_;
    std::uint64_t posted_ = 0, acknowledged_ = 0;
};

/// Keeps the receive queue full.
class stream_receiver {
  public:
    explicit stream_receiver(queue_pair_end& end)
        : end_(end), total_(end.config().messages()), time_(end.config().warm_up()) {}

    void post_receives() {
        const auto ahead = std::min<std::uint64_t>(end_.config().receive_depth, total_);
        while (posted_ < ahead) receive();
    }
    double seconds() const { return time_.seconds(); }

  private:
    struct received {
        stream_receiver* self;
        void operator()(const error_code& ec, const received_message&) const { self->on_received(ec); }
    };
    void receive() {
        ++posted_;
        end_.pair().async_receive(in_, received{this});
    }
    void on_received(const error_code& ec) {
        if (ec) return end_.fail({ec, {}});
        end_.moved();
        time_.pass(++received_);
        if (posted_ < total_) receive();
        if (received_ < total_) return;
        time_.stop();
        end_.finish();
    }

    queue_pair_end& end_;
    const registered_buffer in_ = end_.in();
    const std::uint64_t total_;
    stopwatch time_;
    std::uint64_t posted_ = 0, received_ = 0;
};

pair_bench_result run_send(queue_pair_end& end) {
    const bool dials = end.config().dials();
    ping_pong messages(end);
    // Who dials may have to dial again, and each attempt that fails would flush its receives.
    if (!dials) messages.post_receives();
    end.meet();
    if (dials) messages.post_receives();
    messages.begin();
    end.run();
    const auto engine = end.engine_since_meeting();
    end.part(!dials);
    check_pattern(end.in().bytes(), !dials);
    return {messages.samples(), 0, engine};
}

pair_bench_result run_write(queue_pair_end& end) {
    const bool dials = end.config().dials();
    end.meet();
    write_ping_pong messages(end);
    messages.run();
    const auto engine = end.engine_since_meeting();
    end.part(!dials);
    check_pattern(end.in().first(end.config().size - 1).bytes(), !dials);
    return {messages.samples(), 0, engine};
}

pair_bench_result run_stream_sender(queue_pair_end& end) {
    stream_sender messages(end);
    end.meet();
    messages.begin();
    end.run();
    const auto engine = end.engine_since_meeting();
    end.part(true);
    return {{}, messages.seconds(), engine};
}

pair_bench_result run_stream_receiver(queue_pair_end& end) {
    stream_receiver messages(end);
    messages.post_receives();
    end.meet();
    end.run();
    const auto engine = end.engine_since_meeting();
    end.part(false);
    check_pattern(end.in().bytes(), true);
    return {{}, messages.seconds(), engine};
}

} // namespace

pair_bench_result run_queue_pair(const pair_bench_config& config) {
    queue_pair_end end(config);
    if (config.test == pair_test::send) return run_send(end);
    if (config.test == pair_test::write) return run_write(end);
    return config.dials() ? run_stream_sender(end) : run_stream_receiver(end);
}

} // namespace rocio::tools

#include "bench/stream_receiver.hpp"

#include "bench/bench_meeting.hpp"
#include "bench/measured_part.hpp"

#include <rocio/io/busy_poll_context.hpp>
#include <rocio/io/completion_engine.hpp>
#include <rocio/open/open_device.hpp>
#include <rocio/stream/receive_server.hpp>

#include <boost/asio/steady_timer.hpp>

#include <cstring>
#include <optional>
#include <vector>

namespace rocio::tools {

namespace {

constexpr std::chrono::seconds longest_goodbye{2};

class stream_receiver {
  public:
    explicit stream_receiver(const pair_bench_config& config)
        : config_(config),
          context_(config.poll),
          server_(context_, server_config()),
          view_(server_.all()),
          meeting_(config),
          silence_(context_),
          expected_(std::size_t{config.size} * config.buffers),
          frames_(config.take),
          part_(config.warm_up(), config.count) {
        completion_engine::of(context_).set_log_sink(config.log);
        for (std::size_t n = 0; n < config.buffers; ++n)
            fill_pattern({&expected_[n * config.size], config.size}, true, n);
    }
    stream_receiver(const stream_receiver&) = delete;
    stream_receiver& operator=(const stream_receiver&) = delete;

    measurement run() {
        meeting_.meet(context_, server_.core());
        part_.pass(0);
        take();
        watch_silence();
        context_.restart();
        context_.run();
        server_.stop();
        context_.restart();
        context_.run_for(longest_goodbye);
        throw_if(failure_);
        return part_.result();
    }

  private:
    struct taken {
        stream_receiver* self;
        void operator()(const error_code& ec, std::size_t n) const { self->on_taken(ec, n); }
    };

    receive_server_config server_config() const {
        receive_server_config c;
        c.name = "bench";
        c.device = open_device(config_.device);
        c.gid_index = config_.gid_index;
        c.max_payload = config_.size;
        c.rx_queue_depth = config_.receive_depth;
        return c;
    }
    void take() { view_.async_receive_some(frames_, taken{this}); }
    void on_taken(const error_code& ec, std::size_t n) {
        if (ec) return end(received_ == config_.messages() ? error_info{} : error_info{ec, {}});
        for (std::size_t i = 0; i < n; ++i) {
            if (auto e = check(frames_[i])) return end(std::move(e));
            frames_[i].release();
        }
        part_.pass(received_);
        take(); // after the last the sender's goodbye
    }
    error_info check(const frame& f) {
        const auto number = received_++;
        if (f.counter() != (number & 0xFFFFFF)) return wrong_number(number & 0xFFFFFF, f.counter());
        const auto* right = &expected_[(number % config_.buffers) * config_.size];
        if (f.size() == config_.size && std::memcmp(f.payload().data(), right, f.size()) == 0) return {};
        return {errc::bad_response, "frame " + std::to_string(number) + " is not the one that was sent"};
    }
    void watch_silence() {
        silence_.expires_after(longest_silence);
        silence_.async_wait([this, before = received_](const error_code& ec) {
            if (ec) return;
            if (received_ != before) return watch_silence();
            end({errc::peer_lost, "no frame came"});
        });
    }
    void end(error_info why) {
        failure_ = std::move(why);
        silence_.cancel();
        context_.stop();
    }

    const pair_bench_config& config_;
    busy_poll_context context_;
    basic_receive_server<boost::asio::io_context::executor_type> server_;
    basic_receive_view<boost::asio::io_context::executor_type> view_;
    bench_meeting meeting_;
    boost::asio::steady_timer silence_;
    std::vector<std::byte> expected_;
    std::vector<frame> frames_;
    std::uint64_t received_ = 0;
    measured_part part_;
    error_info failure_{};
};

} // namespace

measurement run_stream_receiver(const pair_bench_config& config) {
    stream_receiver receiver(config);
    return receiver.run();
}

} // namespace rocio::tools

#include "bench/bench_meeting.hpp"
#include "bench/plain_verbs.hpp"
#include "lib/live_line.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <optional>
#include <thread>

namespace rocio::tools {

namespace {

namespace asio = boost::asio;
using clock = std::chrono::steady_clock;
using progress_counter = std::atomic<std::uint64_t>;

constexpr int batch = 16;

std::vector<double> send(plain_queue_pair& pair, const pair_bench_config& config, progress_counter& moved) {
    const auto total = config.messages() + 1;
    std::vector<clock::time_point> sent;
    sent.reserve(total);
    const auto post = [&] {
        sent.push_back(clock::now());
        pair.post_send();
    };
    std::uint64_t received = 0, acknowledged = 0;
    if (config.dials()) post();
    while (received < total || acknowledged < total) {
        ibv_wc found[batch];
        const int n = pair.take(found, batch);
        for (int i = 0; i < n; ++i) {
            if (!is_receive(found[i])) {
                ++acknowledged;
                continue;
            }
            if (sent.size() < total) post();
            if (++received + ping_pong_receives <= total) pair.post_receive();
            moved.store(received, std::memory_order_relaxed);
        }
    }
    return half_round_trips(sent, config.warm_up());
}

void await_write(plain_queue_pair& pair, const pair_bench_config& config, std::uint64_t number) {
    const std::atomic_ref<std::byte> last(pair.in()[config.size - 1]);
    while (last.load(std::memory_order_acquire) != static_cast<std::byte>(number))
        if (pair.is_lost()) pair.throw_cause();
}

std::vector<double> write(plain_queue_pair& pair, const pair_bench_config& config, progress_counter& moved) {
    const auto total = config.messages() + 1;
    std::vector<clock::time_point> sent;
    sent.reserve(total);
    for (std::uint64_t number = 1; number <= total; ++number) {
        if (!config.dials()) await_write(pair, config, number);
        pair.out()[config.size - 1] = static_cast<std::byte>(number);
        sent.push_back(clock::now());
        pair.post_write();
        ibv_wc found;
        pair.take(&found, 1);
        if (config.dials()) await_write(pair, config, number);
        moved.store(number, std::memory_order_relaxed);
    }
    return half_round_trips(sent, config.warm_up());
}

/// One way; `step` posts what follows a completion. Gives the seconds of the measured messages.
template <class Step>
double stream(plain_queue_pair& pair, const pair_bench_config& config, progress_counter& moved, Step step) {
    const auto total = config.messages();
    auto begin = clock::now();
    for (std::uint64_t done = 0; done < total;) {
        ibv_wc found[batch];
        const int n = pair.take(found, batch);
        for (int i = 0; i < n; ++i) {
            if (++done == config.warm_up()) begin = clock::now();
            step(done);
        }
        moved.store(done, std::memory_order_relaxed);
    }
    return std::chrono::duration<double>(clock::now() - begin).count();
}

double stream_out(plain_queue_pair& pair, const pair_bench_config& config, progress_counter& moved) {
    const auto total = config.messages();
    std::uint64_t posted = 0;
    const auto post = [&] {
        ++posted;
        pair.post_send();
    };
    while (posted < std::min<std::uint64_t>(config.send_depth, total)) post();
    return stream(pair, config, moved, [&](std::uint64_t) {
        if (posted < total) post();
    });
}

double stream_in(plain_queue_pair& pair, const pair_bench_config& config, progress_counter& moved) {
    const auto total = config.messages();
    return stream(pair, config, moved, [&](std::uint64_t done) {
        if (done + config.receive_depth <= total) pair.post_receive();
    });
}

/// Runs the rendezvous' context beside the loop, asleep but for the end of the connection: what the loop does
/// not look at must not cost it anything.
class company {
  public:
    company(asio::io_context& context, const pair_bench_config& config, const progress_counter& moved)
        : context_(context),
          live_(context.get_executor(), [&config, &moved] { return progress_text(config, moved.load()); }),
          thread_([this] {
              context_.restart();
              context_.run();
          }) {}
    company(const company&) = delete;
    company& operator=(const company&) = delete;
    ~company() {
        asio::post(context_, [this] { live_.stop(); });
        thread_.join();
    }

  private:
    asio::io_context& context_;
    live_line live_;
    std::thread thread_;
};

pair_bench_result measure(plain_queue_pair& pair, const pair_bench_config& config, progress_counter& moved) {
    switch (config.test) {
    case pair_test::send:
        return {send(pair, config, moved), 0, {}};
    case pair_test::write:
        return {write(pair, config, moved), 0, {}};
    case pair_test::stream:
        break;
    }
    return {{}, config.dials() ? stream_out(pair, config, moved) : stream_in(pair, config, moved), {}};
}

} // namespace

pair_bench_result run_plain_verbs(const pair_bench_config& config) {
    asio::io_context context(1);
    const auto pair = std::make_shared<plain_queue_pair>(config, context.get_executor());
    bench_meeting meeting(pair, config);
    meeting.meet(context);
    progress_counter moved{0};
    pair_bench_result result;
    {
        const company beside(context, config, moved);
        const struct goodbye {
            plain_queue_pair& pair;
            ~goodbye() { pair.say_goodbye(); }
        } at_the_end{*pair};
        result = measure(*pair, config, moved);
        // Who has something to wait for goes last.
        const bool first = config.dials() == (config.test == pair_test::stream);
        if (!first) pair->wait_lost();
    }
    const bool receives = config.test != pair_test::stream || !config.dials();
    const auto size = config.test == pair_test::write ? config.size - 1 : config.size;
    if (receives) check_pattern({pair->in(), size}, !config.dials());
    return result;
}

} // namespace rocio::tools

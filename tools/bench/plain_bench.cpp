#include "bench/bench_meeting.hpp"
#include "bench/measured_part.hpp"
#include "bench/open_loop.hpp"
#include "bench/plain_end.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <optional>
#include <thread>

namespace rocio::tools {

namespace {

namespace asio = boost::asio;
using clock = std::chrono::steady_clock;

constexpr int batch = 16;

void tell(const pair_bench_config& config, std::uint64_t messages) {
    if (config.progress) config.progress->store(messages, std::memory_order_relaxed);
}

void check_number(const pair_bench_config& config, const ibv_wc& found, std::uint64_t expected) {
    if (!has_immediate(config.operation)) return;
    const auto number = ntohl(found.imm_data);
    if (number != static_cast<std::uint32_t>(expected)) throw exception(wrong_number(expected, number));
}

measurement there_and_back(plain_end& end) {
    const auto& config = end.config();
    const auto total = config.ping_pong_messages();
    measured_part part(total - config.count, config.count);
    std::vector<clock::time_point> sent;
    sent.reserve(total);
    const auto post = [&] {
        const auto number = static_cast<std::uint32_t>(sent.size());
        sent.push_back(clock::now());
        end.pair().post(1, number);
    };
    std::uint64_t received = 0, acknowledged = 0;
    if (config.dials()) post();
    while (received < total || acknowledged < total) {
        ibv_wc found[batch];
        const int n = end.take(found, batch);
        for (int i = 0; i < n; ++i) {
            if (!is_receive(found[i])) {
                ++acknowledged;
                continue;
            }
            check_number(config, found[i], received);
            if (sent.size() < total) post();
            if (++received + config.receive_depth <= total) end.pair().post_receive();
            part.pass(received);
            tell(config, received);
        }
    }
    auto m = part.result();
    m.latencies = half_round_trips(sent, config.warm_up());
    return m;
}

void await_write(plain_end& end, std::uint64_t number) {
    const std::atomic_ref<std::byte> last(end.in()[end.config().size - 1]);
    while (last.load(std::memory_order_acquire) != static_cast<std::byte>(number))
        if (end.is_lost()) end.throw_cause();
}

measurement writes_there_and_back(plain_end& end) {
    const auto& config = end.config();
    const auto total = config.ping_pong_messages();
    measured_part part(total - config.count, config.count);
    std::vector<clock::time_point> sent;
    sent.reserve(total);
    for (std::uint64_t number = 1; number <= total; ++number) {
        if (!config.dials()) await_write(end, number);
        end.out()[config.size - 1] = static_cast<std::byte>(number);
        sent.push_back(clock::now());
        end.pair().post(1, 0);
        ibv_wc found;
        end.take(&found, 1);
        if (config.dials()) await_write(end, number);
        part.pass(number);
        tell(config, number);
    }
    auto m = part.result();
    m.latencies = half_round_trips(sent, config.warm_up());
    return m;
}

measurement reads_one_by_one(plain_end& end) {
    const auto& config = end.config();
    return time_calls(config.warm_up(), config.count, [&](std::uint64_t before) {
        end.pair().post(1, 0);
        ibv_wc found;
        end.take(&found, 1);
        tell(config, before + 1);
    });
}

/// The dialling side at a fixed rate.
measurement open_loop_calls(plain_end& end) {
    const auto& config = end.config();
    const bool reads = config.operation == message_operation::read;
    measured_part part(config.warm_up(), config.count);
    open_loop loop(config.rate, config.warm_up(), config.count, config.send_depth);
    std::uint64_t acknowledged = 0;
    part.pass(0);
    loop.begin(clock::now());
    while (!loop.is_over() || acknowledged < loop.total()) {
        if (loop.may_send(clock::now())) {
            end.pair().post(1, static_cast<std::uint32_t>(loop.messages_sent()));
            loop.sent();
        }
        ibv_wc found[batch];
        const int n = end.look(found, batch);
        for (int i = 0; i < n; ++i) {
            const bool received = is_receive(found[i]);
            if (!received) ++acknowledged;
            if (received == reads) continue;
            if (received) {
                check_number(config, found[i], loop.messages_answered());
                end.pair().post_receive();
            }
            loop.answered(clock::now());
            part.pass(loop.messages_answered());
            tell(config, loop.messages_answered());
        }
    }
    auto m = part.result();
    m.latencies = loop.take_latencies();
    return m;
}

measurement flow_out(plain_end& end) {
    const auto& config = end.config();
    const auto total = config.messages();
    measured_part part(config.warm_up(), config.count);
    struct lane {
        std::uint32_t room, number = 0;
    };
    std::vector<lane> lanes(config.queue_pairs, {config.send_depth});
    std::uint64_t posted = 0, done = 0;
    const auto fill = [&](std::size_t pair, std::uint32_t at_least) {
        auto& l = lanes[pair];
        while (l.room >= at_least && posted < total) {
            const auto n =
                static_cast<std::uint32_t>(std::min<std::uint64_t>({l.room, config.batch, total - posted}));
            if (n == 0) return;
            end.pair(pair).post(n, l.number);
            l.number += n;
            l.room -= n;
            posted += n;
        }
    };
    part.pass(0);
    for (std::size_t i = 0; i < lanes.size(); ++i) fill(i, 1);
    while (done < total) {
        ibv_wc found[batch];
        const int n = end.take(found, batch);
        for (int i = 0; i < n; ++i) {
            const auto pair = static_cast<std::size_t>(found[i].wr_id);
            part.pass(++done);
            ++lanes[pair].room;
            fill(pair, config.batch);
        }
        tell(config, done);
    }
    return part.result();
}

measurement flow_in(plain_end& end) {
    const auto& config = end.config();
    measured_part part(config.warm_up(), config.count);
    std::vector<std::uint32_t> numbers(config.queue_pairs);
    part.pass(0);
    for (std::uint64_t received = 0; received < config.messages();) {
        ibv_wc found[batch];
        const int n = end.take(found, batch);
        for (int i = 0; i < n; ++i) {
            const auto pair = static_cast<std::size_t>(found[i].wr_id & ~plain_end::of_receives);
            check_number(config, found[i], numbers[pair]++);
            end.pair(pair).post_receive();
            ++received;
        }
        part.pass(received);
        tell(config, received);
    }
    return part.result();
}

measurement stand_by(plain_end& end) {
    measurement m;
    resource_meter meter;
    meter.begin();
    end.wait_lost(std::chrono::seconds{0});
    m.use = meter.used();
    return m;
}

/// Runs the rendezvous' context beside the loop, asleep but for the end of the connection: what the loop does
/// not look at must not cost it anything.
class company {
  public:
    explicit company(asio::io_context& context)
        : busy_(context.get_executor()), thread_([&context] {
              context.restart();
              context.run();
          }) {}
    company(const company&) = delete;
    company& operator=(const company&) = delete;
    ~company() {
        busy_.reset();
        thread_.join();
    }

  private:
    asio::executor_work_guard<asio::io_context::executor_type> busy_;
    std::thread thread_;
};

bool is_passive(const pair_bench_config& config) {
    return !config.dials() && !config.is_ping_pong() && !is_received(config.operation);
}

measurement measure(plain_end& end) {
    const auto& config = end.config();
    if (is_passive(config)) return stand_by(end);
    if (config.what == measured::bandwidth) return config.dials() ? flow_out(end) : flow_in(end);
    if (config.is_paced() && config.dials()) return open_loop_calls(end);
    if (config.operation == message_operation::read) return reads_one_by_one(end);
    return config.operation == message_operation::write ? writes_there_and_back(end) : there_and_back(end);
}

/// What the other side left in our memory.
void check_bytes(plain_end& end) {
    const auto& config = end.config();
    const bool writes = config.operation == message_operation::write;
    const bool gets =
        config.is_ping_pong() || (config.dials() == (config.operation == message_operation::read));
    if (gets)
        check_pattern({end.in(), config.is_ping_pong() && writes ? config.size - 1 : config.size},
                      !config.dials());
}

} // namespace

measurement run_plain_verbs(const pair_bench_config& config) {
    asio::io_context context(1);
    plain_end end(config, context.get_executor());
    bench_meeting meeting(config);
    for (const auto& pair : end.pairs()) meeting.meet(context, pair);
    measurement result;
    {
        const company beside(context);
        const struct goodbye {
            plain_end& end;
            ~goodbye() { end.say_goodbye(); }
        } at_the_end{end};
        result = measure(end);
        // Who has something to wait for goes last.
        const bool first = config.is_ping_pong() ? !config.dials() : config.dials();
        if (!first && !is_passive(config)) end.wait_lost(longest_silence);
    }
    check_bytes(end);
    return result;
}

} // namespace rocio::tools

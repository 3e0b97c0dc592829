#include "bench/soft_bench.hpp"

#include "allocation_counter.hpp"
#include "bench/bench_end.hpp"

#include <rocio/connect/tcp_rendezvous.hpp>
#include <rocio/io/memory_region.hpp>
#include <rocio/io/queue_pair.hpp>
#include <rocio/stream/receive_server.hpp>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace rocio::tools {

namespace {

namespace asio = boost::asio;
using test::allocation_counter;
using clock = std::chrono::steady_clock;
using executor = asio::io_context::executor_type;

/// An end with memory for its messages.
struct memory_end : bench_end {
    memory_end(const std::string& name, unsigned cpu, std::size_t memory_size)
        : bench_end(name, cpu), memory(dev, memory_size) {}
    memory_region memory;
};

/// Connects two connectables over a TCP rendezvous on a free loopback port.
template <class Passive, class Active>
void connect_ends(bench_end& passive_end, Passive passive, bench_end& active_end, Active active) {
    // Without signs of life: only what belongs to messages is to be counted and timed.
    tcp_rendezvous_config rendezvous;
    rendezvous.liveness_deadline = std::chrono::milliseconds{0};
    tcp_listener_config listening;
    listening.handshake = rendezvous;
    tcp_listener listener(passive_end.thread.get_executor(), listening);
    auto accepted = listener.async_accept(asio::use_future);
    auto dialled =
        active(tcp_connector(active_end.thread.get_executor(), listener.local_endpoint(), rendezvous));
    auto taken = passive(accepted.get());
    dialled.get();
    taken.get();
    on(passive_end, [&] { listener.close(); });
}

/// Answers every message with one of the same size.
struct echo_server {
    basic_queue_pair<executor>& pair;
    registered_buffer in, out;

    struct received {
        echo_server* self;
        void operator()(const error_code& ec, const received_message&) const {
            if (ec) return;
            self->pair.async_send(self->out, [](const error_code&) {});
            self->receive();
        }
    };
    void receive() { pair.async_receive(in, received{this}); }
};

/// Sends, waits for the answer, notes the time.
struct pinger {
    basic_queue_pair<executor>& pair;
    registered_buffer in, out;
    std::uint32_t left = 0;
    std::uint32_t warm_up = 0;
    std::vector<double> samples{};
    clock::time_point begin{};
    std::promise<double> done{};
    std::optional<allocation_counter> allocations{};

    struct received {
        pinger* self;
        void operator()(const error_code& ec, const received_message&) const { self->on_answer(ec); }
    };

    void start(std::uint32_t iterations) {
        warm_up = iterations / 10;
        left = iterations + warm_up;
        samples.reserve(left);
        ping();
    }
    void ping() {
        pair.async_receive(in, received{this});
        begin = clock::now();
        pair.async_send(out, [](const error_code&) {});
    }
    void on_answer(const error_code& ec) {
        if (ec) return done.set_exception(std::make_exception_ptr(exception({ec, {}})));
        if (warm_up > 0) {
            if (--warm_up == 0) allocations.emplace(allocation_counter::scope::process);
        } else {
            samples.push_back(std::chrono::duration<double, std::micro>(clock::now() - begin).count());
        }
        if (--left > 0) return ping();
        done.set_value(static_cast<double>(allocations ? allocations->allocations() : 0));
    }
};

queue_pair_config small_pair() {
    queue_pair_config c;
    c.send_depth = 64;
    c.receive_depth = 64;
    return c;
}

/// Keeps a window of frames on their way until told to stop.
struct flood {
    basic_queue_pair<executor>& pair;
    registered_buffer buffer;
    std::atomic<bool> stop{false};
    std::uint32_t outstanding = 0;
    std::promise<void> done{};

    struct sent {
        flood* self;
        void operator()(const error_code& ec) const { self->on_sent(ec); }
    };

    void start(std::uint32_t window) {
        for (std::uint32_t i = 0; i < window; ++i) send();
    }
    void send() {
        ++outstanding;
        pair.async_send_with_immediate(buffer, 1, sent{this});
    }
    void on_sent(const error_code& ec) {
        --outstanding;
        if (!ec && !stop.load(std::memory_order_relaxed)) return send();
        if (outstanding == 0) done.set_value();
    }
};

/// Takes frames and gives them back at once.
struct drain {
    basic_receive_view<executor>& view;
    std::uint64_t bytes = 0;

    struct taken {
        drain* self;
        void operator()(const error_code& ec, frame f) const {
            if (ec) return;
            self->bytes += f.size();
            f.release();
            self->take();
        }
    };
    void take() { view.async_receive(taken{this}); }
};

} // namespace

round_trip_result soft_round_trip(const std::string& first, const std::string& second, std::uint32_t bytes,
                                  std::uint32_t iterations, const bench_cpus& cpus) {
    memory_end near(first, cpus.first, 2 * std::size_t{bytes});
    memory_end far(second, cpus.second, 2 * std::size_t{bytes});
    auto server = on(far, [&] {
        return std::make_unique<basic_queue_pair<executor>>(far.thread.context(), far.dev, small_pair());
    });
    auto client = on(near, [&] {
        return std::make_unique<basic_queue_pair<executor>>(near.thread.context(), near.dev, small_pair());
    });
    echo_server echo{*server, far.memory.buffer(0, bytes), far.memory.buffer(bytes, bytes)};
    on(far, [&] { echo.receive(); });
    connect_ends(
        far, [&](tcp_peer peer) { return async_connect(*server, std::move(peer), asio::use_future); }, near,
        [&](tcp_connector how) { return async_connect(*client, std::move(how), asio::use_future); });
    pinger ping{*client, near.memory.buffer(0, bytes), near.memory.buffer(bytes, bytes)};
    auto finished = ping.done.get_future();
    on(near, [&] { ping.start(iterations); });
    const auto allocations = finished.get();
    on(near, [&] { client.reset(); });
    on(far, [&] { server.reset(); });
    return round_trips(ping.samples, allocations / iterations);
}

stream_result soft_stream(const std::string& first, const std::string& second, std::uint32_t bytes,
                          std::chrono::milliseconds duration, const bench_cpus& cpus) {
    memory_end near(first, cpus.first, bytes);
    memory_end far(second, cpus.second, bytes);
    receive_server_config config;
    config.device = far.dev;
    config.max_payload = bytes;
    basic_receive_server<executor> server(far.thread.context(), config);
    auto view = server.all();
    auto client = on(near, [&] {
        return std::make_unique<basic_queue_pair<executor>>(near.thread.context(), near.dev, small_pair());
    });
    connect_ends(
        far, [&](tcp_peer peer) { return server.async_connect(std::move(peer), asio::use_future); }, near,
        [&](tcp_connector how) { return async_connect(*client, std::move(how), asio::use_future); });
    drain taker{view};
    flood sender{*client, near.memory.buffer(0, bytes)};
    auto finished = sender.done.get_future();
    on(far, [&] { taker.take(); });
    on(near, [&] { sender.start(48); });
    std::this_thread::sleep_for(duration / 10); // warm-up
    const auto before = on(far, [&] { return taker.bytes; });
    const allocation_counter allocations(allocation_counter::scope::process);
    const auto begin = clock::now();
    std::this_thread::sleep_for(duration);
    const auto allocated = allocations.allocations();
    const auto after = on(far, [&] { return taker.bytes; });
    const auto seconds = std::chrono::duration<double>(clock::now() - begin).count();
    sender.stop = true;
    finished.wait();
    on(near, [&] { client.reset(); });
    server.stop();
    const auto received = static_cast<double>(after - before);
    return {received / seconds, 0, static_cast<double>(allocated) / (received / bytes)};
}

} // namespace rocio::tools

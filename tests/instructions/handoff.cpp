// What the hand-off of a frame to a second thread costs: leases that a consumer thread releases, each receive
// re-posted only afterwards, against a loop with one flag per slot. Timed, so it reports and judges nothing.

#include "instant_device.hpp"

#include <rocio/stream/receive_server.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <thread>
#include <vector>

#include <pthread.h>
#include <unistd.h>

namespace rocio::test {
namespace {

using bench_clock = std::chrono::steady_clock;
using typed_server = basic_receive_server<asio::io_context::executor_type>;

constexpr std::uint32_t depth = 256;
constexpr std::uint32_t slot_size = 64;
constexpr std::size_t most = 64; // frames of a batch

void pin_to(unsigned cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu % std::max(1U, std::thread::hardware_concurrency()), &set);
    (void)::pthread_setaffinity_np(::pthread_self(), sizeof(set), &set);
}

double per_message(bench_clock::time_point since, std::uint64_t messages) {
    const std::chrono::duration<double, std::nano> spent = bench_clock::now() - since;
    return spent.count() / static_cast<double>(messages);
}

/// One writer, one reader.
class batch_queue {
  public:
    bool push(frame_batch batch) {
        const auto head = head_.load(std::memory_order_relaxed);
        // The reader's line is fetched when there seems to be no room only.
        if (head - tail_seen_ == places) tail_seen_ = tail_.load(std::memory_order_acquire);
        if (head - tail_seen_ == places) return false;
        ring_[head % places] = std::move(batch);
        head_.store(head + 1, std::memory_order_release);
        return true;
    }
    /// Releases all that are there.
    void release_all() {
        auto tail = tail_.load(std::memory_order_relaxed);
        const auto head = head_.load(std::memory_order_acquire);
        if (tail == head) return;
        for (; tail != head; ++tail) ring_[tail % places].release();
        tail_.store(tail, std::memory_order_release);
    }

  private:
    static constexpr std::size_t places = depth;

    std::array<frame_batch, places> ring_;
    alignas(64) std::atomic<std::size_t> head_{0};
    alignas(64) std::size_t tail_seen_ = 0; ///< The writer's.
    alignas(64) std::atomic<std::size_t> tail_{0};
};

/// Hands batches of frames to another thread.
class frame_sender {
  public:
    frame_sender(typed_server& server, batch_queue& queue, std::uint64_t messages) noexcept
        : server_(server), queue_(queue), left_(messages) {}
    void start() {
        server_.async_receive_batch(most, [this](error_code ec, frame_batch batch) {
            if (ec) return;
            left_ -= std::min<std::uint64_t>(batch.size(), left_);
            // At most as many are out as there are slots, so there is room.
            (void)queue_.push(std::move(batch));
            if (left_ > 0) start();
        });
    }
    bool done() const noexcept { return left_ == 0; }

  private:
    typed_server& server_;
    batch_queue& queue_;
    std::uint64_t left_;
};

double rocio_round(std::uint64_t messages) {
    const auto dev = std::make_shared<instant::device>();
    asio::io_context context;
    completion_engine::of(context).set_policy(polling_policy::spin());
    receive_server_config config;
    config.device = dev;
    config.max_payload = slot_size;
    config.rx_queue_depth = depth;
    typed_server server(context, config);
    local_parameters ours;
    peer_parameters theirs;
    theirs.address = gid::parse("10.0.0.2").value();
    theirs.queue_pair = qpn{1};
    throw_if(server.core()->prepare(ours));
    throw_if(server.core()->establish(theirs));
    server.core()->connected(nullptr);
    batch_queue queue;
    frame_sender sender(server, queue, messages);
    std::atomic<bool> stop{false};
    std::thread consumer([&] {
        pin_to(1);
        while (!stop.load(std::memory_order_relaxed)) queue.release_all();
    });
    pin_to(0);
    sender.start();
    const auto since = bench_clock::now();
    while (!sender.done()) context.run_one();
    const auto result = per_message(since, messages);
    stop = true;
    consumer.join();
    queue.release_all();
    return result;
}

/// A receive loop with one 64-bit flag per slot, eight to a cache line; the consumer clears the flags. It
/// posts a receive again without waiting for the consumer, as the loop it stands for does, but does not
/// overtake it.
double flag_round(std::uint64_t messages) {
    instant::device dev;
    std::unique_ptr<device_completion_queue> completions;
    std::unique_ptr<device_queue_pair> pair;
    std::vector<std::byte> memory(std::size_t{depth} * slot_size);
    std::vector<receive_request> requests(depth);
    std::vector<std::uint64_t> flags(depth);
    (void)dev.create_completion_queue(depth, completions);
    device_queue_pair_config config;
    config.completions = completions.get();
    (void)dev.create_queue_pair(config, pair);
    for (std::uint32_t slot = 0; slot < depth; ++slot)
        requests[slot] = {{0, 0, slot}, {memory.data() + std::size_t{slot} * slot_size, slot_size, {1}}};
    (void)pair->post_receive(requests);
    std::thread consumer([&] {
        pin_to(1);
        for (std::uint64_t i = 0; i < messages; ++i) {
            std::atomic_ref flag(flags[i % depth]);
            while (flag.load(std::memory_order_acquire) == 0) {
            }
            flag.store(0, std::memory_order_release);
        }
    });
    pin_to(0);
    work_completion found;
    errc error{};
    const auto since = bench_clock::now();
    for (std::uint64_t done = 0; done < messages;) {
        if (completions->poll({&found, 1}, error) == 0) continue;
        const auto slot = found.id.slot;
        std::atomic_ref flag(flags[slot]);
        while (flag.load(std::memory_order_acquire) != 0) {
        }
        flag.store(reinterpret_cast<std::uintptr_t>(requests[slot].buffer.data), std::memory_order_release);
        (void)pair->post_receive({&requests[slot], 1});
        ++done;
    }
    consumer.join();
    return per_message(since, messages);
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

void run(int rounds, std::uint64_t messages) {
    std::vector<double> ours, flags, ratios;
    for (int i = 0; i < rounds; ++i) {
        ours.push_back(rocio_round(messages));
        flags.push_back(flag_round(messages));
        ratios.push_back(ours.back() / flags.back());
        if (::isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\rround %d of %d", i + 1, rounds);
    }
    if (::isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\r\033[K");
    std::printf("%.1f ns per frame with leases, %.1f ns with flags, medians of %d rounds of %llu frames\n",
                median(ours), median(flags), rounds, static_cast<unsigned long long>(messages));
    std::printf("{\"lease_ns\": %.2f, \"flag_ns\": %.2f, \"ratio\": %.3f}\n", median(ours), median(flags),
                median(ratios));
}

} // namespace
} // namespace rocio::test

int main(int argc, char** argv) {
    int rounds = 11;
    std::uint64_t messages = 1'000'000;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (word == "--help" || word == "-h") {
            std::puts(
                "usage: handoff_bench [--rounds N] [--frames N]\n\n"
                "Nanoseconds per frame handed to a second thread: leases, re-posted after their release,\n"
                "and a loop with one flag per slot, in turns. The last line is one JSON object.");
            return 0;
        }
        const auto value = i + 1 < argc ? std::strtoull(argv[i + 1], nullptr, 10) : 0;
        if (value == 0 || (word != "--rounds" && word != "--frames")) {
            std::fprintf(stderr, "handoff_bench: %s: give --rounds N or --frames N; see --help\n", argv[i]);
            return 2;
        }
        if (word == "--rounds") rounds = static_cast<int>(std::min<unsigned long long>(value, 1000));
        if (word == "--frames") messages = value;
        ++i;
    }
    try {
        rocio::test::run(rounds, messages);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "handoff_bench: %s\n", e.what());
        return 1;
    }
    return 0;
}

#include "bench/scale_bench.hpp"

#include "bench/measured_part.hpp"
#include "bench/pair_bench.hpp"
#include "bench/scale_node.hpp"

#include <rocio/io/queue_pair.hpp>

#include <algorithm>
#include <future>
#include <optional>

#include <malloc.h>

namespace rocio::tools {

namespace {

constexpr std::uint32_t burst = 16;
constexpr std::uint32_t window = 2 * burst;
constexpr std::uint32_t receives = 3 * burst;

double heap_bytes() {
#if defined(__GLIBC__)
    const auto info = ::mallinfo2();
    return static_cast<double>(info.uordblks + info.hblkhd);
#else
    return 0;
#endif
}

queue_pair_config pair_config() {
    queue_pair_config c;
    c.send_depth = window;
    c.receive_depth = receives;
    c.max_inline = 0;
    return c;
}

/// Keeps the receive queues of a node full and counts. All members on its thread.
class scale_receiver {
  public:
    scale_receiver(scale_node& node, std::uint64_t total) : node_(node), total_(total) {}

    void start() {
        for (std::uint32_t pair = 0; pair < node_.pairs.size(); ++pair)
            for (std::uint32_t i = 0; i < receives; ++i) receive(pair);
    }
    std::future<void> finished() { return done_.get_future(); }

  private:
    struct received {
        scale_receiver* self;
        std::uint32_t pair;
        void operator()(const error_code& ec, const received_message&) const { self->on_received(ec, pair); }
    };
    void receive(std::uint32_t pair) {
        node_.pairs[pair].async_receive(node_.memories[node_.devices_of_pairs[pair]]->buffer(),
                                        received{this, pair});
    }
    void on_received(const error_code& ec, std::uint32_t pair) {
        if (received_ == total_) return;
        if (ec) {
            received_ = total_;
            return done_.set_exception(std::make_exception_ptr(exception({ec, {}})));
        }
        receive(pair);
        if (++received_ == total_) done_.set_value();
    }

    scale_node& node_;
    const std::uint64_t total_;
    std::uint64_t received_ = 0;
    std::promise<void> done_{};
};

/// All members on the node's thread.
class scale_sender {
  public:
    scale_sender(scale_node& node, const scale_config& config)
        : node_(node),
          total_(config.count / 10 + config.count),
          part_(config.count / 10, config.count),
          out_(node.memories.front()->buffer()) {}

    void start() {
        part_.pass(0);
        for (std::uint32_t i = 0; i < window && sent_ < total_; ++i) send();
    }
    std::future<measurement> finished() { return done_.get_future(); }

  private:
    struct sent {
        scale_sender* self;
        void operator()(const error_code& ec) const { self->on_sent(ec); }
    };
    void send() {
        const auto pair = (sent_++ / burst) % node_.pairs.size();
        node_.pairs[pair].async_send(out_, sent{this});
    }
    /// The next burst leaves when there is room for all of it.
    void on_sent(const error_code& ec) {
        if (failed_) return;
        if (ec) {
            failed_ = true;
            return done_.set_exception(std::make_exception_ptr(exception({ec, {}})));
        }
        part_.pass(++acknowledged_);
        if (acknowledged_ == total_) return done_.set_value(part_.result());
        if (sent_ - acknowledged_ > window - burst) return;
        for (std::uint32_t i = 0; i < burst && sent_ < total_; ++i) send();
    }

    scale_node& node_;
    const std::uint64_t total_;
    measured_part part_;
    const registered_buffer out_;
    std::uint64_t sent_ = 0, acknowledged_ = 0;
    bool failed_ = false;
    std::promise<measurement> done_{};
};

/// One sending context and the receiving one of its peers.
class scale_lane {
  public:
    scale_lane(const scale_point& point, const scale_config& config, std::uint32_t index)
        : config_(config),
          near_(near_devices(config, index), thread_config(config, config.cpus.first), config.size),
          far_(far_devices(point, config, index), thread_config(config, config.cpus.second), config.size),
          pairs_(std::max(1U, point.queue_pairs / point.contexts)) {
        fill_pattern(near_.memories.front()->bytes().first(config.size), true);
    }
    scale_lane(const scale_lane&) = delete;
    scale_lane& operator=(const scale_lane&) = delete;

    std::uint32_t pairs() const noexcept { return pairs_; }

    void connect() {
        const auto config = pair_config();
        receiver_.emplace(far_, config_.count / 10 + config_.count);
        sender_.emplace(near_, config_);
        std::vector<local_parameters> ours, theirs;
        on(near_, [&] {
            near_.pairs.reserve(pairs_);
            for (std::uint32_t i = 0; i < pairs_; ++i) ours.push_back(near_.add_pair(0, config));
        });
        on(far_, [&] {
            far_.pairs.reserve(pairs_);
            for (std::uint32_t i = 0; i < pairs_; ++i)
                theirs.push_back(far_.add_pair(i % far_.devs.size(), config));
            for (std::uint32_t i = 0; i < pairs_; ++i) far_.connect_pair(i, ours[i]);
            receiver_->start();
        });
        on(near_, [&] {
            for (std::uint32_t i = 0; i < pairs_; ++i) near_.connect_pair(i, theirs[i]);
        });
    }
    void begin() {
        all_sent_ = sender_->finished();
        all_received_ = receiver_->finished();
        on(far_, [this] { far_meter_.begin(); });
        on(near_, [this] { sender_->start(); });
    }
    measurement finish() {
        auto m = all_sent_.get();
        all_received_.get();
        const auto far_cpu = on(far_, [this] { return far_meter_.used().cpu_seconds; });
        m.use.cpu_seconds += far_cpu * 10 / 11; // with the warm-up
        // A device whose turn never came was not written to.
        const auto bursts = (config_.count / 10 + config_.count + burst - 1) / burst;
        const auto reached = std::min<std::uint64_t>({far_.devs.size(), far_.pairs.size(), bursts});
        for (std::size_t i = 0; i < reached; ++i)
            check_pattern(far_.memories[i]->bytes().first(config_.size), true);
        return m;
    }

  private:
    static busy_poll_thread_config thread_config(const scale_config& config, unsigned cpu) {
        busy_poll_thread_config c;
        c.cpu = cpu;
        c.policy = config.poll;
        return c;
    }
    static std::string device_name(const scale_config& config, std::uint32_t lane, std::uint32_t host) {
        return "soft:" + config.network + "." + std::to_string(lane) + "." + std::to_string(host);
    }
    static std::vector<std::string> near_devices(const scale_config& config, std::uint32_t lane) {
        return {device_name(config, lane, 1)};
    }
    static std::vector<std::string> far_devices(const scale_point& point, const scale_config& config,
                                                std::uint32_t lane) {
        std::vector<std::string> names;
        const auto peers = std::max(1U, point.peers / point.contexts);
        names.reserve(peers);
        for (std::uint32_t i = 0; i < peers; ++i) names.push_back(device_name(config, lane, 2 + i));
        return names;
    }

    const scale_config& config_;
    // The nodes' queue pairs end before what their handlers are.
    std::optional<scale_receiver> receiver_{};
    std::optional<scale_sender> sender_{};
    resource_meter far_meter_{};
    scale_node near_, far_;
    const std::uint32_t pairs_;
    std::future<measurement> all_sent_{};
    std::future<void> all_received_{};
};

} // namespace

scale_result run_scale(const scale_point& point, const scale_config& config) {
    std::vector<std::unique_ptr<scale_lane>> lanes;
    lanes.reserve(point.contexts);
    for (std::uint32_t i = 0; i < point.contexts; ++i)
        lanes.push_back(std::make_unique<scale_lane>(point, config, i));
    const auto heap = heap_bytes();
    for (auto& lane : lanes) lane->connect();
    const auto pair_bytes = heap_bytes() - heap;
    for (auto& lane : lanes) lane->begin();
    double rate = 0, cpu = 0, allocations = 0, pairs = 0;
    for (auto& lane : lanes) {
        const auto m = lane->finish();
        rate += m.rate();
        cpu += m.cpu_us_per_message() / point.contexts;
        allocations = std::max(allocations, m.allocations_per_message());
        pairs += 2.0 * lane->pairs();
    }
    return {1e9 / rate, cpu, std::max(0.0, pair_bytes / pairs), allocations};
}

std::vector<std::vector<scale_point>> scale_points() {
    return {{{1, 1, 1}, {16, 1, 1}, {256, 1, 1}, {1024, 1, 1}},
            {{64, 1, 1}, {64, 4, 1}, {64, 16, 1}, {64, 64, 1}},
            {{64, 4, 1}, {64, 4, 2}, {64, 4, 4}}};
}

scale_result middle_of(const std::vector<scale_result>& rounds) {
    const auto middle = [&](double scale_result::*member) {
        std::vector<double> values;
        values.reserve(rounds.size());
        for (const auto& r : rounds) values.push_back(r.*member);
        return median(std::move(values));
    };
    return {middle(&scale_result::nanoseconds_per_message), middle(&scale_result::cpu_us_per_message),
            middle(&scale_result::bytes_per_queue_pair), middle(&scale_result::allocations_per_message)};
}

} // namespace rocio::tools

#include "bench/rpc_bench.hpp"

#include "bench/bench_end.hpp"
#include "bench/measured_part.hpp"

#include <rocio/ring/ring_transceiver.hpp>
#include <rocio/rpc/client.hpp>
#include <rocio/rpc/dispatcher.hpp>
#include <rocio/rpc/request_header.hpp>

#include <array>
#include <fstream>
#include <future>
#include <memory>
#include <optional>
#include <vector>

#include <unistd.h>

namespace rocio::tools {

namespace {

namespace asio = boost::asio;
using clock = std::chrono::steady_clock;
using executor = asio::io_context::executor_type;
using transceiver = basic_ring_transceiver<executor>;
using client_type = rpc::client<transceiver, executor>;
using payload = std::array<std::uint8_t, rpc_message - rpc::request_header::size>;
using echo = payload(payload);

ring_config ring_on(const bench_end& end, ring_tx_mode mode) {
    ring_config c;
    c.device = end.dev;
    c.tx_mode = mode;
    return c;
}

std::int64_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::int64_t all = 0, resident = 0;
    file >> all >> resident;
    return resident * ::sysconf(_SC_PAGESIZE);
}

/// Answers what comes, in unified mode: receives, calls and sends by turns on the end's thread, whose engine
/// rests meanwhile.
class service {
  public:
    explicit service(bench_end& end)
        : context_(1), ring_(context_, unified_on(end)), dispatcher_(functions()) {
        ring_.setup();
    }
    transceiver& ring() noexcept { return ring_; }
    /// Until stop(), from any thread.
    void run() {
        std::uint32_t slot = 0;
        while (!stopping_.load(std::memory_order_relaxed)) {
            if (!ring_.rx_poll(slot)) continue;
            const auto result = dispatcher_.dispatch(ring_.rx_slot(slot), ring_.tx_slot(slot));
            if (result.answered()) ring_.tx_publish(slot, result.length);
        }
    }
    void stop() noexcept { stopping_ = true; }

  private:
    static ring_config unified_on(const bench_end& end) {
        auto c = ring_on(end, ring_tx_mode::send);
        c.mode = ring_mode::unified;
        return c;
    }
    static rpc::function_table functions() {
        rpc::function_table f;
        f.add<echo>("echo", [](const payload& bytes) { return bytes; });
        return f;
    }

    asio::io_context context_; // the device is its own, not the thread's
    transceiver ring_;
    rpc::dispatcher dispatcher_;
    std::atomic<bool> stopping_{false};
};

/// Calls, waits for the answer, notes the time. All members on the end's thread.
class caller {
  public:
    explicit caller(bench_end& end)
        : ring_(end.thread.context(), ring_on(end, ring_tx_mode::write_with_immediate)),
          client_(ring_.get_executor(), ring_) {
        ring_.setup();
    }
    transceiver& ring() noexcept { return ring_; }

    /// The future gives the result when all calls are done.
    std::future<measurement> start(std::uint64_t iterations, std::atomic<std::uint64_t>& progress) {
        progress_ = &progress;
        warm_up_ = iterations / 10;
        total_ = warm_up_ + iterations;
        samples_.assign(iterations, 0.0); // also touches the memory, so that it does not count as growth
        part_.emplace(warm_up_, iterations);
        wait();
        if (warm_up_ == 0) end_warm_up();
        call();
        return done_.get_future();
    }

  private:
    struct woken {
        caller* self;
        void operator()(const error_code& ec) const {
            if (ec) return;
            self->client_.poll();
            self->wait();
        }
    };
    struct answered {
        caller* self;
        void operator()(const error_code& ec, const payload& bytes) const { self->on_answer(ec, bytes); }
    };

    void wait() { ring_.async_wait(woken{this}); }
    void call() {
        ++asked_[0];
        begin_ = clock::now();
        client_.async_call<echo>(rpc::function_id("echo"), asked_, answered{this});
    }
    void on_answer(const error_code& ec, const payload& bytes) {
        const auto took = std::chrono::duration<double, std::micro>(clock::now() - begin_).count();
        if (ec && ec != rpc::errc::deadline_exceeded) return fail({ec, {}});
        if (!ec && bytes != asked_) return fail({errc::bad_response, "an answer to another call"});
        const bool counts = calls_ >= warm_up_;
        if (ec && counts) ++lost_;
        if (!ec && counts) samples_[measured_++] = took;
        if (++calls_ == warm_up_) return end_warm_up(), call();
        part_->pass(calls_);
        progress_->store(calls_, std::memory_order_relaxed);
        calls_ < total_ ? call() : finish();
    }
    void end_warm_up() {
        resident_ = resident_bytes();
        part_->pass(calls_);
    }
    void finish() {
        auto m = part_->result();
        m.memory_growth = resident_bytes() - resident_;
        samples_.resize(measured_);
        m.latencies = std::move(samples_);
        m.lost = lost_;
        done_.set_value(std::move(m));
    }
    void fail(const error_info& why) { done_.set_exception(std::make_exception_ptr(exception(why))); }

    transceiver ring_;
    client_type client_;
    payload asked_{};
    clock::time_point begin_{};
    std::uint64_t warm_up_ = 0, total_ = 0, calls_ = 0, measured_ = 0, lost_ = 0;
    std::vector<double> samples_{};
    std::optional<measured_part> part_{};
    std::int64_t resident_ = 0;
    std::atomic<std::uint64_t>* progress_ = nullptr;
    std::promise<measurement> done_{};
};

peer_parameters as_peer(const local_parameters& local) {
    peer_parameters p;
    static_cast<endpoint_parameters&>(p) = local;
    return p;
}

} // namespace

namespace {

/// The service runs on its thread from construction to destruction.
class running_service {
  public:
    running_service(bench_end& end, service& what)
        : service_(what), over_(asio::post(end.thread.context(), asio::use_future([this] {
                                               resource_meter used;
                                               used.begin();
                                               service_.run();
                                               return used.used().cpu_seconds;
                                           }))) {}
    running_service(const running_service&) = delete;
    running_service& operator=(const running_service&) = delete;
    ~running_service() {
        if (!over_.valid()) return;
        service_.stop();
        over_.wait();
    }
    double stop() {
        service_.stop();
        return over_.get();
    }

  private:
    service& service_;
    std::future<double> over_;
};

} // namespace

measurement rpc_round_trips(const std::string& first, const std::string& second, std::uint64_t iterations,
                            const bench_cpus& cpus, std::atomic<std::uint64_t>& progress) {
    bench_end near(first, cpus.first), far(second, cpus.second);
    auto serving = on(far, [&] { return std::make_unique<service>(far); });
    auto calling = on(near, [&] { return std::make_unique<caller>(near); });
    const auto service_side = as_peer(serving->ring().local()),
               caller_side = as_peer(calling->ring().local());
    serving->ring().connect(caller_side);
    running_service running(far, *serving);
    auto finished = on(near, [&] {
        calling->ring().connect(service_side);
        return std::make_shared<std::future<measurement>>(calling->start(iterations, progress));
    });
    auto result = finished->get();
    const auto service_cpu = running.stop();
    // The service cannot tell the warm-up from the rest.
    const std::uint64_t all = iterations + iterations / 10;
    const auto measured_share = static_cast<double>(iterations) / static_cast<double>(all);
    result.use.cpu_seconds += service_cpu * measured_share;
    on(near, [&] { calling.reset(); });
    on(far, [&] { serving.reset(); });
    return result;
}

} // namespace rocio::tools

#include "hsb/sensor_emulator.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <exception>

namespace rocio::tools {

namespace {

namespace asio = boost::asio;
using std::chrono::steady_clock;

/// How often the end of the run is looked for.
constexpr std::chrono::milliseconds look{20};
/// A host that is silent for so long after it has switched all streams off is done.
constexpr std::chrono::milliseconds quiet{300};

std::vector<std::unique_ptr<sensor_stream>> make_streams(asio::io_context& context,
                                                         const sensor_emulator_config& config) {
    std::vector<std::unique_ptr<sensor_stream>> streams;
    for (std::uint32_t i = 0; i < config.board.virtual_ports; ++i)
        streams.push_back(std::make_unique<sensor_stream>(context, config.stream));
    return streams;
}

} // namespace

void sensor_emulator::port::start(std::uint32_t virtual_port, const fpga::hsb_sensor_target& target) {
    emulator_.streams_[virtual_port]->start(target);
}

void sensor_emulator::port::stop(std::uint32_t virtual_port) {
    emulator_.streams_[virtual_port]->stop();
    emulator_.wake_.cancel();
}

void sensor_emulator::port::reset() {
    for (auto& s : emulator_.streams_) s->reset();
}

std::uint32_t sensor_emulator::port::psn(std::uint32_t virtual_port) const {
    return emulator_.streams_[virtual_port]->psn();
}

sensor_emulator::sensor_emulator(asio::io_context& context, const sensor_emulator_config& config)
    : context_(context),
      config_(config),
      streams_(make_streams(context, config)),
      port_(*this),
      board_(port_, config.board),
      server_(context.get_executor(), config.control, board_),
      wake_(context) {
    if (!config.announce_to) return;
    const auto local = server_.local_endpoint().address();
    fpga::hsb_announcer_config a;
    a.from = {local, config.announce_from_port};
    a.to = *config.announce_to;
    a.interval = config.announce_interval;
    announcer_.emplace(
        context.get_executor(),
        board_.announcement(local.is_v4() ? local.to_v4().to_bytes() : std::array<std::uint8_t, 4>{}), a);
}

void sensor_emulator::stop() {
    stopping_ = true;
    wake_.cancel();
}

bool sensor_emulator::all_sent() const noexcept {
    return std::ranges::any_of(streams_, [](const auto& s) { return s->all_sent(); }) &&
           std::ranges::none_of(streams_, [](const auto& s) { return s->is_on() && !s->all_sent(); });
}

/// Its host may still be clearing registers when the streams are off already.
bool sensor_emulator::is_released() const {
    return std::ranges::none_of(streams_, [](const auto& s) { return s->is_on(); }) &&
           steady_clock::now() - server_.last_request() > quiet;
}

asio::awaitable<void> sensor_emulator::wait(steady_clock::time_point until) {
    wake_.expires_at(until);
    error_code ignored;
    co_await wake_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

asio::awaitable<void> sensor_emulator::run() {
    for (auto& s : streams_) {
        ++running_;
        asio::co_spawn(context_, s->run(), [this](const std::exception_ptr& e) {
            --running_;
            wake_.cancel();
            if (e) std::rethrow_exception(e);
        });
    }
    std::optional<steady_clock::time_point> limit;
    while (!stopping_) {
        if (all_sent() && !limit) limit = steady_clock::now() + config_.linger;
        if (limit && (is_released() || steady_clock::now() >= *limit)) break;
        co_await wait(steady_clock::now() + look);
    }
    if (announcer_) announcer_->stop();
    server_.stop();
    for (auto& s : streams_) s->end();
    while (running_ > 0) co_await wait(steady_clock::now() + look);
}

sensor_stream_counts sensor_emulator::counts() const {
    sensor_stream_counts sum;
    for (const auto& s : streams_) {
        const auto& c = s->counts();
        sum.frames += c.frames;
        sum.bytes += c.bytes;
        sum.packets += c.packets;
        sum.send_errors += c.send_errors;
        sum.starts += c.starts;
    }
    return sum;
}

std::chrono::nanoseconds sensor_emulator::elapsed() const {
    std::chrono::nanoseconds longest{0};
    for (const auto& s : streams_) longest = std::max(longest, s->elapsed());
    return longest;
}

} // namespace rocio::tools

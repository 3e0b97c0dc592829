#include "lib/frame_sender.hpp"

#include "lib/memory_log.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>

namespace rocio::tools {

namespace asio = boost::asio;
using std::chrono::steady_clock;

namespace {

constexpr auto pace_step = std::chrono::milliseconds{1};

std::shared_ptr<frame_source> source_of(const frame_sender_config& c) {
    if (c.source) return c.source;
    return std::make_shared<prbs_source>(c.payload, c.prbs_word_bytes, c.channels);
}

} // namespace

frame_sender::frame_sender(asio::io_context& context, const std::shared_ptr<device>& dev,
                           const frame_sender_config& config)
    : frame_sender(context, dev, config, basic_queue_pair<executor_type>(context, dev, pair_config(config))) {
}

queue_pair_config frame_sender::pair_config(const frame_sender_config& config) {
    auto c = config.pair;
    c.send_depth = std::max(c.send_depth, config.window);
    c.receive_depth = 1;
    return c;
}

frame_sender::frame_sender(asio::io_context& context, const std::shared_ptr<device>& dev,
                           const frame_sender_config& config, basic_queue_pair<executor_type> pair)
    : config_(config),
      pair_(std::move(pair)),
      memory_(dev, std::size_t{config.window} * config.payload, {}, config.memory),
      source_(source_of(config)),
      lengths_(config.window),
      ended_(context),
      pace_(context) {
    log_memory(context, memory_.memory());
    for (std::uint32_t slot = config_.window; slot > 0; --slot) free_slots_.push_back(slot - 1);
}

asio::awaitable<error_info> frame_sender::run(any_handshake how) {
    error_code ec;
    co_await async_connect(pair_, std::move(how), asio::redirect_error(asio::use_awaitable, ec));
    if (ec) co_return error_info{ec, pair_.last_error().message()};
    connected_ = true;
    ever_connected_ = true;
    source_->on_ready([this] { start_due_frames(); });
    started_ = steady_clock::now();
    watching_ = true;
    pair_.async_wait_closed([this](const error_code& reason) {
        watching_ = false;
        connected_ = false;
        if (!failure_ && !all_sent()) failure_ = {reason, pair_.last_error().message()};
        ended_.cancel();
    });
    send_frames();
    while (connected_ && !all_sent()) co_await next_change();
    pace_.cancel();
    source_->on_ready({});
    pair_.close();
    // Every handler holds `this`: none may be left behind.
    while (watching_ || pacing_ || free_slots_.size() != config_.window) co_await next_change();
    co_return failure_;
}

asio::awaitable<void> frame_sender::next_change() {
    error_code ignored;
    ended_.expires_at(steady_clock::time_point::max());
    co_await ended_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

void frame_sender::stop() {
    stopping_ = true;
    if (all_sent()) ended_.cancel();
}

void frame_sender::abandon() {
    stopping_ = true;
    pair_.close();
    ended_.cancel();
}

void frame_sender::pause(bool paused) {
    paused_ = paused;
    if (!paused) start_due_frames();
}

device_queue_pair_counters frame_sender::counters() const {
    device_queue_pair_counters c;
    (void)pair_.counters(c);
    return c;
}

bool frame_sender::all_sent() const {
    const bool last = stopping_ || (config_.count && next_frame_ >= *config_.count) || source_->ended();
    return last && free_slots_.size() == config_.window;
}

/// How many frames may have been started by now: an open loop, so that a stall is made up for.
std::uint64_t frame_sender::allowed_now() const {
    const auto most = config_.count.value_or(UINT64_MAX);
    if (!config_.rate) return most;
    const auto elapsed = std::chrono::duration<double>(steady_clock::now() - started_).count();
    return std::min(most, static_cast<std::uint64_t>(elapsed * *config_.rate) + 1);
}

void frame_sender::send_frames() {
    start_due_frames();
    if (!config_.rate || stopping_ || !connected_) return;
    pacing_ = true;
    pace_.expires_after(pace_step);
    pace_.async_wait([this](const error_code& ec) {
        pacing_ = false;
        if (!ec) send_frames();
        if (!pacing_) ended_.cancel(); // which may wait for this handler
    });
}

void frame_sender::start_due_frames() {
    const auto allowed = allowed_now();
    while (connected_ && !stopping_ && !paused_ && !free_slots_.empty() && next_frame_ < allowed) {
        if (!send_one(free_slots_.back())) break;
    }
    behind_ = next_frame_ < allowed;
    // The source may have come to its end just now, with nothing on its way that would tell later.
    if (all_sent()) ended_.cancel();
}

struct frame_sender::completion {
    frame_sender* self;
    std::uint32_t slot;
    void operator()(const error_code& ec) const { self->on_sent(slot, ec); }
};

bool frame_sender::send_one(std::uint32_t slot) {
    const auto offset = std::size_t{slot} * config_.payload;
    const auto made = source_->next(memory_.buffer(offset, config_.payload).bytes());
    if (!made) return false;
    free_slots_.pop_back();
    lengths_[slot] = static_cast<std::uint32_t>(made->bytes);
    const auto immediate = counter() << 8 | made->channel;
    ++next_frame_;
    pair_.async_send_with_immediate(memory_.buffer(offset, made->bytes), immediate, completion{this, slot});
    return true;
}

std::uint32_t frame_sender::counter() const noexcept {
    if (config_.counter_period == 0) return 0;
    return static_cast<std::uint32_t>(next_frame_ % config_.counter_period);
}

void frame_sender::on_sent(std::uint32_t slot, const error_code& ec) {
    free_slots_.push_back(slot);
    if (!ec) {
        ++counts_.frames;
        counts_.bytes += lengths_[slot];
    } else if (!failure_ && ec != errc::work_request_flushed && ec != asio::error::operation_aborted) {
        failure_ = {ec, {}};
    }
    if (all_sent() || !connected_) {
        ended_.cancel();
        return;
    }
    // At a rate, frames leave in a burst at each step of the pace: one at a time as each becomes due would
    // cost a system call and an acknowledgement for each.
    if (!config_.rate || behind_) start_due_frames();
}

} // namespace rocio::tools

#include <rocio/async/io_context_of.hpp>
#include <rocio/rpc/detail/client_core.hpp>
#include <rocio/rpc/detail/client_registry.hpp>
#include <rocio/rpc/request_header.hpp>

#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <random>
#include <utility>

namespace rocio::rpc::detail {

namespace {

std::uint64_t random_id() {
    std::random_device source;
    return (std::uint64_t{source()} << 32) | source();
}

call_base::time_point deadline_of(call_base::time_point start, std::chrono::nanoseconds limit) noexcept {
    constexpr auto never = call_base::time_point::max();
    return limit >= never - start ? never : start + limit;
}

} // namespace

client_core::client_core(asio::any_io_executor home, asio::io_context& context, ring_access& ring,
                         const client_config& config)
    : context_(context),
      home_(std::move(home)),
      home_is_context_(async::is_executor_of(home_, context)),
      config_(config),
      slot_size_(ring.slot_count() > 0 ? ring.tx_slot(0).size() : 0),
      ring_(&ring),
      pending_(ring.slot_count()),
      busy_(ring.slot_count(), false),
      first_id_(config.first_id ? *config.first_id : random_id()),
      next_id_(first_id_),
      abandoned_(2 * std::size_t{ring.slot_count()} + 64, 0),
      timer_(std::in_place, home_) {}

client_core::~client_core() {
    if (enlisted_) asio::use_service<client_registry>(context_).remove(*this);
    take_all();
}

void client_core::enlist() {
    asio::use_service<client_registry>(context_).add(*this);
    enlisted_ = true;
}

void client_core::start(call_base* call, const std::optional<std::chrono::nanoseconds>& deadline) {
    std::unique_lock lock(mutex_);
    if (shut_down_) {
        lock.unlock();
        return call->destroy();
    }
    ++counters_.calls;
    if (outstanding_++ == 0) work_.emplace(context_.get_executor());
    call->started = latest_ = std::chrono::steady_clock::now();
    call->deadline = deadline_of(call->started, deadline.value_or(config_.deadline));
    if (const auto ec = refusal(*call)) {
        finish(*call, ec, ring_ ? counters_.refused : counters_.cancelled);
        return schedule_turn(lock);
    }
    enqueue(call);
    schedule_pump(lock);
}

error_code client_core::refusal(const call_base& call) const noexcept {
    if (!ring_) return asio::error::operation_aborted;
    if (slot_size_ < request_header::size || call.argument_size() > slot_size_ - request_header::size) {
        return errc::request_too_long;
    }
    if (counters_.waiting >= config_.max_waiting) return rocio::errc::queue_full;
    return {};
}

void client_core::enqueue(call_base* call) {
    if (call->deadline != time_point::max()) {
        try {
            deadlines_.insert(*call);
        } catch (const std::bad_alloc&) {
            return finish(*call, make_error_code(boost::system::errc::not_enough_memory), counters_.refused);
        }
    }
    waiting_.push(call);
    ++counters_.waiting;
}

void client_core::cancel(const void* key, asio::cancellation_type) {
    std::unique_lock lock(mutex_);
    call_base* found = waiting_.take_by_key(key);
    if (found) {
        --counters_.waiting;
    } else {
        pending_.for_each([&](call_base& call) {
            if (call.cancellation_key == key) found = &call;
        });
        if (!found) return;
        leave_flight(*found, false);
    }
    finish(*found, asio::error::operation_aborted, counters_.cancelled);
    schedule_turn(lock);
}

void client_core::cancel_all() {
    std::unique_lock lock(mutex_);
    end_all(asio::error::operation_aborted);
    if (!ready_.empty()) schedule_turn(lock);
}

void client_core::end_all(const error_code& ec) noexcept {
    while (call_base* call = waiting_.pop()) {
        --counters_.waiting;
        finish(*call, ec, counters_.cancelled);
    }
    operations in_flight;
    pending_.for_each([&in_flight](call_base& call) { in_flight.push(&call); });
    while (call_base* call = in_flight.pop()) {
        leave_flight(*call, false);
        finish(*call, ec, counters_.cancelled);
    }
}

void client_core::leave_flight(call_base& call, bool answered) noexcept {
    pending_.erase(static_cast<std::uint32_t>(call.id));
    busy_[call.tx_slot] = false;
    if (answered) return;
    abandoned_[abandoned_at_] = call.id;
    abandoned_at_ = (abandoned_at_ + 1) % abandoned_.size();
}

void client_core::finish(call_base& call, const error_code& ec, std::uint64_t& counter) noexcept {
    ++counter;
    call.fail(ec);
    make_ready(call);
}

void client_core::make_ready(call_base& call) noexcept {
    deadlines_.erase(call);
    ready_.push(&call);
}

std::optional<std::uint32_t> client_core::free_slot() {
    const auto slots = static_cast<std::uint32_t>(busy_.size());
    const std::uint32_t tries = config_.order == slot_order::sequential ? 1 : slots;
    for (std::uint32_t i = 0; i < tries; ++i) {
        const auto slot = (cursor_ + i) % slots;
        if (!busy_[slot] && ring_->tx_free(slot)) return slot;
    }
    return std::nullopt;
}

void client_core::pump() {
    std::unique_lock lock(mutex_);
    pump_scheduled_ = false;
    if (!ring_) return;
    expire();
    while (!waiting_.empty()) {
        const auto slot = free_slot();
        if (!slot) break;
        --counters_.waiting;
        send(*waiting_.pop(), *slot);
    }
    arm_timer();
    if (!ready_.empty()) schedule_turn(lock);
}

void client_core::send(call_base& call, std::uint32_t slot) {
    call.id = take_id();
    call.tx_slot = slot;
    const request_header header{.function = call.callee.value(),
                                .arg_len = static_cast<std::uint32_t>(call.argument_size()),
                                .request_id = static_cast<std::uint32_t>(call.id),
                                .timestamp = call.id};
    const auto out = ring_->tx_slot(slot);
    error_code ec = errc::request_too_long;
    if (out.size() >= request_header::size + header.arg_len && header.encode(out)) {
        call.encode_arguments(out.subspan(request_header::size, header.arg_len));
        ec = ring_->publish(slot, request_header::size + header.arg_len);
    }
    // A slot that nothing left in is the next call's: peers may wait for this very slot.
    if (ec) return finish(call, ec, counters_.refused);
    pending_.insert(header.request_id, call);
    busy_[slot] = true;
    cursor_ = static_cast<std::uint32_t>((slot + 1) % busy_.size());
}

/// Never 0, which stands for a timestamp that was not echoed, and in its low half never that of a call in
/// flight.
std::uint64_t client_core::take_id() noexcept {
    while (next_id_ == 0 || pending_.find(static_cast<std::uint32_t>(next_id_))) ++next_id_;
    return next_id_++;
}

/// As of the last time the clock was read: the timer reads it when a deadline has passed.
void client_core::expire() {
    while (!deadlines_.empty() && deadlines_.earliest().deadline <= latest_) {
        call_base& call = deadlines_.earliest();
        if (pending_.find(static_cast<std::uint32_t>(call.id)) == &call) {
            leave_flight(call, false);
        } else {
            waiting_.remove(&call);
            --counters_.waiting;
        }
        finish(call, errc::deadline_exceeded, counters_.deadline_exceeded);
    }
}

answer client_core::accept(std::span<const std::byte> response) {
    const auto header = response_header::decode(response);
    std::lock_guard lock(mutex_);
    if (!header) {
        ++counters_.not_answers;
        return answer::not_answer;
    }
    call_base* call = pending_.find(header->request_id);
    const bool unechoed = header->timestamp == 0 && !config_.strict_timestamp;
    if (!call || (header->timestamp != call->id && !unechoed)) return classify(*header);
    leave_flight(*call, true);
    settle(*call, *header, response.subspan(response_header::size));
    return answer::delivered;
}

void client_core::settle(call_base& call, const response_header& header,
                         std::span<const std::byte> results) noexcept {
    latest_ = std::chrono::steady_clock::now();
    latency_.record(latest_ - call.started);
    if (header.status != 0) {
        return finish(call, error_code(header.status, status_category()), counters_.failed);
    }
    if (header.result_len > results.size() || !call.decode_results(results.first(header.result_len))) {
        return finish(call, errc::bad_response, counters_.bad_responses);
    }
    ++counters_.succeeded;
    make_ready(call);
}

answer client_core::classify(const response_header& header) noexcept {
    // The id whose low half it echoes: the timestamp, or, where that was not echoed, the latest one sent.
    std::uint64_t id = header.timestamp;
    if (id == 0 && !config_.strict_timestamp) {
        const auto back = static_cast<std::uint32_t>(next_id_) - header.request_id;
        id = next_id_ - (back == 0 ? std::uint64_t{1} << 32 : back);
    }
    const bool issued = static_cast<std::uint32_t>(id) == header.request_id && id != 0 &&
                        id - first_id_ < next_id_ - first_id_;
    if (!issued) {
        ++counters_.foreign_answers;
        return answer::foreign;
    }
    const auto found = std::ranges::find(abandoned_, id);
    if (found == abandoned_.end()) {
        ++counters_.duplicate_answers;
        return answer::duplicate;
    }
    *found = 0; // its next answer is a duplicate
    ++counters_.late_answers;
    return answer::late;
}

void client_core::turn() {
    operations batch;
    bool pumping = false;
    {
        std::lock_guard lock(mutex_);
        turn_scheduled_ = false;
        pumping = !waiting_.empty();
        if (!pumping) batch = std::move(ready_);
    }
    if (pumping) batch = pump_and_take_ready();
    call_back(batch);
    std::lock_guard lock(mutex_);
    rest_timer();
}

client_core::operations client_core::pump_and_take_ready() {
    pump();
    std::lock_guard lock(mutex_);
    return std::move(ready_);
}

/// After each upcall, also one that throws: the call is no longer outstanding, and what is left of the batch
/// is not lost.
class client_core::upcall_guard {
  public:
    upcall_guard(client_core& core, operations& rest) noexcept : core_(core), rest_(rest) {}
    upcall_guard(const upcall_guard&) = delete;
    upcall_guard& operator=(const upcall_guard&) = delete;
    ~upcall_guard() {
        std::unique_lock lock(core_.mutex_);
        if (core_.shut_down_) return;
        if (--core_.outstanding_ == 0) core_.work_.reset();
        if (returned_ || rest_.empty()) return;
        core_.ready_.prepend(rest_);
        core_.schedule_turn(lock);
    }
    void returned() noexcept { returned_ = true; }

  private:
    client_core& core_;
    operations& rest_;
    bool returned_ = false;
};

void client_core::call_back(operations& batch) {
    while (call_base* call = batch.pop()) {
        upcall_guard guard(*this, batch);
        call->complete();
        guard.returned();
    }
}

void client_core::arm_timer() {
    if (deadlines_.empty() || !timer_) return;
    const auto earliest = deadlines_.earliest().deadline;
    if (armed_until_ && *armed_until_ <= earliest) return;
    armed_until_ = earliest;
    timer_->expires_at(earliest);
    timer_->async_wait([weak = weak_from_this()](const error_code& ec) {
        const auto self = ec ? nullptr : weak.lock();
        if (!self) return;
        {
            std::lock_guard lock(self->mutex_);
            self->armed_until_.reset();
            self->latest_ = std::chrono::steady_clock::now();
        }
        self->pump();
        self->turn();
    });
}

/// A timer that was set for a call answered since stays set while other calls follow, and is looked at when
/// it expires: setting it anew for each call would cost more than the call.
void client_core::rest_timer() {
    if (!armed_until_ || !deadlines_.empty() || !timer_) return;
    armed_until_.reset();
    timer_->cancel();
}

void client_core::schedule_pump(std::unique_lock<std::mutex>& lock) {
    if (shut_down_ || std::exchange(pump_scheduled_, true)) return;
    lock.unlock();
    auto work = [self = shared_from_this()] { self->pump(); };
    if (home_is_context_) {
        asio::dispatch(context_.get_executor(), std::move(work));
    } else {
        asio::dispatch(home_, std::move(work));
    }
}

void client_core::schedule_turn(std::unique_lock<std::mutex>& lock) {
    if (shut_down_ || std::exchange(turn_scheduled_, true)) return;
    lock.unlock();
    asio::post(home_, [self = shared_from_this()] { self->turn(); });
}

void client_core::close() {
    std::unique_lock lock(mutex_);
    if (shut_down_) return;
    ring_ = nullptr;
    end_all(asio::error::operation_aborted);
    rest_timer();
    if (!ready_.empty()) schedule_turn(lock);
}

client_core::operations client_core::take_all() noexcept {
    operations all;
    while (call_base* call = waiting_.pop()) all.push(call);
    pending_.for_each([&all](call_base& call) { all.push(&call); });
    pending_.clear();
    while (call_base* call = ready_.pop()) all.push(call);
    return all;
}

void client_core::shutdown() noexcept {
    operations destroyed_unlocked;
    {
        std::lock_guard lock(mutex_);
        shut_down_ = true;
        enlisted_ = false;
        ring_ = nullptr;
        deadlines_ = {};
        destroyed_unlocked = take_all();
        timer_.reset();
        work_.reset();
    }
}

client_snapshot client_core::snapshot() const {
    std::lock_guard lock(mutex_);
    client_snapshot s = counters_;
    s.in_flight = static_cast<std::uint32_t>(pending_.size());
    s.latency = latency_.summary();
    return s;
}

} // namespace rocio::rpc::detail

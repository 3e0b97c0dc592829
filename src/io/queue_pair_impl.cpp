#include <rocio/io/detail/queue_pair_impl.hpp>
#include <rocio/io/detail/raw_completions.hpp>

#include <boost/asio/error.hpp>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace rocio::detail {

namespace {

void set_failure(send_operation& op, const error_code& ec) {
    op.set(ec);
}
void set_failure(receive_operation& op, const error_code& ec) {
    op.set(ec, {});
}

void set_success(send_operation&, const work_completion&) {}
void set_success(receive_operation& op, const work_completion& completion) {
    op.take(completion);
}

const queue_pair_config& checked(const queue_pair_config& config) {
    throw_if(validate(config));
    return config;
}

/// The bytes of an inline send are copied when it is posted; one that is posted later needs a copy till then.
bool keep_for_later(send_operation& op, async::operation_memory& memory) noexcept {
    return op.keep_inline_data(memory);
}
bool keep_for_later(receive_operation&, async::operation_memory&) noexcept {
    return true;
}

} // namespace

bool send_operation::keep_inline_data(async::operation_memory& memory) noexcept {
    if (!request.inlined || request.inline_data.empty() || memory_) return true;
    const auto size = request.inline_data.size();
    try {
        void* copy = memory.allocate(size);
        std::memcpy(copy, request.inline_data.data(), size);
        request.inline_data = {static_cast<const std::byte*>(copy), size};
        memory_ = &memory;
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

void send_operation::drop_inline_data() noexcept {
    memory_->deallocate(const_cast<std::byte*>(request.inline_data.data()), request.inline_data.size());
}

queue_pair_impl::queue_pair_impl(completion_engine& engine, std::shared_ptr<device> dev,
                                 const queue_pair_config& config, std::shared_ptr<raw_completions> raw)
    : core_(engine, std::move(dev), checked(config)),
      usual_(!raw),
      sends_(0, config.send_depth),
      receives_(config.send_depth, config.receive_depth),
      raw_(std::move(raw)),
      drain_timer_(engine.context()) {
    auto held = engine.lock();
    throw_if(core_.open(*this));
    name_places();
    if (!raw_) return;
    if (auto e = raw_->promise(config.send_depth + config.receive_depth)) {
        core_.close();
        throw_if(e);
    }
}

queue_pair_impl::~queue_pair_impl() {
    auto held = engine().lock();
    const auto prefix = core_.prefix();
    core_.close();
    if (raw_) raw_->give_back(prefix, core_.config().send_depth + core_.config().receive_depth);
}

void queue_pair_impl::name_places() noexcept {
    sends_.name_places(core_.prefix());
    receives_.name_places(core_.prefix());
}

/// Success: the operation is the device's.
template <class Operation>
errc queue_pair_impl::post(work_queue<Operation>& queue, Operation* op) noexcept {
    auto* const place = queue.free_place();
    if (!place) [[unlikely]]
        return errc::queue_full;
    op->request.id = place->id;
    const auto outcome = device_post({&op->request, 1});
    if (outcome.accepted != 1) [[unlikely]]
        return outcome.reason == errc::success ? errc::local_operation_error : outcome.reason;
    queue.put(*place, op);
    return errc::success;
}

/// Of an operation that was not posted. "Full" is worth waiting for only if something is on the device whose
/// completion makes room; else the operation ends.
template <class Operation>
bool queue_pair_impl::end_unless_full(work_queue<Operation>& queue, Operation* op, errc reason) noexcept {
    if (reason == errc::queue_full && !queue.idle()) return false;
    refuse(op, reason);
    return true;
}

bool queue_pair_impl::is_plain(const send_operation& op) const noexcept {
    if (op.refusal != errc::success) [[unlikely]]
        return false;
    return !op.request.inlined || op.request.inline_data.size() <= core_.config().max_inline;
}

errc queue_pair_impl::check(const send_operation& op, queue_pair_state state) const noexcept {
    if (op.refusal != errc::success) return op.refusal;
    if (state != queue_pair_state::ready_to_send) return errc::invalid_state;
    return is_plain(op) ? errc::success : errc::inline_too_long;
}

errc queue_pair_impl::check(const receive_operation&, queue_pair_state) const noexcept {
    return errc::success;
}

template <class Operation>
errc queue_pair_impl::refusal(const Operation& op, queue_pair_state state) const noexcept {
    if (raw_) return errc::invalid_state;
    if (close_reason_ || state == queue_pair_state::error) return errc::work_request_flushed;
    return check(op, state);
}

template <class Operation>
void queue_pair_impl::refuse(Operation* op, const error_code& why) noexcept {
    set_failure(*op, why);
    engine().complete(op);
}

template <class Operation>
void queue_pair_impl::begin(work_queue<Operation>& queue, Operation* op) noexcept {
    const auto* pair = core_.pair_or_null();
    const auto state = pair ? pair->state() : queue_pair_state::error;
    if (const errc why = refusal(*op, state); why != errc::success) [[unlikely]]
        return refuse(op, why);
    const bool must_wait = !queue.waiting.empty() || state == queue_pair_state::reset;
    if (must_wait) return keep(queue, op);
    const auto reason = post(queue, op);
    queue.open = reason == errc::success;
    if (!queue.open && !end_unless_full(queue, op, reason)) keep(queue, op);
}

template <class Operation>
void queue_pair_impl::keep(work_queue<Operation>& queue, Operation* op) noexcept {
    if (!keep_for_later(*op, engine().memory()))
        return refuse(op, make_error_code(boost::system::errc::not_enough_memory));
    queue.open = false;
    queue.waiting.push(op);
}

template <class Operation>
inline void queue_pair_impl::start_work(work_queue<Operation>& queue, Operation* op) {
    auto& e = engine();
    if (!e.try_enter()) [[unlikely]]
        return start_contended(op);
    if (!queue.open || !is_plain(*op)) [[unlikely]]
        return start_with_care(op);
    if (const auto reason = post(queue, op); reason != errc::success) [[unlikely]]
        return start_unposted(op, reason);
    e.work_started();
    e.leave();
}

template <class Operation>
[[gnu::noinline]] void queue_pair_impl::start_contended(Operation* op) {
    (void)engine().lock().release();
    start_with_care(op);
}

/// With the engine entered, which it leaves.
template <class Operation>
[[gnu::noinline]] void queue_pair_impl::start_with_care(Operation* op) {
    auto held = engine().entered();
    if (engine().is_shut_down()) {
        held.unlock();
        return op->destroy();
    }
    engine().work_started();
    begin(queue_of(op), op);
}

/// The same for one that the device did not take.
template <class Operation>
[[gnu::noinline]] void queue_pair_impl::start_unposted(Operation* op, errc reason) {
    const auto held = engine().entered();
    engine().work_started();
    auto& queue = queue_of(op);
    if (!end_unless_full(queue, op, reason)) keep(queue, op);
}

[[gnu::flatten]] void queue_pair_impl::start(send_operation* op) {
    start_work(sends_, op);
}

[[gnu::flatten]] void queue_pair_impl::start(receive_operation* op) {
    start_work(receives_, op);
}

void queue_pair_impl::start(closed_wait_operation* op) {
    auto held = engine().lock();
    if (engine().is_shut_down()) {
        held.unlock();
        return op->destroy();
    }
    engine().work_started();
    if (!close_reason_) return closed_waits_.push(op);
    op->set(close_reason_);
    engine().complete(op);
}

template <class Operation>
[[gnu::noinline]] void queue_pair_impl::refill(work_queue<Operation>& queue) noexcept {
    while (!queue.waiting.empty() && queue.free_place()) {
        Operation* op = queue.waiting.pop();
        const auto reason = post(queue, op);
        if (reason == errc::success || end_unless_full(queue, op, reason)) continue;
        async::operation_queue<Operation> again;
        again.push(op);
        return queue.waiting.prepend(again);
    }
}

template <class Operation>
void queue_pair_impl::fail(Operation* op, const error_code& ec) noexcept {
    const bool recalled = op->cancelled && ec == errc::work_request_flushed;
    set_failure(*op, recalled ? error_code(asio::error::operation_aborted) : ec);
    engine().complete(op);
}

void queue_pair_impl::on_completion(const work_completion& completion) noexcept {
    on_completions({&completion, 1});
}

void queue_pair_impl::on_completions(std::span<const work_completion> batch) noexcept {
    const auto* at = batch.data();
    const auto* const end = at + batch.size();
    if (usual_) [[likely]]
        at = take_successes(at, end);
    if (at != end) [[unlikely]]
        on_other_completions({at, end});
}

[[gnu::noinline]] void
queue_pair_impl::on_other_completions(std::span<const work_completion> batch) noexcept {
    do {
        on_other_completion(batch.front());
        batch = batch.subspan(1);
    } while (!usual_ && !batch.empty());
    on_completions(batch);
}

/// Null: no operation of ours.
template <class Operation>
inline Operation* queue_pair_impl::succeed(work_queue<Operation>& queue,
                                           const work_completion& completion) noexcept {
    auto* op = queue.take(completion.id.slot);
    if (op) [[likely]]
        set_success(*op, completion);
    return op;
}

/// The way of nearly every completion; gives the first that is none of those. Kind and slot come from the id
/// alone: of a failed completion nothing else is defined.
[[gnu::flatten]] inline const work_completion*
queue_pair_impl::take_successes(const work_completion* at, const work_completion* end) noexcept {
    async::operation_base* first = nullptr;
    async::operation_base* last = nullptr;
    for (; at != end && at->status == errc::success; ++at) {
        const auto slot = at->id.slot;
        async::operation_base* op = nullptr;
        if (slot < receives_.first_slot())
            op = succeed(sends_, *at);
        else
            op = succeed(receives_, *at);
        if (!op) break;
        (last ? last->next : first) = op;
        last = op;
    }
    if (last) engine().complete(first, last);
    if (!sends_.waiting.empty()) [[unlikely]]
        refill(sends_);
    if (!receives_.waiting.empty()) [[unlikely]]
        refill(receives_);
    return at;
}

template <class Operation>
bool queue_pair_impl::take_completion(work_queue<Operation>& queue,
                                      const work_completion& completion) noexcept {
    auto* op = queue.take(completion.id.slot);
    if (!op) return false;
    if (completion.status != errc::success) {
        fail(op, completion.status);
    } else {
        set_success(*op, completion);
        engine().complete(op);
    }
    return true;
}

void queue_pair_impl::on_other_completion(const work_completion& completion) noexcept {
    if (raw_) {
        raw_->push(completion);
    } else {
        const bool is_send = completion.id.slot < receives_.first_slot();
        const bool known =
            is_send ? take_completion(sends_, completion) : take_completion(receives_, completion);
        if (!known) return engine().count_stale();
    }
    if (completion.status != errc::success) enter_closed(completion.status);
    if (close_reason_ && draining_ && nothing_posted()) end_drain();
}

void queue_pair_impl::on_device_event(const device_event& event) noexcept {
    const bool ours = core_.is_open() && event.queue_pair == core_.pair().number();
    switch (event.kind) {
    case device_event_kind::queue_pair_fatal:
        if (ours) enter_closed(errc::local_operation_error);
        break;
    case device_event_kind::queue_pair_access_error:
        if (ours) enter_closed(errc::remote_invalid_request);
        break;
    case device_event_kind::device_fatal:
    case device_event_kind::completion_queue_error:
        // No completion comes any more.
        enter_closed(errc::device_fatal);
        destroy_pair(errc::device_fatal);
        break;
    default:
        break;
    }
}

void queue_pair_impl::release_watch() noexcept {
    if (auto watch = std::move(watch_)) watch->release();
}

void queue_pair_impl::enter_closed(const error_code& cause) noexcept {
    if (close_reason_) {
        // A flush is never the cause, only its consequence: a cause that becomes known later is the better
        // answer.
        if (close_reason_ == errc::work_request_flushed && cause) close_reason_ = cause;
        return;
    }
    set_closed(cause ? cause : error_code(errc::peer_closed));
    if (last_error_.code != close_reason_) last_error_ = {close_reason_, {}};
    // Goodbye first: the peer must stop before our queue pair does.
    release_watch();
    complete_waits(close_reason_);
    finish_waiting(sends_, errc::work_request_flushed);
    finish_waiting(receives_, errc::work_request_flushed);
    if (!core_.is_open()) return;
    if (core_.pair().to_error()) return destroy_pair(errc::work_request_flushed);
    if (!nothing_posted()) begin_drain();
}

void queue_pair_impl::set_closed(const error_code& reason) noexcept {
    close_reason_ = reason;
    usual_ = sends_.open = receives_.open = false;
}

/// With the queue pair gone the device touches no buffer any more, so what it did not complete may end.
void queue_pair_impl::destroy_pair(const error_code& posted_end_with) noexcept {
    end_drain();
    core_.close();
    finish_posted(sends_, posted_end_with);
    finish_posted(receives_, posted_end_with);
}

void queue_pair_impl::complete_waits(const error_code& ec) noexcept {
    while (auto* op = closed_waits_.pop()) {
        op->set(ec);
        engine().complete(op);
    }
}

template <class Operation>
bool queue_pair_impl::cancel_in(work_queue<Operation>& queue, const void* key,
                                asio::cancellation_type type) noexcept {
    if (auto* op = queue.waiting.take_by_key(key)) {
        set_failure(*op, asio::error::operation_aborted);
        engine().complete(op);
        return true;
    }
    const auto has_key = [key](const auto& place) {
        return place.posted && place.posted->cancellation_key == key;
    };
    const auto places = queue.places();
    const auto it = std::find_if(places.begin(), places.end(), has_key);
    if (it == places.end()) return false;
    if ((type & asio::cancellation_type::terminal) == asio::cancellation_type::none) return true;
    it->posted->cancelled = true;
    enter_closed(asio::error::operation_aborted);
    return true;
}

void queue_pair_impl::cancel(const void* key, asio::cancellation_type type) {
    auto held = engine().lock();
    if (cancel_in(sends_, key, type) || cancel_in(receives_, key, type)) return engine().kick();
    auto* op = closed_waits_.take_by_key(key);
    if (!op) return;
    op->set(asio::error::operation_aborted);
    engine().complete(op);
}

void queue_pair_impl::cancel_waits() {
    auto held = engine().lock();
    complete_waits(asio::error::operation_aborted);
}

template <class Operation>
void queue_pair_impl::finish_posted(work_queue<Operation>& queue, const error_code& ec) noexcept {
    queue.take_each([&](Operation* op) { fail(op, ec); });
}

template <class Operation>
void queue_pair_impl::finish_waiting(work_queue<Operation>& queue, const error_code& ec) noexcept {
    while (auto* op = queue.waiting.pop()) fail(op, ec);
}

void queue_pair_impl::destroy_owner() {
    auto held = engine().lock();
    const auto aborted = error_code(asio::error::operation_aborted);
    if (!close_reason_) set_closed(aborted);
    release_watch();
    complete_waits(aborted);
    destroy_pair(aborted);
    finish_waiting(sends_, aborted);
    finish_waiting(receives_, aborted);
    if (raw_) raw_->forget(core_.prefix());
}

void queue_pair_impl::close() {
    auto held = engine().lock();
    enter_closed(asio::error::operation_aborted);
    engine().kick();
}

template <class Operation>
void queue_pair_impl::take_all(work_queue<Operation>& queue, async::operation_queue<>& pending) noexcept {
    queue.take_each([&](Operation* op) { pending.push(op); });
    while (auto* op = queue.waiting.pop()) pending.push(op);
}

void queue_pair_impl::on_shutdown(async::operation_queue<>& pending) noexcept {
    if (!close_reason_) set_closed(asio::error::operation_aborted);
    // The device must not write into buffers that the handlers own.
    core_.close();
    take_all(sends_, pending);
    take_all(receives_, pending);
    while (auto* op = closed_waits_.pop()) pending.push(op);
}

// Also called by the connection steps in queue_pair_connect.cpp.
template void queue_pair_impl::refill(work_queue<receive_operation>&) noexcept;

} // namespace rocio::detail

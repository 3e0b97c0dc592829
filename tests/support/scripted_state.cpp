#include "scripted_state.hpp"

#include <algorithm>
#include <cstring>

namespace rocio::test::script {

namespace {

bool strikes(failure& f) noexcept {
    return f.after > 0 && --f.after == 0;
}

/// ibv_poll_cq(3): of a failed completion only id, status and queue pair are defined.
work_completion failed(wr_id id, errc status, qpn number) noexcept {
    work_completion wc;
    wc.id = id;
    wc.status = status;
    wc.queue_pair = number;
    wc.op = static_cast<completion_opcode>(0xFF);
    wc.has_immediate = true;
    wc.immediate = 0xDEADBEEF;
    wc.byte_len = 0xFFFFFFFF;
    return wc;
}

completion_opcode sender_opcode(opcode op) noexcept {
    switch (op) {
    case opcode::rdma_read:
        return completion_opcode::rdma_read;
    case opcode::rdma_write:
    case opcode::rdma_write_with_immediate:
        return completion_opcode::rdma_write;
    default:
        return completion_opcode::send;
    }
}

bool needs_receive(opcode op) noexcept {
    return op != opcode::rdma_write && op != opcode::rdma_read;
}

bool has_immediate(opcode op) noexcept {
    return op == opcode::send_with_immediate || op == opcode::rdma_write_with_immediate;
}

} // namespace

errc scripted_state::enter(device_call call) noexcept {
    const auto index = static_cast<std::size_t>(call);
    ++calls[index];
    const bool one = strikes(failures[index]);
    const bool any = strikes(any_failure);
    if (one) return failures[index].error;
    return any ? any_failure.error : errc::success;
}

void scripted_state::raise_event(queue_state& queue) noexcept {
    ++queue.raised;
    ++queue.pending_events;
    if (events.fd() >= 0) events.raise();
}

void scripted_state::push(std::size_t index, const work_completion& completion) noexcept {
    auto& queue = *queues[index];
    if (queue.completions.full()) {
        violations.emplace_back("a completion queue was overrun");
        return;
    }
    queue.completions.push(completion);
    if (!queue.armed) return;
    queue.armed = event_per_completion;
    raise_event(queue);
}

void scripted_state::complete_send(pair_state& pair, errc status) noexcept {
    const auto request = pair.sends.pop().request;
    if (status != errc::success) {
        pair.state = queue_pair_state::error;
        return push(pair.queue, failed(request.id, status, pair.number));
    }
    if (!request.signalled) return;
    work_completion wc;
    wc.id = request.id;
    wc.op = sender_opcode(request.op);
    wc.queue_pair = pair.number;
    push(pair.queue, wc);
}

void scripted_state::complete_receive(pair_state& pair, errc status, std::span<const std::byte> payload,
                                      std::optional<std::uint32_t> immediate, completion_opcode op) noexcept {
    const auto request = pair.receives.pop();
    if (status != errc::success) {
        pair.state = queue_pair_state::error;
        return push(pair.queue, failed(request.id, status, pair.number));
    }
    if (!payload.empty() && op == completion_opcode::receive)
        std::memcpy(request.buffer.data, payload.data(), payload.size());
    work_completion wc;
    wc.id = request.id;
    wc.op = op;
    wc.has_immediate = immediate.has_value();
    wc.immediate = immediate.value_or(0);
    wc.byte_len = static_cast<std::uint32_t>(payload.size());
    wc.queue_pair = pair.number;
    push(pair.queue, wc);
}

void scripted_state::deliver(pair_state& pair) noexcept {
    if (!pair.peer) return;
    auto& peer = *pairs[*pair.peer];
    while (!pair.sends.empty() && pair.state == queue_pair_state::ready_to_send) {
        const auto& request = pair.sends.front().request;
        const bool listening = peer.alive && (peer.state == queue_pair_state::ready_to_receive ||
                                              peer.state == queue_pair_state::ready_to_send);
        if (!listening) return;
        const auto bytes = pair.sends.front().bytes();
        if (needs_receive(request.op)) {
            if (peer.receives.empty()) return;
            if (peer.receives.front().buffer.size < bytes.size()) {
                complete_receive(peer, errc::local_length_error, {}, {}, completion_opcode::receive);
                complete_send(pair, errc::remote_invalid_request);
                continue;
            }
            const auto immediate =
                has_immediate(request.op) ? std::optional(request.immediate) : std::optional<std::uint32_t>{};
            complete_receive(peer, errc::success, bytes, immediate,
                             request.op == opcode::rdma_write_with_immediate
                                 ? completion_opcode::receive_rdma_write_with_immediate
                                 : completion_opcode::receive);
        }
        complete_send(pair, errc::success);
    }
}

void scripted_state::flush_all(pair_state& pair, std::size_t most) noexcept {
    for (; most > 0 && !pair.sends.empty(); --most) complete_send(pair, errc::work_request_flushed);
    for (; most > 0 && !pair.receives.empty(); --most)
        complete_receive(pair, errc::work_request_flushed, {}, {}, completion_opcode::receive);
}

pair_state* scripted_state::live_pair(std::size_t index) noexcept {
    return index < pairs.size() && pairs[index]->alive ? pairs[index].get() : nullptr;
}

scripted_completion_queue::~scripted_completion_queue() {
    std::lock_guard lock(state_->mutex);
    state_->queues[index_]->alive = false;
    for (const auto& p : state_->pairs) {
        if (p->alive && p->queue == index_)
            state_->violations.emplace_back("a completion queue was destroyed before its queue pair");
    }
}

std::size_t scripted_completion_queue::poll(std::span<work_completion> out, errc& error) noexcept {
    std::lock_guard lock(state_->mutex);
    auto& queue = *state_->queues[index_];
    ++queue.polls;
    error = queue.poll_error;
    if (error != errc::success) return 0;
    std::size_t n = 0;
    while (n < out.size() && !queue.completions.empty()) out[n++] = queue.completions.pop();
    if (queue.endless) {
        while (n < out.size()) out[n++] = *queue.endless;
    }
    return n;
}

errc scripted_completion_queue::arm() noexcept {
    std::unique_lock lock(state_->mutex);
    if (const auto hook = state_->arm_hook) {
        lock.unlock();
        hook();
        lock.lock();
    }
    auto& queue = *state_->queues[index_];
    ++queue.arms;
    if (const errc e = state_->enter(device_call::arm); e != errc::success) return e;
    queue.armed = true;
    return errc::success;
}

scripted_queue_pair::~scripted_queue_pair() {
    std::lock_guard lock(state_->mutex);
    auto& p = pair();
    if (!state_->queues[p.queue]->alive) {
        state_->violations.emplace_back("a queue pair outlived its completion queue");
    } else if (state_->flush_on_destroy) {
        state_->flush_all(p, SIZE_MAX);
    }
    p.alive = false;
}

qpn scripted_queue_pair::number() const noexcept {
    std::lock_guard lock(state_->mutex);
    return pair().number;
}

queue_pair_state scripted_queue_pair::state() const noexcept {
    std::lock_guard lock(state_->mutex);
    return pair().state;
}

error_info scripted_queue_pair::move(device_call call, queue_pair_state from, queue_pair_state to) {
    if (const errc e = state_->enter(call); e != errc::success)
        return {e, "the script refuses this state change"};
    if (pair().state != from) return {errc::invalid_state, "wrong state for this change"};
    pair().state = to;
    return {};
}

error_info scripted_queue_pair::to_init(const init_attributes& attributes) {
    std::lock_guard lock(state_->mutex);
    if (auto e = move(device_call::to_init, queue_pair_state::reset, queue_pair_state::init)) return e;
    pair().initialisation = attributes;
    return {};
}

error_info scripted_queue_pair::to_ready_to_receive(const connect_attributes& attributes) {
    std::lock_guard lock(state_->mutex);
    auto& p = pair();
    if (auto e = move(device_call::to_ready_to_receive, queue_pair_state::init,
                      queue_pair_state::ready_to_receive))
        return e;
    p.connection = attributes;
    for (std::size_t i = 0; i < state_->pairs.size(); ++i) {
        auto& other = *state_->pairs[i];
        if (!other.alive || other.number != attributes.peer.queue_pair) continue;
        p.peer = i;
        state_->deliver(other);
    }
    return {};
}

error_info scripted_queue_pair::to_ready_to_send(const connect_attributes&) {
    std::lock_guard lock(state_->mutex);
    return move(device_call::to_ready_to_send, queue_pair_state::ready_to_receive,
                queue_pair_state::ready_to_send);
}

error_info scripted_queue_pair::to_error() {
    std::lock_guard lock(state_->mutex);
    if (const errc e = state_->enter(device_call::to_error); e != errc::success)
        return {e, "the script refuses this state change"};
    auto& p = pair();
    p.state = queue_pair_state::error;
    switch (state_->flush) {
    case flush_behaviour::all:
        state_->flush_all(p, SIZE_MAX);
        break;
    case flush_behaviour::some:
        state_->flush_all(p, state_->flush_some);
        break;
    case flush_behaviour::none:
        break;
    }
    return {};
}

errc scripted_queue_pair::accept(pair_state& p, const send_request& request) {
    if (const errc e = state_->enter(device_call::post_send); e != errc::success) return e;
    if (p.state != queue_pair_state::ready_to_send && p.state != queue_pair_state::error)
        return errc::invalid_state;
    if (p.sends.full()) return errc::queue_full;
    if (request.inlined && request.inline_data.size() > p.config.max_inline) return errc::inline_too_long;
    stored_send stored{.request = request};
    if (request.inlined)
        std::copy(request.inline_data.begin(), request.inline_data.end(), stored.copy.begin());
    if (state_->config.record_posts) {
        const auto bytes = stored.bytes();
        p.send_log.push_back({request, {bytes.begin(), bytes.end()}});
    }
    p.sends.push(stored);
    return errc::success;
}

errc scripted_queue_pair::accept(pair_state& p, const receive_request& request) {
    if (const errc e = state_->enter(device_call::post_receive); e != errc::success) return e;
    if (p.state == queue_pair_state::reset) return errc::invalid_state;
    if (p.receives.full()) return errc::queue_full;
    if (state_->config.record_posts) p.receive_log.push_back(request);
    p.receives.push(request);
    return errc::success;
}

post_outcome scripted_queue_pair::post_send(std::span<const send_request> requests) noexcept {
    std::lock_guard lock(state_->mutex);
    auto& p = pair();
    post_outcome outcome;
    for (const auto& request : requests) {
        outcome.reason = accept(p, request);
        if (outcome.reason != errc::success) break;
        ++outcome.accepted;
    }
    if (p.state == queue_pair_state::error) state_->flush_all(p, outcome.accepted);
    state_->deliver(p);
    return outcome;
}

post_outcome scripted_queue_pair::post_receive(std::span<const receive_request> requests) noexcept {
    std::lock_guard lock(state_->mutex);
    auto& p = pair();
    post_outcome outcome;
    for (const auto& request : requests) {
        outcome.reason = accept(p, request);
        if (outcome.reason != errc::success) break;
        ++outcome.accepted;
    }
    if (p.state == queue_pair_state::error) state_->flush_all(p, outcome.accepted);
    if (p.peer && state_->pairs[*p.peer]->alive) state_->deliver(*state_->pairs[*p.peer]);
    return outcome;
}

bool scripted_queue_pair::counters(device_queue_pair_counters& out) const noexcept {
    std::lock_guard lock(state_->mutex);
    out.messages_sent = pair().send_log.size();
    return true;
}

scripted_memory_region::~scripted_memory_region() {
    std::lock_guard lock(state_->mutex);
    state_->regions.erase(key_);
}

} // namespace rocio::test::script

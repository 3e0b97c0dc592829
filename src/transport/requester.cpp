#include "transport/requester.hpp"

#include <algorithm>

namespace rocio::transport {

namespace {

// NAK codes to completion statuses (IBA table 60). 0x64 belongs to reliable datagrams; the Linux kernel
// reports it so.
errc status_of(wire::nak_code code) noexcept {
    switch (code) {
    case wire::nak_code::invalid_request:
        return errc::remote_invalid_request;
    case wire::nak_code::remote_access_error:
        return errc::remote_access_error;
    case wire::nak_code::remote_operational_error:
    case wire::nak_code::invalid_rd_request:
        return errc::remote_operation_error;
    case wire::nak_code::psn_sequence_error:
        break;
    }
    return errc::success;
}

constexpr std::uint8_t last_nak_code = static_cast<std::uint8_t>(wire::nak_code::invalid_rd_request);
constexpr std::uint8_t endless_rnr_retry = 7; // IBA 9.7.5.2.8; for the acknowledgement retry 7 means seven

} // namespace

requester::requester(const queue_pair_config& config, const memory_region_table& regions,
                     completion_ring& completions, queue_pair_counters& counters)
    : regions_(regions),
      completions_(completions),
      counters_(counters),
      queue_(config.send_depth, config.max_inline) {}

void requester::connect(const segmentation& cutter, const send_path& path) noexcept {
    cutter_ = cutter;
    first_ = path.first;
    window_ = psn_window(path.window);
    timer_ = ack_timer(path.timeout);
    const bool rnr_endless = path.unlimited_retry || path.rnr_retry == endless_rnr_retry;
    retries_ = retry_budget(path.unlimited_retry ? retry_budget::endless : path.retry_count);
    rnr_retries_ = retry_budget(rnr_endless ? retry_budget::endless : path.rnr_retry);
}

void requester::post(const send_request& request) noexcept {
    queue_.push(request, cutter_.packets_of(request.length()));
}

// ---- Sending

std::uint32_t requester::cost_of(const send_entry& e, std::uint32_t packet) const noexcept {
    return window_.counts_cost() ? window_.cost_of(cutter_.datagram_bytes(e, packet)) : 0;
}

bool requester::may_read(const cursor& c) noexcept {
    if (may_read_entry_ == c.entry + 1) return true;
    const send_entry& e = queue_[c.entry];
    if (!e.inlined && !regions_.check_local(e.buffer, memory_access::local_read)) return false;
    may_read_entry_ = c.entry + 1;
    return true;
}

bool requester::sendable(const cursor& c) noexcept {
    if (c.entry == queue_.end_index()) return false;
    if (!window_.admits(c.flight, cost_of(queue_[c.entry], c.packet))) return false;
    if (may_read(c)) return true;
    // An error completes its own work request, so it waits until all earlier ones are acknowledged.
    refused_ = c.entry == queue_.begin_index() ? refusal::oldest : refusal::later;
    return false;
}

requester::cursor requester::step(const cursor& c) const noexcept {
    const send_entry& e = queue_[c.entry];
    const std::uint32_t cost = cost_of(e, c.packet);
    cursor after = c;
    ++after.number;
    ++after.flight.packets;
    after.flight.cost += cost;
    ++after.since_asked.packets;
    after.since_asked.cost += cost;
    after.bytes += cutter_.payload_bytes(e, c.packet);
    if (e.is_last(c.packet)) {
        ++after.entry;
        after.packet = 0;
    } else {
        ++after.packet;
    }
    return after;
}

bool requester::wants_to_send(time_point now) const noexcept {
    if (next_.entry == queue_.end_index() || refused_ == refusal::later || rnr_.blocks(now)) return false;
    return window_.admits(next_.flight, cost_of(queue_[next_.entry], next_.packet));
}

std::size_t requester::fill(std::span<packet_out> out, time_point now) noexcept {
    planned_ = 0;
    if (!wants_to_send(now)) return 0;
    may_read_entry_ = 0;
    cursor c = next_;
    bool ready = sendable(c);
    const std::size_t limit = std::min(out.size(), max_burst);
    while (ready && planned_ < limit) {
        cursor after = step(c);
        ready = sendable(after);
        // Asking on the last packet of a burst and every quarter of the window keeps acknowledgements few and
        // the window moving; every message of a burst gets its completion from them.
        const bool ask = !ready || window_.ask_due(after.since_asked);
        if (ask) after.since_asked = {};
        cutter_.cut(queue_[c.entry], c.packet, first_ + static_cast<std::uint32_t>(c.number), ask,
                    out[planned_]);
        plan_[planned_++] = after;
        c = after;
    }
    return planned_;
}

void requester::commit(std::size_t n, time_point now) noexcept {
    n = std::min(n, planned_);
    planned_ = 0;
    if (n == 0) return;
    const cursor& after = plan_[n - 1];
    const packet_number again_end = std::min(after.number, never_sent_);
    if (again_end > next_.number) counters_.retransmitted_packets += again_end - next_.number;
    counters_.packets_sent += n;
    counters_.bytes_sent += after.bytes - next_.bytes;
    next_ = after;
    never_sent_ = std::max(never_sent_, next_.number);
    rnr_.end();
    timer_.start_if_stopped(now);
}

// ---- Progress and its loss

/// What the packets from the oldest unacknowledged to `end` cost in flight.
std::uint32_t requester::cost_before(packet_number end) const noexcept {
    std::uint32_t sum = 0;
    packet_number from = queue_.unacknowledged();
    for (std::uint64_t i = queue_.begin_index(); from < end; ++i) {
        const send_entry& e = queue_[i];
        const packet_number to = std::min(end, e.end());
        // All packets of a message but the last are alike.
        const auto alike =
            static_cast<std::uint32_t>(std::min(to, e.end() - 1) - std::min(from, e.end() - 1));
        if (alike != 0) sum += alike * cost_of(e, 0);
        if (to == e.end()) sum += cost_of(e, e.packets - 1);
        from = to;
    }
    return sum;
}

void requester::acknowledge_before(packet_number end, time_point now) noexcept {
    const packet_number begin = queue_.unacknowledged();
    if (end == begin) return;
    const auto acknowledged = static_cast<std::uint32_t>(end - begin);
    const bool overtaken = end > next_.number; // we had gone back, but the peer had more than we thought
    if (!overtaken && window_.counts_cost()) next_.flight.cost -= cost_before(end);
    counters_.messages_sent += queue_.acknowledge_before(end, completions_);
    if (overtaken)
        go_back();
    else
        next_.flight.packets -= acknowledged;
    window_.grow(acknowledged);
    retries_.restore();
    rnr_retries_.restore();
    rnr_.end();
    repeating_ = false;
    refused_ = refusal::none;
    if (next_.flight.packets != 0)
        timer_.start(now);
    else
        timer_.stop();
}

/// The next packet is the oldest unacknowledged one, which is always in the oldest entry.
void requester::go_back() noexcept {
    next_.number = queue_.unacknowledged();
    next_.entry = queue_.begin_index();
    next_.packet = queue_.empty() ? 0 : static_cast<std::uint32_t>(next_.number - queue_.front().first);
    next_.flight = {};
    next_.since_asked = {};
    repeating_ = true;
    refused_ = refusal::none;
    timer_.stop();
}

// ---- Answers

errc requester::on_response(psn sequence, wire::aeth answer, time_point now) noexcept {
    const packet_number oldest = queue_.unacknowledged();
    const std::int32_t ahead = distance(first_ + static_cast<std::uint32_t>(oldest), sequence);
    const packet_number n = oldest + static_cast<std::uint32_t>(ahead);
    if (ahead < 0 || n >= never_sent_) {
        ++counters_.ignored_packets;
        return errc::success;
    }
    switch (answer.kind()) {
    case wire::aeth_kind::ack:
        ++counters_.acks_received;
        acknowledge_before(n + 1, now);
        return errc::success;
    case wire::aeth_kind::rnr_nak:
        return on_not_ready(n, rnr_timer{answer.value()}, now);
    case wire::aeth_kind::nak:
        return on_nak(n, answer.value(), now);
    case wire::aeth_kind::reserved:
        break;
    }
    ++counters_.ignored_packets;
    return errc::success;
}

errc requester::on_not_ready(packet_number n, rnr_timer timer, time_point now) noexcept {
    // A second answer to the same packet, from a packet that was already under way, must not take another
    // retry.
    if (rnr_.pending() && n == queue_.unacknowledged()) {
        ++counters_.ignored_packets;
        return errc::success;
    }
    ++counters_.rnr_naks_received;
    acknowledge_before(n, now); // IBA 9.7.5.1.1: acknowledges everything before it
    if (!rnr_retries_.take()) return errc::rnr_retry_exceeded;
    go_back();
    window_.shrink();
    rnr_.start(now, timer);
    return errc::success;
}

errc requester::on_nak(packet_number n, std::uint8_t code, time_point now) noexcept {
    if (code > last_nak_code) {
        ++counters_.ignored_packets;
        return errc::success;
    }
    const auto known = static_cast<wire::nak_code>(code);
    if (known == wire::nak_code::psn_sequence_error) return on_sequence_nak(n, now);
    ++counters_.other_naks_received;
    acknowledge_before(n, now);
    return status_of(known);
}

errc requester::on_sequence_nak(packet_number n, time_point now) noexcept {
    ++counters_.sequence_naks_received;
    acknowledge_before(n, now);
    // One repetition is enough: a second NAK for the same packet crossed it, or the timer will find out. The
    // same holds during an RNR wait, when what follows the refused packet looks like a gap to the peer.
    if (repeating_) {
        ++counters_.ignored_packets;
        return errc::success;
    }
    if (!retries_.take()) return errc::retry_exceeded;
    go_back();
    return errc::success;
}

// ---- Time

errc requester::on_deadline(time_point now) noexcept {
    if (rnr_.pending() && !rnr_.blocks(now)) rnr_.end();
    if (!timer_.due(now)) return errc::success;
    ++counters_.timeouts;
    if (!retries_.take()) return errc::retry_exceeded;
    go_back();
    window_.shrink();
    return errc::success;
}

time_point requester::next_deadline() const noexcept {
    return std::min(timer_.deadline(), rnr_.deadline());
}

// ---- Errors

void requester::fail(errc status) noexcept {
    if (!queue_.empty()) queue_.fail_front(status, completions_);
    flush();
}

void requester::flush() noexcept {
    queue_.flush(completions_);
    timer_.stop();
    rnr_.end();
    refused_ = refusal::none;
    planned_ = 0;
}

} // namespace rocio::transport

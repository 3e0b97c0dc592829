#include "transport/requester.hpp"

#include <algorithm>
#include <cstring>

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
constexpr std::uint32_t read_datagram_bytes(std::uint32_t payload) noexcept {
    return static_cast<std::uint32_t>(wire::bth::size + wire::aeth::size + payload + wire::icrc_size);
}

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
    keeps_costs_ = has_trains() && window_.counts_cost();
    response_window_ = psn_window(path.response_window);
    initiator_depth_ = path.initiator_depth;
    cutter_.set_read_chunk(response_window_.quarter(read_datagram_bytes(cutter_.path_mtu())));
    timer_ = ack_timer(path.timeout);
    const bool rnr_endless = path.unlimited_retry || path.rnr_retry == endless_rnr_retry;
    retries_ = retry_budget(path.unlimited_retry ? retry_budget::endless : path.retry_count);
    rnr_retries_ = retry_budget(rnr_endless ? retry_budget::endless : path.rnr_retry);
}

void requester::post(const send_request& request) noexcept {
    queue_.push(request, cutter_.packets_of(request.length()));
}

// ---- Sending

/// What the packets [from, to) of a message cost where they arrive. All but the first and the last are alike.
std::uint32_t requester::cost_of(const send_entry& e, std::uint32_t from, std::uint32_t to) const noexcept {
    const psn_window& window = window_of(e);
    if (!window.counts_cost()) return 0;
    std::uint32_t sum = 0;
    const auto add = [&](std::uint32_t packet, std::uint32_t times) {
        sum += times * window.cost_of(cutter_.datagram_bytes(e, packet));
    };
    if (from == 0) add(from++, 1);
    if (from < to && to == e.packets) add(--to, 1);
    if (from < to) add(from, to - from);
    return sum;
}

/// The packet at the cursor leaves in the same segmented send as the one before it.
bool requester::joins_train(const cursor& c) const noexcept {
    const send_entry& e = queue_[c.entry];
    return !c.train.empty() && !e.is_read() &&
           c.train.takes(cutter_.datagram_bytes(e, c.packet), window_.longest_train());
}

bool requester::admits(const cursor& c) const noexcept {
    const send_entry& e = queue_[c.entry];
    if (!e.is_read() && c.flight.packets == 0) return true; // as psn_window::admits(), without the cost
    if (has_trains() && !e.is_read()) {
        const std::uint32_t bytes = cutter_.datagram_bytes(e, c.packet);
        if (joins_train(c)) return window_.admits(c.flight, window_.train_cost_of(bytes));
        return window_.admits_train(c.flight, bytes, queue_.end_number() - c.number);
    }
    const std::uint32_t packets = cutter_.psns_of(e, c.packet);
    if (e.is_read() && c.reads >= initiator_depth_) return false;
    return window_of(e).admits(e.is_read() ? c.responses : c.flight, cost_of(e, c.packet, c.packet + packets),
                               packets);
}

bool requester::may_read(const cursor& c) noexcept {
    if (may_read_entry_ == c.entry + 1) return true;
    const send_entry& e = queue_[c.entry];
    const auto need = e.is_read() ? memory_access::local_write : memory_access::local_read;
    if (!e.inlined && !regions_.check_local(e.buffer, need)) return false;
    may_read_entry_ = c.entry + 1;
    return true;
}

bool requester::sendable(const cursor& c) noexcept {
    if (c.entry == queue_.end_index()) return false;
    if (!admits(c)) return false;
    if (may_read(c)) return true;
    // An error completes its own work request, so it waits until all earlier ones are acknowledged.
    refused_ = c.entry == queue_.begin_index() ? refusal::oldest : refusal::later;
    return false;
}

requester::cursor requester::step(const cursor& c) const noexcept {
    const send_entry& e = queue_[c.entry];
    const std::uint32_t packets = cutter_.psns_of(e, c.packet);
    cursor after = c;
    std::uint32_t cost = 0;
    if (has_trains() && !e.is_read()) {
        const std::uint32_t bytes = cutter_.datagram_bytes(e, c.packet);
        cost = joins_train(c) ? window_.train_cost_of(bytes) : window_.cost_of(bytes);
        after.train.add(bytes, window_.longest_train());
    } else {
        cost = cost_of(e, c.packet, c.packet + packets);
        after.train = {};
    }
    after.number += packets;
    after.packet += packets;
    if (e.is_read()) {
        ++after.reads;
        after.responses.packets += packets;
        after.responses.cost += cost;
    } else {
        ++after.flight.packets;
        after.flight.cost += cost;
        ++after.since_asked.packets;
        after.since_asked.cost += cost;
        after.bytes += cutter_.payload_bytes(e, c.packet);
    }
    if (after.packet == e.packets) {
        ++after.entry;
        after.packet = 0;
    }
    return after;
}

bool requester::may_send(time_point now) const noexcept {
    return next_.entry != queue_.end_index() && refused_ != refusal::later && !rnr_.blocks(now);
}

bool requester::wants_to_send(time_point now) const noexcept {
    return may_send(now) && admits(next_);
}

/// Asking on the last packet of a burst and every quarter of the window keeps acknowledgements few and the
/// window moving; every message of a burst gets its completion from them. A train is asked about at its end:
/// it arrives as a whole.
bool requester::asks_at(const cursor& after, bool more) const noexcept {
    if (!more) return true;
    return window_.ask_due(after.since_asked) && !joins_train(after);
}

void requester::keep_costs(std::size_t n) noexcept {
    packet_number number = next_.number;
    std::uint32_t before = next_.flight.cost;
    for (std::size_t i = 0; i < n; ++i) {
        const cursor& after = plan_[i];
        costs_[number % costs_kept] = after.flight.cost - before;
        before = after.flight.cost;
        number = after.number;
    }
}

std::uint32_t requester::kept_cost(packet_number from, packet_number to) const noexcept {
    std::uint32_t sum = 0;
    for (; from < to; ++from) sum += costs_[from % costs_kept];
    return sum;
}

std::size_t requester::fill(std::span<packet_out> out, time_point now) noexcept {
    planned_ = 0;
    if (!may_send(now)) return 0;
    may_read_entry_ = 0;
    cursor c = next_;
    bool ready = sendable(c);
    const std::size_t limit = std::min(out.size(), max_burst);
    while (ready && planned_ < limit) {
        cursor after = step(c);
        ready = sendable(after);
        const bool ask = asks_at(after, ready);
        if (ask || queue_[c.entry].is_read()) after.since_asked = {}; // a response acknowledges all before
        cutter_.cut(queue_[c.entry], c.packet, first_ + static_cast<std::uint32_t>(c.number), ask,
                    out[planned_]);
        out[planned_].segment = has_trains() ? after.train.last_place() : 0;
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
    counters_.retransmitted_packets += next_.number < never_sent_;
    for (std::size_t i = 0; i + 1 < n && plan_[i].number < never_sent_; ++i)
        ++counters_.retransmitted_packets;
    const bool of_read = queue_[next_.entry].is_read();
    if (of_read && !cutter_.starts_chunk(next_.packet)) read_again_from_ = next_.number;
    counters_.packets_sent += n;
    counters_.bytes_sent += after.bytes - next_.bytes;
    if (keeps_costs_) keep_costs(n);
    next_ = after;
    next_.train = {};
    never_sent_ = std::max(never_sent_, next_.number);
    rnr_.end();
    timer_.start_if_stopped(now);
}

// ---- Progress and its loss

void requester::leave_flight(const send_entry& e, std::uint32_t from, std::uint32_t to) noexcept {
    in_flight& flight = e.is_read() ? next_.responses : next_.flight;
    flight.packets -= to - from;
    flight.cost -=
        keeps_costs_ && !e.is_read() ? kept_cost(e.first + from, e.first + to) : cost_of(e, from, to);
    if (e.is_read()) next_.reads -= cutter_.chunks_ending(e, from, to);
}

void requester::leave_flight_before(packet_number end) noexcept {
    packet_number from = queue_.unacknowledged();
    if (queue_.reads() == 0 && !window_.counts_cost()) {
        next_.flight.packets -= static_cast<std::uint32_t>(end - from);
        return;
    }
    for (std::uint64_t i = queue_.begin_index(); from < end; ++i) {
        const send_entry& e = queue_[i];
        const packet_number to = std::min(end, e.end());
        leave_flight(e, static_cast<std::uint32_t>(from - e.first), static_cast<std::uint32_t>(to - e.first));
        from = to;
    }
}

/// Gives whether anything new is acknowledged.
bool requester::acknowledge_before(packet_number end, time_point now) noexcept {
    const packet_number begin = queue_.unacknowledged();
    if (end <= begin) return false;
    const auto acknowledged = static_cast<std::uint32_t>(end - begin);
    const bool overtaken = end > next_.number; // we had gone back, but the peer had more than we thought
    if (!overtaken) leave_flight_before(end);
    counters_.messages_sent += queue_.acknowledge_before(end, completions_);
    if (overtaken) go_back();
    window_.grow(acknowledged);
    response_window_.grow(acknowledged);
    retries_.restore();
    rnr_retries_.restore();
    rnr_.end();
    repeating_ = false;
    refused_ = refusal::none;
    if (next_.number != end)
        timer_.start(now);
    else
        timer_.stop();
    return true;
}

/// An acknowledgement says nothing about a READ, which is done when its responses are here: `end`, or the
/// first response before it that is missing.
packet_number requester::without_responses(packet_number end) const noexcept {
    if (queue_.reads() == 0) return end;
    for (std::uint64_t i = queue_.begin_index(); i != queue_.end_index() && queue_[i].first < end; ++i)
        if (queue_[i].is_read()) return std::min(end, std::max(queue_[i].first, queue_.unacknowledged()));
    return end;
}

/// The next packet is the oldest unacknowledged one, which is always in the oldest entry.
void requester::go_back() noexcept {
    next_.number = queue_.unacknowledged();
    next_.entry = queue_.begin_index();
    next_.packet = queue_.empty() ? 0 : static_cast<std::uint32_t>(next_.number - queue_.front().first);
    next_.flight = {};
    next_.responses = {};
    next_.reads = 0;
    next_.since_asked = {};
    repeating_ = true;
    refused_ = refusal::none;
    timer_.stop();
}

// ---- Answers

/// The number behind a PSN, if it is not acknowledged and was sent at least once.
std::optional<packet_number> requester::sent_number(psn sequence) const noexcept {
    const packet_number oldest = queue_.unacknowledged();
    const std::int32_t ahead = distance(first_ + static_cast<std::uint32_t>(oldest), sequence);
    const packet_number n = oldest + static_cast<std::uint32_t>(ahead);
    if (ahead < 0 || n >= never_sent_) return std::nullopt;
    return n;
}

errc requester::on_response(psn sequence, wire::aeth answer, time_point now) noexcept {
    const auto n = sent_number(sequence);
    if (!n) {
        ++counters_.ignored_packets;
        return errc::success;
    }
    switch (answer.kind()) {
    case wire::aeth_kind::ack:
        ++counters_.acks_received;
        acknowledge_before(without_responses(*n + 1), now);
        return queue_.unacknowledged() > *n ? errc::success : repeat();
    case wire::aeth_kind::rnr_nak:
        return on_not_ready(*n, rnr_timer{answer.value()}, now);
    case wire::aeth_kind::nak:
        return on_nak(*n, answer.value(), now);
    case wire::aeth_kind::reserved:
        break;
    }
    ++counters_.ignored_packets;
    return errc::success;
}

/// Something that was sent is missing at the peer, or here. One repetition is enough: what else tells of it
/// crossed that repetition, or the timer will find out. The same holds during an RNR wait, when what follows
/// the refused packet looks like a gap to the peer.
errc requester::repeat() noexcept {
    if (repeating_) {
        ++counters_.ignored_packets;
        return errc::success;
    }
    if (!retries_.take()) return errc::retry_exceeded;
    go_back();
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
    acknowledge_before(without_responses(n), now); // IBA 9.7.5.1.1: acknowledges everything before it
    if (queue_.unacknowledged() < n) return repeat();
    if (!rnr_retries_.take()) return errc::rnr_retry_exceeded;
    go_back();
    window_.shrink();
    response_window_.shrink();
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
    acknowledge_before(without_responses(n), now);
    // The refusal is not about the READ whose responses are missing; nobody will tell what it is about.
    if (queue_.unacknowledged() < n) return repeat();
    return status_of(known);
}

errc requester::on_sequence_nak(packet_number n, time_point now) noexcept {
    ++counters_.sequence_naks_received;
    acknowledge_before(without_responses(n), now);
    return repeat();
}

// ---- READ responses

errc requester::on_read_response(const wire::packet_view& packet, time_point now) noexcept {
    const auto n = sent_number(packet.bth().sequence);
    if (!n) {
        ++counters_.ignored_packets;
        return errc::success;
    }
    acknowledge_before(without_responses(*n), now); // IBA 9.7.5.1.2: as an acknowledgement of all before
    if (queue_.unacknowledged() < *n) return repeat();
    if (!queue_.front().is_read()) return errc::bad_response;
    return take_response(packet, now);
}

/// FIRST and ONLY answer the beginning of a request, MIDDLE and LAST the rest, and LAST and ONLY end it. A
/// request for the rest of a chunk may also be answered as the rest (captures peer_req_read_lost_middle,
/// peer_req_read_timeout).
bool requester::fits_place(wire::opcode op, const send_entry& e, std::uint32_t packet) const noexcept {
    if (op.ends() != cutter_.ends_chunk(e, packet)) return false;
    if (cutter_.starts_chunk(packet)) return op.starts();
    return !op.starts() || read_again_from_ == e.first + packet;
}

errc requester::take_response(const wire::packet_view& packet, time_point now) noexcept {
    const send_entry& e = queue_.front();
    const packet_number n = queue_.unacknowledged();
    const auto index = static_cast<std::uint32_t>(n - e.first);
    const auto payload = packet.payload();
    if (!fits_place(packet.op(), e, index) || payload.size() != cutter_.payload_bytes(e, index))
        return errc::bad_response;
    if (packet.op().has_aeth() && packet.aeth().kind() != wire::aeth_kind::ack) return errc::bad_response;
    if (!regions_.check_local(e.buffer, memory_access::local_write)) return errc::local_protection_error;
    if (!payload.empty())
        std::memcpy(e.buffer.data + std::size_t{index} * cutter_.path_mtu(), payload.data(), payload.size());
    counters_.bytes_received += payload.size();
    ++counters_.read_responses_received;
    acknowledge_before(n + 1, now);
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
    response_window_.shrink();
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

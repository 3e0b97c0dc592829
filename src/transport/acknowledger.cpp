#include "transport/acknowledger.hpp"

#include <algorithm>

namespace rocio::transport {

namespace {

constexpr std::uint32_t msn_mask = 0xFFFFFF;

void write_answer(qpn peer, psn sequence, const wire::aeth& answer, packet_out& out) noexcept {
    wire::bth h;
    h.op = wire::rc::acknowledge;
    h.destination = peer;
    h.sequence = sequence;
    out.header.clear();
    out.header.append(h);
    out.header.append(answer);
    out.payload = {};
    out.segment = 0;
}

} // namespace

void acknowledger::connect(const receive_path& path) noexcept {
    peer_ = path.peer;
    timer_ = path.min_rnr_timer;
    expected_ = path.expected;
    acknowledged_ = path.expected;
}

void acknowledger::accepted(bool ask, bool ends_message) noexcept {
    ++expected_;
    if (ends_message) completed_ = (completed_ + 1) & msn_mask;
    // A peer that never asks would learn of its messages by its timeout only; one that asks knows when it
    // wants to.
    peer_asks_ = peer_asks_ || ask;
    if (ask || (ends_message && !peer_asks_)) ack_owed_ = true;
    forget_answered_gap();
}

void acknowledger::accepted_read(std::uint32_t packets) noexcept {
    expected_ += packets;
    completed_ = (completed_ + 1) & msn_mask;
    ack_owed_ = false;
    acknowledged_ = expected_;
    forget_answered_gap();
}

void acknowledger::forget_answered_gap() noexcept {
    told_ = false;
    if (owed_ == negative::none) return;
    // An answer that was not sent yet is out of date, unless the gap it is about has only moved.
    const bool still_gap = owed_ == negative::sequence && distance(expected_, gap_end_) >= 0;
    if (still_gap)
        told_ = true;
    else
        owed_ = negative::none;
}

void acknowledger::gap_before(psn seen) noexcept {
    if (told_) {
        if (owed_ == negative::sequence && is_after(seen, gap_end_)) gap_end_ = seen;
        return;
    }
    told_ = true;
    owed_ = negative::sequence;
    gap_end_ = seen;
}

void acknowledger::receiver_not_ready() noexcept {
    told_ = true;
    owed_ = negative::not_ready;
    if (acknowledged_ != expected_) ack_owed_ = true;
}

void acknowledger::refuse(wire::nak_code code, psn at) noexcept {
    told_ = true;
    owed_ = negative::refusal;
    code_ = code;
    refused_ = at;
    // An acknowledgement of what comes after a refused READ would be a lie.
    if (at != expected_) ack_owed_ = false;
}

wire::aeth acknowledger::answer() const noexcept {
    switch (owed_) {
    case negative::not_ready:
        return wire::aeth::rnr(timer_.code(), completed_);
    case negative::sequence:
        return wire::aeth::nak(wire::nak_code::psn_sequence_error, completed_);
    case negative::refusal:
        return wire::aeth::nak(code_, completed_);
    case negative::none:
        break;
    }
    return wire::aeth::ack(completed_);
}

std::size_t acknowledger::fill(std::span<packet_out> out) const noexcept {
    std::size_t n = 0;
    if (ack_leaves() && n < out.size())
        write_answer(peer_, expected_ - 1, wire::aeth::ack(completed_), out[n++]);
    const psn about = owed_ == negative::refusal ? refused_ : expected_;
    if (owed_ != negative::none && n < out.size()) write_answer(peer_, about, answer(), out[n++]);
    return n;
}

void acknowledger::commit(std::size_t n, queue_pair_counters& counters) noexcept {
    counters.packets_sent += n;
    if (n != 0 && ack_leaves()) {
        ++counters.acks_sent;
        ack_owed_ = false;
        acknowledged_ = expected_;
        --n;
    }
    if (n == 0 || owed_ == negative::none) return;
    if (owed_ == negative::sequence) {
        ++counters.sequence_naks_sent;
        ack_owed_ = false;
        acknowledged_ = expected_;
    } else if (owed_ == negative::not_ready) {
        ++counters.rnr_naks_sent;
    } else {
        ++counters.other_naks_sent;
    }
    owed_ = negative::none;
}

} // namespace rocio::transport

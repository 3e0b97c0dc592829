#include "model_peer.hpp"

#include <algorithm>
#include <utility>

namespace rocio::test {

namespace {

bool refuses(wire::aeth a) {
    return a.kind() == wire::aeth_kind::nak && a.syndrome > 0x60 && a.syndrome <= 0x64;
}
bool not_ready(wire::aeth a) {
    return a.kind() == wire::aeth_kind::rnr_nak;
}
bool gap(wire::aeth a) {
    return a.syndrome == 0x60;
}

} // namespace

std::uint32_t model_peer::msn() const {
    std::uint32_t n = 0;
    for (const auto& [index, p] : seen_) n += index < expected_ && p.op.ends();
    return n;
}

void model_peer::will_say(const test_packet& p) {
    if (!p.is_answer()) return;
    if (p.answer.kind() == wire::aeth_kind::ack) acked_by_plan_ = std::max(acked_by_plan_, p.index + 1);
    if (p.index < acked_by_plan_) return; // out of date when it comes
    if (refuses(p.answer)) refusals_[p.index] = p.answer;
    if (not_ready(p.answer)) not_ready_[p.index].push_back(p.answer);
}

/// Nothing in the plan speaks against this packet.
bool model_peer::takes(std::uint32_t index) {
    return index == expected_ && !refusals_.contains(index) && not_ready_[index].empty();
}

std::uint32_t model_peer::psns_of(const test_packet& p) const {
    if (p.op != wire::rc::read_request || p.remote.length == 0) return 1;
    return (p.remote.length - 1) / path_mtu_ + 1;
}

std::vector<test_packet> model_peer::read_from_memory(const test_packet& request) const {
    std::vector<test_packet> all;
    const std::uint32_t packets = psns_of(request);
    for (std::uint32_t i = 0; i < packets; ++i) {
        const bool last = i + 1 == packets;
        const auto op = i == 0 ? last ? wire::rc::read_response_only : wire::rc::read_response_first
                        : last ? wire::rc::read_response_last
                               : wire::rc::read_response_middle;
        const std::uint32_t length = last ? request.remote.length - i * path_mtu_ : path_mtu_;
        all.push_back(read_response(op, request.index + i, msn())
                          .carrying(memory_seed, request.remote.address + i * path_mtu_, length));
    }
    return all;
}

void model_peer::saw(const test_packet& p) {
    if (p.is_answer()) return on_answer(p);
    // A READ that is asked for again from its middle is no message of its own.
    if (p.index >= expected_ || seen_.contains(p.index)) seen_.insert_or_assign(p.index, p);
    if (takes(p.index)) expected_ += psns_of(p);
}

void model_peer::said(const test_packet& p, bool arrived) {
    if (!p.is_answer()) return will_request(p);
    if (p.index < acked_ || !seen_.contains(p.index)) return; // nonsense on purpose
    if (p.answer.kind() == wire::aeth_kind::ack) {
        acked_ = p.index + 1;
        expected_ = std::max(expected_, acked_);
    } else if (refuses(p.answer)) {
        expected_ = p.index;
        dead_ = true;
    } else if (not_ready(p.answer)) {
        expected_ = p.index;
        auto& planned = not_ready_[p.index];
        if (arrived && !planned.empty()) planned.erase(planned.begin());
    } else if (gap(p.answer)) {
        expected_ = p.index;
    }
}

void model_peer::will_request(const test_packet& p) {
    requests_.emplace(p.index, p);
}

std::vector<test_packet> model_peer::answer_to(const test_packet& p) {
    if (p.is_answer()) {
        const std::uint32_t before = acknowledged_;
        on_answer(p);
        return acknowledged_ != before ? next_request() : std::vector<test_packet>{};
    }
    if (dead_) return {};
    if (p.index < expected_ && p.op == wire::rc::read_request) return read_from_memory(p);
    if (p.index < expected_) return {ack(expected_ - 1, msn())};
    if (p.index > expected_) {
        if (std::exchange(told_gap_, true)) return {};
        return {sequence_nak(expected_, msn())};
    }
    told_gap_ = false;
    if (auto& planned = not_ready_[p.index]; !planned.empty()) {
        const wire::aeth a = planned.front();
        planned.erase(planned.begin());
        return {answer(p.index, a)};
    }
    if (const auto refusal = refusals_.find(p.index); refusal != refusals_.end()) {
        dead_ = true;
        return {answer(p.index, refusal->second)};
    }
    seen_.insert_or_assign(p.index, p);
    expected_ += psns_of(p);
    if (p.op == wire::rc::read_request) return read_from_memory(p);
    return {ack(p.index, msn())};
}

void model_peer::on_answer(const test_packet& p) {
    if (refuses(p.answer)) {
        tries_left_ = 0;
        return;
    }
    const bool up_to_here = p.answer.kind() == wire::aeth_kind::ack;
    const std::uint32_t end = up_to_here ? p.index + 1 : p.index;
    if (end <= requests_end()) acknowledged_ = std::max(acknowledged_, end);
}

std::vector<test_packet> model_peer::next_request() {
    const auto next = requests_.find(acknowledged_);
    if (dead_ || next == requests_.end()) return {};
    return {next->second.asking()};
}

std::vector<test_packet> model_peer::repeat() {
    if (!has_requests()) return {};
    --tries_left_;
    return next_request();
}

std::vector<std::vector<std::byte>> model_peer::messages() const {
    std::vector<std::vector<std::byte>> all;
    std::vector<std::byte> current;
    bool open = false;
    for (const auto& [index, p] : seen_) {
        if (index >= expected_) break;
        if (p.op == wire::rc::read_request) continue;
        if (p.op.starts() == open) break; // a FIRST inside a message, or a LAST without one
        current.insert(current.end(), p.payload.begin(), p.payload.end());
        open = !p.op.ends();
        if (open) continue;
        all.push_back(std::move(current));
        current.clear();
    }
    return all;
}

} // namespace rocio::test

#include "transport/responder.hpp"

#include <algorithm>

namespace rocio::transport {

namespace {

/// What the peer is told when a message cannot be put into the posted receive: one that is too long is the
/// peer's fault, a buffer that may not be written is ours (IBA table 60).
wire::nak_code nak_of(errc status) noexcept {
    return status == errc::local_length_error ? wire::nak_code::invalid_request
                                              : wire::nak_code::remote_operational_error;
}

std::optional<std::uint32_t> immediate_of(const wire::packet_view& packet) noexcept {
    if (!packet.op().has_immediate()) return std::nullopt;
    return packet.immediate().value;
}

} // namespace

responder::responder(const queue_pair_config& config, const memory_region_table& regions,
                     completion_ring& completions, queue_pair_counters& counters)
    : regions_(regions),
      completions_(completions),
      counters_(counters),
      receives_(config.receive_depth),
      reads_(config.responder_depth) {}

void responder::connect(const receive_path& path, memory_access granted) noexcept {
    path_mtu_ = bytes(path.path_mtu);
    granted_ = granted;
    answers_.connect(path);
    reads_.connect(path.peer, path_mtu_);
}

// ---- Requests

responder::verdict responder::on_request(const wire::packet_view& packet) noexcept {
    const psn sequence = packet.bth().sequence;
    const std::int32_t ahead = distance(answers_.expected(), sequence);
    if (ahead == 0) return on_expected(packet);
    if (ahead > 0) {
        ++counters_.out_of_sequence_received;
        answers_.gap_before(sequence);
        return verdict::carry_on;
    }
    ++counters_.duplicates_received;
    // An old READ is executed again if it is remembered. An atomic never was; an acknowledgement would be a
    // lie.
    if (packet.op() == wire::rc::read_request)
        reads_.repeat(sequence, packet.reth());
    else if (packet.op().has_payload())
        answers_.repeated();
    return verdict::carry_on;
}

responder::verdict responder::on_expected(const wire::packet_view& packet) noexcept {
    if (packet.op() == wire::rc::read_request) return on_read(packet);
    const auto shape = shape_of(packet.op());
    const bool acceptable =
        shape && sequence_.allows(*shape) && length_fits(shape->place, packet.payload().size(), path_mtu_);
    if (!acceptable) return refuse(wire::nak_code::invalid_request, errc::remote_invalid_request);
    return shape->kind == message_kind::send ? on_send(packet, *shape) : on_write(packet, *shape);
}

responder::verdict responder::on_send(const wire::packet_view& packet, const request_shape& shape) noexcept {
    if (starts_message(shape.place)) {
        if (receives_.empty()) {
            answers_.receiver_not_ready();
            return verdict::carry_on;
        }
        message_.begin(receives_.front());
        receives_.pop();
    }
    const errc status = message_.append(packet.payload(), regions_);
    if (status != errc::success) return refuse(nak_of(status), status);
    accept(packet, shape);
    if (ends_message(shape.place)) completions_.received(message_.finish(immediate_of(packet)));
    return verdict::carry_on;
}

responder::verdict responder::on_write(const wire::packet_view& packet, const request_shape& shape) noexcept {
    // A right that the queue pair does not give is told apart from one that the region does not give, as rxe
    // does it.
    if (!grants(granted_, memory_access::remote_write))
        return refuse(wire::nak_code::invalid_request, errc::remote_invalid_request);
    switch (write_.check(packet, shape, path_mtu_, regions_)) {
    case remote_write::verdict::no_access:
        return refuse_access();
    case remote_write::verdict::bad_length:
        return refuse(wire::nak_code::invalid_request, errc::remote_invalid_request);
    case remote_write::verdict::fits:
        break;
    }
    if (shape.immediate && receives_.empty()) { // before any byte of this packet is written
        answers_.receiver_not_ready();
        return verdict::carry_on;
    }
    write_.write(packet.payload());
    accept(packet, shape);
    if (shape.immediate) complete_write(packet);
    return verdict::carry_on;
}

void responder::complete_write(const wire::packet_view& packet) noexcept {
    work_completion c;
    c.id = receives_.front().id;
    c.op = completion_opcode::receive_rdma_write_with_immediate;
    c.has_immediate = true;
    c.immediate = packet.immediate().value;
    c.byte_len = write_.total();
    receives_.pop();
    completions_.received(c);
}

responder::verdict responder::on_read(const wire::packet_view& packet) noexcept {
    const wire::reth request = packet.reth();
    const bool acceptable = grants(granted_, memory_access::remote_read) && !sequence_.in_message() &&
                            request.length <= longest_message && reads_.has_room();
    if (!acceptable) return refuse(wire::nak_code::invalid_request, errc::remote_invalid_request);
    if (!regions_.check_remote(request.key, request.address, request.length, memory_access::remote_read))
        return refuse_access();
    ++counters_.messages_received;
    answers_.accepted_read(reads_.packets_of(request.length));
    reads_.add(packet.bth().sequence, request, answers_.completed_messages());
    return verdict::carry_on;
}

void responder::accept(const wire::packet_view& packet, const request_shape& shape) noexcept {
    const bool ends = ends_message(shape.place);
    counters_.bytes_received += packet.payload().size();
    counters_.messages_received += ends;
    sequence_.advance(shape);
    answers_.accepted(packet.bth().ack_request, ends);
}

responder::verdict responder::refuse(wire::nak_code code, errc status) noexcept {
    answers_.refuse(code);
    sequence_.reset();
    write_.abandon();
    if (message_.active()) {
        completions_.receive_failed(message_.id(), status);
        message_.abandon();
    }
    return verdict::failed;
}

responder::verdict responder::refuse_access() noexcept {
    access_violated_ = true;
    return refuse(wire::nak_code::remote_access_error, errc::remote_access_error);
}

// ---- Answers

std::size_t responder::fill(std::span<packet_out> out) noexcept {
    offered_responses_ = 0;
    const std::uint64_t owed = reads_.owed();
    if (owed == 0) return answers_.fill(out);
    offered_responses_ = reads_.fill(out.first((out.size() + 1) / 2), regions_);
    if (offered_responses_ < owed) return offered_responses_;
    return offered_responses_ + answers_.fill(out.subspan(offered_responses_));
}

void responder::commit(std::size_t n) noexcept {
    const std::size_t responses = std::min(n, offered_responses_);
    offered_responses_ = 0;
    counters_.bytes_sent += reads_.commit(responses);
    counters_.read_responses_sent += responses;
    counters_.packets_sent += responses;
    answers_.commit(n - responses, counters_);
}

responder::verdict responder::check_reads() noexcept {
    const auto at = reads_.refused();
    if (!at || reads_.owed() == 0) return verdict::carry_on;
    reads_.drop_owed();
    access_violated_ = true;
    answers_.refuse(wire::nak_code::remote_access_error, *at);
    return verdict::failed;
}

void responder::drop_reads() noexcept {
    if (reads_.owed() == 0) return;
    reads_.drop_owed();
    answers_.withhold();
}

void responder::flush() noexcept {
    if (message_.active()) completions_.receive_failed(message_.id(), errc::work_request_flushed);
    message_.abandon();
    write_.abandon();
    for (; !receives_.empty(); receives_.pop())
        completions_.receive_failed(receives_.front().id, errc::work_request_flushed);
}

} // namespace rocio::transport

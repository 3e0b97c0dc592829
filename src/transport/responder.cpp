#include "transport/responder.hpp"

namespace rocio::transport {

namespace {

/// What the peer is told when a message cannot be put into the posted receive: one that is too long is the
/// peer's fault, a buffer that may not be written is ours (IBA table 60).
wire::nak_code nak_of(errc status) noexcept {
    return status == errc::local_length_error ? wire::nak_code::invalid_request
                                              : wire::nak_code::remote_operational_error;
}

} // namespace

responder::responder(const queue_pair_config& config, const memory_region_table& regions,
                     completion_ring& completions, queue_pair_counters& counters)
    : regions_(regions), completions_(completions), counters_(counters), receives_(config.receive_depth) {}

void responder::connect(const receive_path& path) noexcept {
    path_mtu_ = bytes(path.path_mtu);
    answers_.connect(path);
}

responder::verdict responder::on_request(const wire::packet_view& packet) noexcept {
    const std::int32_t ahead = distance(answers_.expected(), packet.bth().sequence);
    if (ahead == 0) return on_expected(packet);
    if (ahead > 0) {
        ++counters_.out_of_sequence_received;
        answers_.gap_before(packet.bth().sequence);
        return verdict::carry_on;
    }
    ++counters_.duplicates_received;
    // Reads and atomics are refused, so an old one was never executed; an acknowledgement would be a lie.
    if (packet.op().has_payload()) answers_.repeated();
    return verdict::carry_on;
}

responder::verdict responder::on_expected(const wire::packet_view& packet) noexcept {
    const auto shape = shape_of(packet.op());
    const bool acceptable = shape && shape->kind == message_kind::send && sequence_.allows(*shape) &&
                            length_fits(shape->place, packet.payload().size(), path_mtu_);
    if (!acceptable) return refuse(wire::nak_code::invalid_request, errc::remote_invalid_request);

    if (starts_message(shape->place)) {
        if (receives_.empty()) {
            answers_.receiver_not_ready();
            return verdict::carry_on;
        }
        message_.begin(receives_.front());
        receives_.pop();
    }
    const errc status = message_.append(packet.payload(), regions_);
    if (status != errc::success) return refuse(nak_of(status), status);

    counters_.bytes_received += packet.payload().size();
    sequence_.advance(*shape);
    const bool ends = ends_message(shape->place);
    answers_.accepted(packet.bth().ack_request, ends);
    if (ends) complete(packet, *shape);
    return verdict::carry_on;
}

void responder::complete(const wire::packet_view& packet, const request_shape& shape) noexcept {
    ++counters_.messages_received;
    completions_.received(message_.finish(shape.immediate ? std::optional{packet.immediate().value}
                                                          : std::optional<std::uint32_t>{}));
}

responder::verdict responder::refuse(wire::nak_code code, errc status) noexcept {
    answers_.refuse(code);
    sequence_.reset();
    if (message_.active()) {
        completions_.receive_failed(message_.id(), status);
        message_.abandon();
    }
    return verdict::failed;
}

void responder::flush() noexcept {
    if (message_.active()) completions_.receive_failed(message_.id(), errc::work_request_flushed);
    message_.abandon();
    for (; !receives_.empty(); receives_.pop())
        completions_.receive_failed(receives_.front().id, errc::work_request_flushed);
}

} // namespace rocio::transport

#include "transport/uc_responder.hpp"

namespace rocio::transport {

uc_responder::uc_responder(const queue_pair_config& config, const memory_region_table& regions,
                           completion_ring& completions, queue_pair_counters& counters)
    : regions_(regions), completions_(completions), counters_(counters), receives_(config.receive_depth) {}

void uc_responder::connect(const receive_path& path, memory_access granted) noexcept {
    path_mtu_ = bytes(path.path_mtu);
    granted_ = granted;
    expected_ = path.expected;
}

/// Counts what the PSN tells and expects the next one after this, whatever it is: there is no other way to
/// get back into step (capture peer_uc_lost_only).
bool uc_responder::follows(psn sequence) noexcept {
    const std::int32_t ahead = distance(expected_, sequence);
    expected_ = sequence + 1;
    if (ahead > 0) {
        ++counters_.psn_gaps;
        counters_.psns_missed += static_cast<std::uint64_t>(ahead);
    } else if (ahead < 0) {
        ++counters_.duplicates_received;
    }
    return ahead == 0;
}

/// The message under way is over: its receive serves the next one.
void uc_responder::interrupt() noexcept {
    if (sequence_.in_message()) ++counters_.interrupted_messages;
    sequence_.reset();
    message_.abandon();
    write_.abandon();
}

void uc_responder::drop(std::uint64_t& reason) noexcept {
    ++reason;
    interrupt();
}

uc_responder::verdict uc_responder::on_request(const wire::packet_view& packet) noexcept {
    const auto shape = shape_of(packet.op());
    if (!shape) {
        ++counters_.ignored_packets;
        return verdict::carry_on;
    }
    const bool in_step = follows(packet.bth().sequence);
    if (!in_step || starts_message(shape->place)) interrupt();
    if (!sequence_.allows(*shape)) {
        drop(counters_.dropped_out_of_message);
        return verdict::carry_on;
    }
    if (!length_fits(shape->place, packet.payload().size(), path_mtu_)) {
        drop(counters_.dropped_bad_length);
        return verdict::carry_on;
    }
    if (shape->kind == message_kind::send) return on_send(packet, *shape);
    on_write(packet, *shape);
    return verdict::carry_on;
}

uc_responder::verdict uc_responder::on_send(const wire::packet_view& packet,
                                            const request_shape& shape) noexcept {
    if (starts_message(shape.place)) {
        if (receives_.empty()) {
            drop(counters_.dropped_without_receive);
            return verdict::carry_on;
        }
        message_.begin(receives_.front());
    }
    const errc status = message_.append(packet.payload(), regions_);
    if (status != errc::success) {
        interrupt();
        completions_.receive_failed(receives_.front().id, status);
        receives_.pop();
        return verdict::failed;
    }
    accept(packet, shape);
    if (!ends_message(shape.place)) return verdict::carry_on;
    const bool immediate = shape.immediate;
    complete(message_.finish(immediate ? std::optional{packet.immediate().value} : std::nullopt));
    return verdict::carry_on;
}

void uc_responder::on_write(const wire::packet_view& packet, const request_shape& shape) noexcept {
    if (!grants(granted_, memory_access::remote_write)) return drop(counters_.dropped_without_access);
    switch (write_.check(packet, shape, path_mtu_, regions_)) {
    case remote_write::verdict::no_access:
        return drop(counters_.dropped_without_access);
    case remote_write::verdict::bad_length:
        return drop(counters_.dropped_bad_length);
    case remote_write::verdict::fits:
        break;
    }
    if (shape.immediate && receives_.empty()) return drop(counters_.dropped_without_receive);
    write_.write(packet.payload());
    accept(packet, shape);
    if (!shape.immediate) return;
    work_completion c;
    c.id = receives_.front().id;
    c.op = completion_opcode::receive_rdma_write_with_immediate;
    c.has_immediate = true;
    c.immediate = packet.immediate().value;
    c.byte_len = write_.total();
    complete(c);
}

void uc_responder::accept(const wire::packet_view& packet, const request_shape& shape) noexcept {
    counters_.bytes_received += packet.payload().size();
    counters_.messages_received += ends_message(shape.place);
    sequence_.advance(shape);
}

void uc_responder::complete(work_completion c) noexcept {
    receives_.pop();
    completions_.received(c);
}

void uc_responder::flush() noexcept {
    interrupt();
    for (; !receives_.empty(); receives_.pop())
        completions_.receive_failed(receives_.front().id, errc::work_request_flushed);
}

} // namespace rocio::transport

#include "soft/send_batch.hpp"

#include "soft/soft_queue_pair.hpp"

#include <algorithm>

namespace rocio::soft {

namespace {

wire::opcode opcode_of(const transport::packet_out& p) noexcept {
    return wire::opcode{std::to_integer<std::uint8_t>(p.header.bytes().front())};
}

/// A request that leaves together with an acknowledgement is the answer somebody waits for; the
/// acknowledgement only frees a work request. Requests and responses are numbered apart, so their order among
/// each other is free. It does not join the answer in a train: the answer of a segmented send takes the peer
/// a third longer to get, the acknowledgement by itself leaves while the peer works already.
bool acknowledgement_can_wait(std::span<const transport::packet_out> packets) noexcept {
    return packets.size() >= 2 && opcode_of(packets[0]) == wire::rc::acknowledge &&
           opcode_of(packets[1]).is_request();
}

} // namespace

void send_batch::seal(const soft_queue_pair& qp, std::size_t packet, std::size_t place) {
    const transport::packet_out& p = given_[packet];
    const std::size_t pad = wire::pad_of(p.payload.size());
    const std::uint32_t icrc = qp.path().outgoing.compute(p.header.bytes(), p.payload, p.segment);
    auto& trailer = trailers_[place];
    trailer.fill(std::byte{0});
    for (std::size_t i = 0; i < wire::icrc_size; ++i)
        trailer[pad + i] = static_cast<std::byte>(icrc >> (8 * i));
    datagrams_[place] = {
        &qp.path().to, p.header.bytes(), p.payload, {trailer.data(), pad + wire::icrc_size}, p.segment};
}

bool send_batch::take_from(soft_queue_pair& qp, transport::time_point now, bool answer_first) {
    const std::size_t first = packets_;
    const std::size_t n = qp.transport().next_packets(std::span(given_).subspan(first), now);
    if (n == 0) return false;
    const bool rotate = answer_first && acknowledgement_can_wait(std::span(given_).subspan(first, n));
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t place = !rotate ? i : i == 0 ? n - 1 : i - 1;
        seal(qp, first + i, first + place);
    }
    groups_of_[groups_++] = {&qp, n, rotate};
    packets_ += n;
    return true;
}

std::uint64_t send_batch::bytes(std::size_t first_n) const noexcept {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < first_n; ++i) sum += datagrams_[i].size();
    return sum;
}

/// The transport counts from the front of what it gave. When only a part of a rotated group left, its front
/// did not: all of it is sent again, and the peer takes the copies for duplicates.
void send_batch::commit_one(const group& g, std::size_t taken, transport::time_point now) {
    const bool whole = taken >= g.count;
    g.qp->transport().commit(whole ? g.count : g.rotated ? 0 : taken, now);
}

} // namespace rocio::soft

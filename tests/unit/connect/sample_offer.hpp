#pragma once

#include "connect/rendezvous_message.hpp"

#include <tuple>

namespace rocio::test {

/// Numbers that all differ, so that a field in another's place shows.
inline rendezvous::offer sample_offer() {
    rendezvous::offer o;
    auto& p = o.side;
    p.address = *gid::parse("10.1.2.3");
    p.udp_port = 4791;
    p.path_mtu = mtu::b1024;
    p.capabilities = {true, 15, 0x00034000};
    p.queue_pair = qpn(0x123456);
    p.send_psn = psn(0xABCDEF);
    p.receive_psn = psn(0x654321);
    p.region = {0x1122334455667788, 0x0000000000200000, rkey{0xCAFEBABE}};
    p.max_payload = 8192;
    p.depth = 256;
    p.retry_count = 3;
    p.rnr_retry = 6;
    p.min_rnr_timer = rnr_timer(12);
    p.timeout = ack_timeout(14);
    o.largest_message = 4096;
    o.liveness = std::chrono::milliseconds(3000);
    return o;
}

inline auto fields(const rendezvous::offer& o) {
    const auto& p = o.side;
    return std::tuple(p.address, p.udp_port, p.path_mtu, p.capabilities.exact_icrc,
                      p.capabilities.segment_train, p.capabilities.receive_buffer, p.queue_pair, p.send_psn,
                      p.receive_psn, p.region.address, p.region.length, p.region.key, p.max_payload, p.depth,
                      p.retry_count, p.rnr_retry, p.min_rnr_timer, p.timeout, o.largest_message, o.liveness);
}

} // namespace rocio::test

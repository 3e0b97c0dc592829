#include "transport/completion_ring.hpp"

#include <algorithm>

namespace rocio::transport {

namespace {

work_completion failure(wr_id id, errc status) noexcept {
    work_completion c;
    c.id = id;
    c.status = status;
    return c;
}

} // namespace

completion_ring::completion_ring(std::uint32_t send_depth, std::uint32_t receive_depth, qpn number)
    : ring_(send_depth + receive_depth), number_(number) {}

void completion_ring::push(const work_completion& value, bool of_send) noexcept {
    place& p = ring_.push();
    p.value = value;
    p.value.queue_pair = number_;
    p.of_send = of_send;
    sends_ += of_send;
}

void completion_ring::send_succeeded(wr_id id, completion_opcode op, std::uint32_t byte_len) noexcept {
    work_completion c;
    c.id = id;
    c.op = op;
    c.byte_len = byte_len;
    push(c, true);
}

void completion_ring::received(const work_completion& completion) noexcept {
    push(completion, false);
}

void completion_ring::send_failed(wr_id id, errc status) noexcept {
    push(failure(id, status), true);
}

void completion_ring::receive_failed(wr_id id, errc status) noexcept {
    push(failure(id, status), false);
}

std::size_t completion_ring::take(std::span<work_completion> out) noexcept {
    const std::size_t n = std::min(out.size(), ring_.size());
    for (std::size_t i = 0; i < n; ++i) {
        const place& p = ring_.front();
        out[i] = p.value;
        sends_ -= p.of_send;
        ring_.pop();
    }
    return n;
}

} // namespace rocio::transport

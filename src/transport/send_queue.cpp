#include "transport/send_queue.hpp"

#include <bit>
#include <cassert>
#include <cstring>

namespace rocio::transport {

namespace {

void complete(const send_entry& e, completion_ring& completions) noexcept {
    if (e.is_read())
        completions.send_succeeded(e.id, completion_opcode::rdma_read, e.buffer.size);
    else
        completions.send_succeeded(e.id,
                                   e.is_write() ? completion_opcode::rdma_write : completion_opcode::send);
}

} // namespace

send_queue::send_queue(std::uint32_t depth, std::uint32_t max_inline)
    : entries_(depth),
      max_inline_(max_inline),
      inline_mask_(std::bit_ceil(std::uint64_t{depth}) - 1),
      inline_bytes_(std::make_unique<std::byte[]>((inline_mask_ + 1) * max_inline)) {}

void send_queue::push(const send_request& request, std::uint32_t packets) noexcept {
    const std::uint64_t index = entries_.end_index();
    send_entry& e = entries_.push();
    e.id = request.id;
    e.op = request.op;
    e.signalled = request.signalled;
    e.solicited = request.solicited;
    e.inlined = request.inlined;
    e.immediate = request.immediate;
    e.buffer = request.buffer;
    e.remote_address = request.remote_address;
    e.remote_key = request.remote_key;
    reads_ += e.is_read();
    if (request.inlined) {
        assert(request.inline_data.size() <= max_inline_);
        std::byte* copy = inline_bytes_.get() + (index & inline_mask_) * max_inline_;
        if (!request.inline_data.empty())
            std::memcpy(copy, request.inline_data.data(), request.inline_data.size());
        e.buffer = {copy, static_cast<std::uint32_t>(request.inline_data.size()), {}};
    }
    e.first = next_first_;
    e.packets = packets;
    next_first_ += packets;
}

std::size_t send_queue::acknowledge_before(packet_number end, completion_ring& completions) noexcept {
    assert(end >= unacknowledged_ && end <= next_first_);
    unacknowledged_ = end;
    std::size_t done = 0;
    for (; !entries_.empty() && entries_.front().end() <= end; ++done) {
        const send_entry& e = entries_.front();
        if (e.signalled) complete(e, completions);
        pop();
    }
    return done;
}

void send_queue::pop() noexcept {
    reads_ -= entries_.front().is_read();
    entries_.pop();
}

void send_queue::fail_front(errc status, completion_ring& completions) noexcept {
    completions.send_failed(entries_.front().id, status);
    pop();
}

void send_queue::flush(completion_ring& completions) noexcept {
    while (!entries_.empty()) fail_front(errc::work_request_flushed, completions);
}

} // namespace rocio::transport

#pragma once

#include <rocio/types/work_request.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <endian.h>
#include <infiniband/verbs.h>

namespace rocio::verbs {

/// Work requests as verbs wants them: a linked list with one scatter-gather element each, made once and
/// filled anew for every post, so that posting allocates nothing. Request is ibv_send_wr or ibv_recv_wr.
template <class Request>
class work_request_chain {
  public:
    explicit work_request_chain(std::size_t size) : requests_(size), elements_(size) {
        for (std::size_t i = 0; i < size; ++i) {
            requests_[i].sg_list = &elements_[i];
            requests_[i].next = i + 1 < size ? &requests_[i + 1] : nullptr;
        }
    }
    work_request_chain(const work_request_chain&) = delete;
    work_request_chain& operator=(const work_request_chain&) = delete;

    std::size_t size() const noexcept { return requests_.size(); }
    Request& operator[](std::size_t i) noexcept { return requests_[i]; }

    /// An empty element is none at all: some providers look its key up.
    void point(std::size_t i, const void* data, std::uint32_t length, std::uint32_t key) noexcept {
        elements_[i] = {reinterpret_cast<std::uintptr_t>(data), length, key};
        requests_[i].num_sge = length != 0 ? 1 : 0;
    }

    /// Hands the first `count` (1..size()) to post(Request* first, Request** bad), which gives 0 or an error;
    /// gives how many were accepted. A provider that fails without naming a request took none.
    template <class Post>
    std::size_t post(std::size_t count, int& result, Post&& call) noexcept {
        Request* const last = &requests_[count - 1];
        Request* const rest = last->next;
        Request* bad = nullptr;
        last->next = nullptr;
        result = call(requests_.data(), &bad);
        last->next = rest;
        if (result == 0) return count;
        return bad == nullptr ? 0 : static_cast<std::size_t>(bad - requests_.data());
    }

    /// Hands over all of them, of which the provider takes all or, with an error, none: for a chain of one.
    template <class Post>
    int post_all(Post&& call) noexcept {
        Request* bad = nullptr;
        return call(requests_.data(), &bad);
    }

  private:
    std::vector<Request> requests_;
    std::vector<ibv_sge> elements_;
};

using send_chain = work_request_chain<ibv_send_wr>;
using receive_chain = work_request_chain<ibv_recv_wr>;

inline ibv_wr_opcode opcode_of(opcode op) noexcept {
    switch (op) {
    case opcode::send:
        return IBV_WR_SEND;
    case opcode::send_with_immediate:
        return IBV_WR_SEND_WITH_IMM;
    case opcode::rdma_write:
        return IBV_WR_RDMA_WRITE;
    case opcode::rdma_write_with_immediate:
        return IBV_WR_RDMA_WRITE_WITH_IMM;
    case opcode::rdma_read:
        return IBV_WR_RDMA_READ;
    }
    return IBV_WR_SEND;
}

inline unsigned flags_of(const send_request& request) noexcept {
    return (request.signalled ? unsigned{IBV_SEND_SIGNALED} : 0U) |
           (request.solicited ? unsigned{IBV_SEND_SOLICITED} : 0U) |
           (request.inlined ? unsigned{IBV_SEND_INLINE} : 0U);
}

/// Immediates go from host to network order here, and nowhere else.
inline void fill(send_chain& chain, std::size_t i, const send_request& request) noexcept {
    ibv_send_wr& out = chain[i];
    out.wr_id = request.id.bits();
    out.opcode = opcode_of(request.op);
    out.send_flags = flags_of(request);
    out.imm_data = htobe32(request.immediate);
    out.wr.rdma.remote_addr = request.remote_address;
    out.wr.rdma.rkey = request.remote_key.value;
    if (request.inlined)
        chain.point(i, request.inline_data.data(), static_cast<std::uint32_t>(request.inline_data.size()), 0);
    else
        chain.point(i, request.buffer.data, request.buffer.size, request.buffer.key.value);
}

inline void fill(receive_chain& chain, std::size_t i, const receive_request& request) noexcept {
    chain[i].wr_id = request.id.bits();
    chain.point(i, request.buffer.data, request.buffer.size, request.buffer.key.value);
}

} // namespace rocio::verbs

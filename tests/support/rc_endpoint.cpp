#include "rc_endpoint.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace rocio::test {

namespace {

void demand(errc result) {
    if (result != errc::success) throw std::logic_error("the fixture does not reach its state");
}

} // namespace

rc_endpoint::rc_endpoint(const rc_endpoint_options& options)
    : options_(options),
      memory_(regions_, options.memory),
      remote_(regions_, remote_bytes, options.remote_rights, remote_base),
      qp_((options.unreliable ? transport::make_uc_queue_pair : transport::make_rc_queue_pair)(
          {our_number, options.send_depth, options.receive_depth, options.max_inline, options.max_message,
           options.responder_depth},
          regions_)) {}

rc_endpoint& rc_endpoint::init() {
    demand(qp_->to_init(options_.granted));
    return *this;
}

rc_endpoint& rc_endpoint::rtr() {
    demand(qp_->to_rtr({peer_number, options_.path_mtu, options_.receive_from, options_.min_rnr_timer}));
    return *this;
}

rc_endpoint& rc_endpoint::rts() {
    demand(qp_->to_rts({options_.send_from, options_.timeout, options_.retry_count, options_.rnr_retry,
                        options_.unlimited_retry, options_.window, options_.response_window,
                        options_.initiator_depth}));
    return *this;
}

send_request rc_endpoint::make_send(std::uint32_t n, std::size_t length) {
    send_request r;
    r.id = wr(n);
    r.buffer = memory_.take(length);
    fill_message(r.buffer.bytes(), n);
    sends_[n] = r.buffer;
    return r;
}

send_request rc_endpoint::make_rdma(opcode op, std::uint32_t n, std::size_t length, std::uint64_t address,
                                    std::uint32_t key) {
    send_request r = make_send(n, length);
    r.op = op;
    r.remote_address = address;
    r.remote_key = rkey{key};
    if (op == opcode::rdma_read) std::fill(r.buffer.bytes().begin(), r.buffer.bytes().end(), std::byte{0});
    return r;
}

transport::post_result rc_endpoint::receive(std::uint32_t n, std::size_t size) {
    const registered_buffer buffer = memory_.take(size);
    receives_[n] = buffer;
    return post(receive_request{wr(n), buffer});
}

void rc_endpoint::deliver(const test_packet& p) {
    const psn first = p.is_answer() ? options_.send_from : options_.receive_from;
    const auto bytes = encode(p, our_number, first + p.index);
    wire::packet_view view;
    if (wire::packet_view::parse(bytes, view) != wire::malformed::none)
        throw std::logic_error("the script's packet is malformed: " + p.text());
    deliver(view);
}

std::optional<test_packet> rc_endpoint::take_packet() {
    transport::packet_out out[1];
    if (qp_->next_packets(out, now_) == 0) return std::nullopt;
    const auto bytes = encode(out[0]);
    wire::packet_view view;
    if (wire::packet_view::parse(bytes, view) != wire::malformed::none)
        throw std::logic_error("the queue pair gave a malformed packet");
    if (view.bth().destination != peer_number)
        throw std::logic_error("the packet goes to another queue pair");
    qp_->commit(1, now_);
    const test_packet p = decode(view, options_.send_from);
    return p.is_answer() ? decode(view, options_.receive_from) : p;
}

std::vector<test_packet> rc_endpoint::take_packets() {
    std::vector<test_packet> all;
    while (auto p = take_packet()) all.push_back(*std::move(p));
    return all;
}

std::optional<work_completion> rc_endpoint::poll() {
    work_completion c;
    if (qp_->poll({&c, 1}) == 0) return std::nullopt;
    return c;
}

std::vector<work_completion> rc_endpoint::poll_all() {
    std::vector<work_completion> all;
    while (auto c = poll()) all.push_back(*c);
    return all;
}

bool rc_endpoint::wait_for_deadline() {
    const transport::time_point deadline = qp_->next_deadline();
    if (deadline == transport::never) return false;
    if (deadline > now_) now_ = deadline;
    qp_->on_deadline(now_);
    return true;
}

std::unique_ptr<rc_endpoint> init_endpoint(const rc_endpoint_options& options) {
    auto e = std::make_unique<rc_endpoint>(options);
    e->init();
    return e;
}

std::unique_ptr<rc_endpoint> rtr_endpoint(const rc_endpoint_options& options) {
    auto e = init_endpoint(options);
    e->rtr();
    return e;
}

std::unique_ptr<rc_endpoint> rts_endpoint(const rc_endpoint_options& options) {
    auto e = rtr_endpoint(options);
    e->rts();
    return e;
}

std::unique_ptr<rc_endpoint> rnr_waiting_endpoint(std::size_t length, const rc_endpoint_options& options) {
    auto e = rts_endpoint(options);
    e->send(1, length);
    e->take_packets();
    e->deliver(rnr_nak(0, 14, 0));
    return e;
}

std::unique_ptr<rc_endpoint> receiving_endpoint(const rc_endpoint_options& options) {
    auto e = rts_endpoint(options);
    const std::uint32_t size = bytes(options.path_mtu);
    e->receive(1, 2 * size);
    e->deliver(send_first(0).carrying(1, 0, size));
    return e;
}

std::unique_ptr<rc_endpoint> error_endpoint(const rc_endpoint_options& options) {
    auto e = rts_endpoint(options);
    e->qp().to_error();
    return e;
}

} // namespace rocio::test

#include "transport/connected_queue_pair.hpp"
#include "transport/requester.hpp"
#include "transport/responder.hpp"

#include <rocio/transport/rc_queue_pair.hpp>

#include <algorithm>

namespace rocio::transport {

namespace {

class rc_queue_pair final : public connected_queue_pair {
  public:
    rc_queue_pair(const queue_pair_config& config, const memory_region_table& regions)
        : connected_queue_pair(config, wire::service::rc),
          requester_(config, regions, completions_, counters_),
          responder_(config, regions, completions_, counters_) {}

    void to_error() override;
    void on_packet(const wire::packet_view& packet, time_point now) override;
    std::size_t next_packets(std::span<packet_out> out, time_point now) override;
    void commit(std::size_t n, time_point now) override;
    time_point next_deadline() const noexcept override { return requester_.next_deadline(); }
    void on_deadline(time_point now) override;
    void end_trains() noexcept override { requester_.end_trains(); }
    bool wants_to_send(time_point now) const noexcept override;
    bool access_violated() const noexcept override { return responder_.access_violated(); }

  private:
    void connect_responder(const receive_path& path, memory_access granted) noexcept override {
        responder_.connect(path, granted);
    }
    void connect_requester(const segmentation& cutter, const send_path& path) noexcept override {
        requester_.connect(cutter, path);
    }
    std::size_t sends_outstanding() const noexcept override { return requester_.outstanding(); }
    std::size_t receives_outstanding() const noexcept override { return responder_.outstanding(); }
    void take(const send_request& request) noexcept override { requester_.post(request); }
    void take(const receive_request& request) noexcept override { responder_.post(request); }
    void withdraw_offer() noexcept override;
    void flush() noexcept override;

    errc on_answer(const wire::packet_view& packet, time_point now) noexcept;
    std::size_t fill_answers(std::span<packet_out> out) noexcept;
    void fail_oldest_send(errc status) noexcept;

    requester requester_;
    responder responder_;
    /// The first packets of the last next_packets() that are the responder's.
    std::size_t offered_answers_ = 0;
};

void rc_queue_pair::flush() noexcept {
    requester_.flush();
    responder_.flush();
}

void rc_queue_pair::withdraw_offer() noexcept {
    offered_answers_ = 0;
    requester_.withdraw_offer();
    responder_.withdraw_offer();
}

void rc_queue_pair::to_error() {
    responder_.drop_reads();
    enter_error();
}

void rc_queue_pair::fail_oldest_send(errc status) noexcept {
    requester_.fail(status);
    responder_.drop_reads();
    enter_error();
}

errc rc_queue_pair::on_answer(const wire::packet_view& packet, time_point now) noexcept {
    if (packet.op() == wire::rc::acknowledge)
        return requester_.on_response(packet.bth().sequence, packet.aeth(), now);
    return requester_.on_read_response(packet, now);
}

void rc_queue_pair::on_packet(const wire::packet_view& packet, time_point now) {
    ++counters_.packets_received;
    withdraw_offer();
    const wire::opcode op = packet.op();
    const bool is_answer = op == wire::rc::acknowledge || op.what() == wire::operation::read_response;
    if (is_answer && can_send()) {
        const errc failure = on_answer(packet, now);
        if (failure != errc::success) fail_oldest_send(failure);
    } else if (can_receive() && op.type() == wire::service::rc && op.is_request()) {
        if (responder_.on_request(packet) == responder::verdict::failed) enter_error();
    } else {
        ++counters_.ignored_packets;
    }
}

bool rc_queue_pair::wants_to_send(time_point now) const noexcept {
    return responder_.wants_to_send() || (can_send() && requester_.wants_to_send(now));
}

std::size_t rc_queue_pair::fill_answers(std::span<packet_out> out) noexcept {
    const std::size_t n = responder_.fill(out);
    if (responder_.check_reads() == responder::verdict::carry_on) return n;
    enter_error();
    return responder_.fill(out);
}

std::size_t rc_queue_pair::next_packets(std::span<packet_out> out, time_point now) {
    offered_answers_ = fill_answers(out);
    if (!can_send()) return offered_answers_;
    const std::size_t requests = requester_.fill(out.subspan(offered_answers_), now);
    const std::size_t offered = offered_answers_ + requests;
    if (!requester_.buffer_refused()) return offered;
    fail_oldest_send(errc::local_protection_error);
    return offered_answers_ = fill_answers(out);
}

void rc_queue_pair::commit(std::size_t n, time_point now) {
    const std::size_t answers = std::min(n, offered_answers_);
    offered_answers_ = 0;
    responder_.commit(answers);
    requester_.commit(n - answers, now);
}

void rc_queue_pair::on_deadline(time_point now) {
    withdraw_offer();
    const errc failure = requester_.on_deadline(now);
    if (failure != errc::success) fail_oldest_send(failure);
}

} // namespace

std::unique_ptr<queue_pair> make_rc_queue_pair(const queue_pair_config& config,
                                               const memory_region_table& regions) {
    return std::make_unique<rc_queue_pair>(config, regions);
}

} // namespace rocio::transport

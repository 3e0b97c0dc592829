#include "transport/requester.hpp"
#include "transport/responder.hpp"

#include <rocio/transport/rc_queue_pair.hpp>

#include <algorithm>
#include <string>

namespace rocio::transport {

namespace {

constexpr std::uint32_t max_depth = 65'536;
constexpr std::uint32_t max_message_limit = 1U << 31; // IBA 9.7.7
constexpr std::uint32_t max_inline_limit = 4'096;
constexpr std::uint32_t max_window = 1U << 22; // far from half the ring of PSNs, with room for the oldest one
constexpr std::uint8_t max_retry = 7;

void demand(bool holds, const char* attribute, std::uint64_t asked, const char* allowed) {
    if (holds) return;
    throw exception({errc::invalid_argument, std::string("queue_pair_config::") + attribute + " is " +
                                                 std::to_string(asked) + ", allowed is " + allowed});
}

const queue_pair_config& checked(const queue_pair_config& c) {
    demand(c.send_depth >= 1 && c.send_depth <= max_depth, "send_depth", c.send_depth, "1..65536");
    demand(c.receive_depth >= 1 && c.receive_depth <= max_depth, "receive_depth", c.receive_depth,
           "1..65536");
    demand(c.max_inline <= max_inline_limit, "max_inline", c.max_inline, "0..4096");
    demand(c.max_message <= max_message_limit, "max_message", c.max_message, "0..2^31");
    return c;
}

bool legal(const flow_window& w) noexcept {
    return w.max_packets >= 1 && w.max_packets <= max_window && (w.capacity == 0 || w.cost != nullptr);
}

class rc_queue_pair final : public queue_pair {
  public:
    rc_queue_pair(const queue_pair_config& config, const memory_region_table& regions)
        : config_(checked(config)),
          completions_(config.send_depth, config.receive_depth, config.number),
          requester_(config, regions, completions_, counters_),
          responder_(config, regions, completions_, counters_) {}

    qpn number() const noexcept override { return config_.number; }
    queue_pair_state state() const noexcept override { return state_; }

    errc to_init() override;
    errc to_rtr(const receive_path& path) override;
    errc to_rts(const send_path& path) override;
    void to_error() override;

    post_result post_send(std::span<const send_request> requests) override;
    post_result post_receive(std::span<const receive_request> requests) override;

    void on_packet(const wire::packet_view& packet, time_point now) override;
    std::size_t next_packets(std::span<packet_out> out, time_point now) override;
    void commit(std::size_t n, time_point now) override;

    time_point next_deadline() const noexcept override { return requester_.next_deadline(); }
    void on_deadline(time_point now) override;

    std::size_t poll(std::span<work_completion> out) override { return completions_.take(out); }
    bool has_completions() const noexcept override { return !completions_.empty(); }
    bool wants_to_send(time_point now) const noexcept override;

    const queue_pair_counters& counters() const noexcept override { return counters_; }

  private:
    bool can_receive() const noexcept {
        return state_ == queue_pair_state::ready_to_receive || state_ == queue_pair_state::ready_to_send;
    }
    bool can_send() const noexcept { return state_ == queue_pair_state::ready_to_send; }
    errc refusal_of(const send_request& request) const noexcept;
    void withdraw_offer() noexcept;
    void fail_oldest_send(errc status) noexcept;
    void enter_error() noexcept;

    const queue_pair_config config_;
    queue_pair_state state_ = queue_pair_state::reset;
    queue_pair_counters counters_{};
    completion_ring completions_;
    requester requester_;
    responder responder_;
    segmentation cutter_{};
    std::size_t offered_answers_ =
        0; ///< The first packets of the last next_packets() that are the responder's.
};

// ---- States

errc rc_queue_pair::to_init() {
    if (state_ != queue_pair_state::reset) return errc::invalid_state;
    state_ = queue_pair_state::init;
    return errc::success;
}

errc rc_queue_pair::to_rtr(const receive_path& path) {
    if (state_ != queue_pair_state::init) return errc::invalid_state;
    if (!mtu_from_code(code(path.path_mtu))) return errc::invalid_argument;
    cutter_ = segmentation(path.peer, path.path_mtu);
    responder_.connect(path);
    state_ = queue_pair_state::ready_to_receive;
    return errc::success;
}

errc rc_queue_pair::to_rts(const send_path& path) {
    if (state_ != queue_pair_state::ready_to_receive) return errc::invalid_state;
    if (path.retry_count > max_retry || path.rnr_retry > max_retry || !legal(path.window))
        return errc::invalid_argument;
    requester_.connect(cutter_, path);
    state_ = queue_pair_state::ready_to_send;
    return errc::success;
}

void rc_queue_pair::to_error() {
    enter_error();
}

/// What is owed to the peer stays owed: a refusal must still reach it, and what was received was received.
void rc_queue_pair::enter_error() noexcept {
    state_ = queue_pair_state::error;
    withdraw_offer();
    requester_.flush();
    responder_.flush();
}

void rc_queue_pair::fail_oldest_send(errc status) noexcept {
    requester_.fail(status);
    enter_error();
}

// ---- Posting

errc rc_queue_pair::refusal_of(const send_request& r) const noexcept {
    if (r.op != opcode::send && r.op != opcode::send_with_immediate) return errc::not_supported;
    if (r.inlined && r.inline_data.size() > config_.max_inline) return errc::inline_too_long;
    if (r.length() > config_.max_message) return errc::message_too_long;
    // A place is free again when the completion has been taken, so completions can never overflow.
    if (requester_.outstanding() + completions_.sends() >= config_.send_depth) return errc::queue_full;
    return errc::success;
}

post_result rc_queue_pair::post_send(std::span<const send_request> requests) {
    if (!can_send() && state_ != queue_pair_state::error) return {0, errc::invalid_state};
    post_result result;
    for (const send_request& r : requests) {
        result.reason = refusal_of(r);
        if (result.reason != errc::success) break;
        if (can_send())
            requester_.post(r);
        else
            completions_.send_failed(r.id, errc::work_request_flushed);
        ++result.accepted;
    }
    return result;
}

post_result rc_queue_pair::post_receive(std::span<const receive_request> requests) {
    if (state_ == queue_pair_state::reset) return {0, errc::invalid_state};
    const std::size_t used = responder_.outstanding() + completions_.receives();
    const std::size_t n = std::min(requests.size(), config_.receive_depth - used);
    for (const receive_request& r : requests.first(n)) {
        if (state_ == queue_pair_state::error)
            completions_.receive_failed(r.id, errc::work_request_flushed);
        else
            responder_.post(r);
    }
    return {n, n < requests.size() ? errc::queue_full : errc::success};
}

// ---- Packets and time

void rc_queue_pair::on_packet(const wire::packet_view& packet, time_point now) {
    ++counters_.packets_received;
    withdraw_offer();
    const wire::opcode op = packet.op();
    if (op == wire::rc::acknowledge && can_send()) {
        const errc failure = requester_.on_response(packet.bth().sequence, packet.aeth(), now);
        if (failure != errc::success) fail_oldest_send(failure);
    } else if (can_receive() && op.type() == wire::service::rc && op.is_request()) {
        if (responder_.on_request(packet) == responder::verdict::failed) enter_error();
    } else {
        ++counters_.ignored_packets;
    }
}

void rc_queue_pair::withdraw_offer() noexcept {
    offered_answers_ = 0;
    requester_.withdraw_offer();
}

bool rc_queue_pair::wants_to_send(time_point now) const noexcept {
    return responder_.wants_to_send() || (can_send() && requester_.wants_to_send(now));
}

std::size_t rc_queue_pair::next_packets(std::span<packet_out> out, time_point now) {
    offered_answers_ = responder_.fill(out);
    if (!can_send()) return offered_answers_;
    const std::size_t requests = requester_.fill(out.subspan(offered_answers_), now);
    const std::size_t offered = offered_answers_ + requests;
    if (!requester_.buffer_refused()) return offered;
    fail_oldest_send(errc::local_protection_error);
    return offered_answers_ = responder_.fill(out);
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

#include "transport/connected_queue_pair.hpp"

#include "transport/remote_write.hpp"

#include <algorithm>
#include <string>

namespace rocio::transport {

namespace {

constexpr std::uint32_t max_depth = 65'536;
constexpr std::uint32_t max_inline_limit = 4'096;
constexpr std::uint32_t max_train = 64;
constexpr std::uint32_t max_window_of_trains = 128;
constexpr std::uint32_t max_window = 1U << 22; // far from half the ring of PSNs, with room for the oldest one
constexpr std::uint32_t max_read_depth = 128;
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
    demand(c.max_message <= longest_message, "max_message", c.max_message, "0..2^31");
    demand(c.responder_depth <= max_read_depth, "responder_depth", c.responder_depth, "0..128");
    return c;
}

bool legal_trains(const flow_window& w) noexcept {
    if (w.longest_train == 1) return true;
    return w.longest_train >= 1 && w.longest_train <= max_train && w.max_packets <= max_window_of_trains &&
           (w.capacity == 0 || w.train_cost != nullptr);
}

bool legal(const flow_window& w) noexcept {
    return w.max_packets >= 1 && w.max_packets <= max_window && (w.capacity == 0 || w.cost != nullptr) &&
           legal_trains(w);
}

/// Its requester keeps what each packet cost for so many of both directions.
bool legal_beside_trains(const send_path& p) noexcept {
    return p.window.longest_train == 1 || p.response_window.max_packets <= max_window_of_trains;
}

bool legal(const send_path& p) noexcept {
    return p.retry_count <= max_retry && p.rnr_retry <= max_retry && legal(p.window) &&
           legal(p.response_window) && legal_beside_trains(p) && p.initiator_depth >= 1 &&
           p.initiator_depth <= max_read_depth;
}

} // namespace

connected_queue_pair::connected_queue_pair(const queue_pair_config& config, wire::service service)
    : config_(checked(config)),
      completions_(config.send_depth, config.receive_depth, config.number),
      service_(service) {}

// ---- States

errc connected_queue_pair::to_init(memory_access remote_access) {
    if (state_ != queue_pair_state::reset) return errc::invalid_state;
    granted_ = remote_access;
    state_ = queue_pair_state::init;
    return errc::success;
}

errc connected_queue_pair::to_rtr(const receive_path& path) {
    if (state_ != queue_pair_state::init) return errc::invalid_state;
    if (!mtu_from_code(code(path.path_mtu))) return errc::invalid_argument;
    cutter_ = segmentation(path.peer, path.path_mtu, service_);
    connect_responder(path, granted_);
    state_ = queue_pair_state::ready_to_receive;
    return errc::success;
}

errc connected_queue_pair::to_rts(const send_path& path) {
    if (state_ != queue_pair_state::ready_to_receive) return errc::invalid_state;
    if (!legal(path)) return errc::invalid_argument;
    connect_requester(cutter_, path);
    state_ = queue_pair_state::ready_to_send;
    return errc::success;
}

/// What is owed to the peer stays owed: a refusal must still reach it, and what was received was received.
void connected_queue_pair::enter_error() noexcept {
    state_ = queue_pair_state::error;
    withdraw_offer();
    flush();
}

// ---- Posting

errc connected_queue_pair::refusal_of(const send_request& r) const noexcept {
    if (r.op == opcode::rdma_read) {
        if (service_ != wire::service::rc) return errc::not_supported;
        if (r.inlined) return errc::invalid_argument;
    }
    if (r.inlined && r.inline_data.size() > config_.max_inline) return errc::inline_too_long;
    if (r.length() > config_.max_message) return errc::message_too_long;
    // A place is free again when the completion has been taken, so completions can never overflow.
    if (sends_outstanding() + completions_.sends() >= config_.send_depth) return errc::queue_full;
    return errc::success;
}

post_result connected_queue_pair::post_send(std::span<const send_request> requests) {
    if (!can_send() && state_ != queue_pair_state::error) return {0, errc::invalid_state};
    post_result result;
    for (const send_request& r : requests) {
        result.reason = refusal_of(r);
        if (result.reason != errc::success) break;
        if (can_send())
            take(r);
        else
            completions_.send_failed(r.id, errc::work_request_flushed);
        ++result.accepted;
    }
    return result;
}

post_result connected_queue_pair::post_receive(std::span<const receive_request> requests) {
    if (state_ == queue_pair_state::reset) return {0, errc::invalid_state};
    const std::size_t used = receives_outstanding() + completions_.receives();
    const std::size_t n = std::min(requests.size(), config_.receive_depth - used);
    for (const receive_request& r : requests.first(n)) {
        if (state_ == queue_pair_state::error)
            completions_.receive_failed(r.id, errc::work_request_flushed);
        else
            take(r);
    }
    return {n, n < requests.size() ? errc::queue_full : errc::success};
}

} // namespace rocio::transport

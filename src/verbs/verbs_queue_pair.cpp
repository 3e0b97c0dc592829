#include "verbs/verbs_queue_pair.hpp"

#include "verbs/failure.hpp"
#include "verbs/queue_pair_config.hpp"
#include "verbs/sysfs.hpp"
#include "verbs/verbs_completion_queue.hpp"

#include <algorithm>
#include <cerrno>

namespace rocio::verbs {

namespace {

constexpr std::size_t longest_chain = 256;

std::size_t chain_length(std::uint32_t depth) noexcept {
    return std::clamp<std::size_t>(depth, 1, longest_chain);
}

} // namespace

error_info verbs_queue_pair::make(std::shared_ptr<device_core> core, const device_queue_pair_config& config,
                                  std::unique_ptr<device_queue_pair>& out) {
    auto* const completions = dynamic_cast<verbs_completion_queue*>(config.completions);
    if (completions == nullptr || completions->core() != core.get())
        return {errc::invalid_argument, "completions: a completion queue of this opened " + core->name() +
                                            " is needed; another open of it has queues of its own"};
    ibv_port_attr port{};
    if (auto bad = core->query(config.port, port)) return bad;
    if (auto bad = check_config(config, core->attributes(), core->max_inline(), core->name())) return bad;

    ibv_qp_init_attr wanted = wanted_queue_pair(config, completions->handle());
    queue_pair_handle handle(ibv_create_qp(core->protection_domain(), &wanted));
    if (!handle) return failure(errno, "ibv_create_qp", core->name(), asked_text(config));
    std::unique_ptr<verbs_queue_pair> made(
        new verbs_queue_pair(std::move(core), config, std::move(handle), wanted.cap, port.max_msg_sz));
    made->core_->add(*made);
    out = std::move(made);
    return {};
}

verbs_queue_pair::verbs_queue_pair(std::shared_ptr<device_core> core, const device_queue_pair_config& config,
                                   queue_pair_handle handle, const ibv_qp_cap& given,
                                   std::uint32_t max_message)
    : core_(std::move(core)),
      type_(config.type),
      handle_(std::move(handle)),
      capacity_{given.max_send_wr, given.max_recv_wr, given.max_inline_data},
      max_message_(max_message),
      port_(config.port),
      sends_(chain_length(given.max_send_wr)),
      receives_(chain_length(given.max_recv_wr)) {}

verbs_queue_pair::~verbs_queue_pair() {
    core_->remove(*this);
}

error_info verbs_queue_pair::need_state(queue_pair_state needed, const char* step) const {
    const queue_pair_state now = state_;
    if (now == needed) return {};
    return {errc::invalid_state, std::string(step) + " of queue pair " + std::to_string(number().value()) +
                                     " of " + core_->name() + " needs state " + std::string(name_of(needed)) +
                                     "; it is in " + std::string(name_of(now))};
}

int verbs_queue_pair::modify(queue_pair_change change) noexcept {
    const int result = ibv_modify_qp(handle_.get(), &change.attributes, change.mask);
    return result == -1 ? errno : result;
}

error_info verbs_queue_pair::to_init(const init_attributes& attributes) {
    if (auto bad = need_state(queue_pair_state::reset, "INIT")) return bad;
    if (auto bad = core_->check_gid(attributes.port, attributes.gid_index)) return bad;
    if (const int number = modify(change_to_init(type_, attributes)))
        return failure(number, "ibv_modify_qp to INIT", core_->name(), asked_text(attributes));
    port_ = attributes.port;
    gid_index_ = attributes.gid_index;
    state_ = queue_pair_state::init;
    return {};
}

error_info verbs_queue_pair::to_ready_to_receive(const connect_attributes& attributes) {
    if (auto bad = need_state(queue_pair_state::init, "RTR")) return bad;
    if (auto bad = check_peer(attributes.peer)) return bad;
    ibv_port_attr port{};
    if (auto bad = core_->query(port_, port)) return bad;
    const sysfs files;
    const std::string netdev = files.netdev(core_->name(), port_);
    if (auto bad =
            check_path(attributes.local.path_mtu, port, {core_->name(), netdev, files.netdev_mtu(netdev)}))
        return bad;
    if (attributes.gid_index) {
        if (auto bad = core_->check_gid(port_, *attributes.gid_index)) return bad;
        gid_index_ = *attributes.gid_index;
    }
    const auto change = change_to_rtr(type_, attributes, port_, gid_index_, core_->reads());
    if (const int number = modify(change))
        return route_failure(number, attributes.peer.address, gid_index_, core_->name());
    state_ = queue_pair_state::ready_to_receive;
    return {};
}

error_info verbs_queue_pair::to_ready_to_send(const connect_attributes& attributes) {
    if (auto bad = need_state(queue_pair_state::ready_to_receive, "RTS")) return bad;
    if (auto bad = check_retries(attributes.local)) return bad;
    if (const int number = modify(change_to_rts(type_, attributes, core_->reads())))
        return failure(number, "ibv_modify_qp to RTS", core_->name(), asked_text(attributes.local));
    state_ = queue_pair_state::ready_to_send;
    return {};
}

/// Verbs has no way from RESET to ERROR, so a queue pair in RESET goes by INIT. Always done, whatever we
/// believe: UC stops in the state SQE after a failed send, and there receives live on.
error_info verbs_queue_pair::to_error() {
    if (state_ == queue_pair_state::reset) {
        const init_attributes any{.port = port_, .gid_index = 0, .remote_access = memory_access::local_read};
        if (const int number = modify(change_to_init(type_, any)))
            return failure(number, "ibv_modify_qp to INIT", core_->name(), "on the way to ERROR");
    }
    state_ = queue_pair_state::error;
    if (const int number = modify(change_to_error()))
        return failure(number, "ibv_modify_qp to ERROR", core_->name(),
                       "queue pair " + std::to_string(this->number().value()));
    return {};
}

errc verbs_queue_pair::check(const send_request& request) const noexcept {
    const bool is_read = request.op == opcode::rdma_read;
    if (is_read && type_ == queue_pair_type::uc) return errc::not_supported;
    if (request.inlined && is_read) return errc::invalid_argument;
    if (request.inlined && request.inline_data.size() > capacity_.max_inline) return errc::inline_too_long;
    if (request.length() > max_message_) return errc::message_too_long;
    return errc::success;
}

/// Most calls bring one, whose chain needs no end put into it.
template <class Request, class Chain, class Call>
inline post_outcome verbs_queue_pair::post_one(const Request& request, Chain& chain, Call call) noexcept {
    if (const errc refused = check(request); refused != errc::success) [[unlikely]]
        return {0, refused};
    fill(chain, 0, request);
    if (const int result = chain.post_all(call); result != 0) [[unlikely]]
        return {0, post_error(result, errno)};
    return {1, errc::success};
}

template <class Request, class Chain, class Call>
[[gnu::noinline]] post_outcome verbs_queue_pair::post(std::span<const Request> requests, Chain& chain,
                                                      Call call) noexcept {
    post_outcome out;
    while (out.accepted < requests.size()) {
        const auto rest = requests.subspan(out.accepted);
        errc refused = errc::success;
        std::size_t count = 0;
        for (; count < std::min(rest.size(), chain.size()); ++count) {
            if ((refused = check(rest[count])) != errc::success) break;
            fill(chain, count, rest[count]);
        }
        int result = 0;
        if (count != 0) out.accepted += chain.post(count, result, call);
        out.reason = result != 0 ? post_error(result, errno) : refused;
        if (out.reason != errc::success) break;
    }
    return out;
}

[[gnu::flatten]] post_outcome verbs_queue_pair::post_send(std::span<const send_request> requests) noexcept {
    const auto call = [this](ibv_send_wr* first, ibv_send_wr** bad) {
        return ibv_post_send(handle_.get(), first, bad);
    };
    const queue_pair_state now = state_;
    if (now != queue_pair_state::ready_to_send && now != queue_pair_state::error) [[unlikely]]
        return {0, requests.empty() ? errc::success : errc::invalid_state};
    if (requests.size() == 1) [[likely]]
        return post_one(requests.front(), one_send_, call);
    return post(requests, sends_, call);
}

/// In RESET the system would drop them without a completion.
[[gnu::flatten]] post_outcome
verbs_queue_pair::post_receive(std::span<const receive_request> requests) noexcept {
    const auto call = [this](ibv_recv_wr* first, ibv_recv_wr** bad) {
        return ibv_post_recv(handle_.get(), first, bad);
    };
    if (state_ == queue_pair_state::reset) [[unlikely]]
        return {0, requests.empty() ? errc::success : errc::invalid_state};
    if (requests.size() == 1) [[likely]]
        return post_one(requests.front(), one_receive_, call);
    return post(requests, receives_, call);
}

} // namespace rocio::verbs

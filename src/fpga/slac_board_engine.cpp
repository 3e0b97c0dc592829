// The metadata bus of slac_board and the objects behind it.

#include <rocio/fpga/slac_board.hpp>
#include <rocio/types/mtu.hpp>

#include <algorithm>
#include <utility>

namespace rocio::fpga {

namespace {

constexpr std::uint32_t qpn_mask = 0xFF'FFFF;
constexpr std::uint32_t reliable_connection = 2;

std::uint32_t low(std::uint64_t value) {
    return static_cast<std::uint32_t>(value);
}

bool may_go(std::uint64_t from, std::uint64_t to) {
    using namespace slac_qp_state;
    if (to == error || to == reset) return true;
    if (to == init) return from == create || from == reset || from == init;
    if (to == rtr) return from == init;
    if (to == rts) return from == rtr || from == rts;
    return false;
}

/// What a transition needs (IBA 10.3.1, with the masks that surf sends).
std::uint64_t needed_mask(std::uint64_t to) {
    using namespace slac_qp_state;
    if (to == init) return slac_qp_mask::to_init;
    if (to == rtr) return slac_qp_mask::to_rtr;
    if (to == rts) return slac_qp_mask::to_rts;
    return slac_qp_mask::state;
}

void take_attributes(slac_qp_attributes& to, const slac_qp_attributes& from, std::uint64_t mask) {
    using m = std::uint64_t slac_qp_attributes::*;
    constexpr std::array<std::pair<std::uint32_t, m>, 12> members{{
        {slac_qp_mask::access, &slac_qp_attributes::access},
        {slac_qp_mask::pkey, &slac_qp_attributes::pkey},
        {slac_qp_mask::path_mtu, &slac_qp_attributes::path_mtu},
        {slac_qp_mask::timeout, &slac_qp_attributes::timeout},
        {slac_qp_mask::retry_count, &slac_qp_attributes::retry_count},
        {slac_qp_mask::rnr_retry, &slac_qp_attributes::rnr_retry},
        {slac_qp_mask::rq_psn, &slac_qp_attributes::rq_psn},
        {slac_qp_mask::max_read_atomic, &slac_qp_attributes::max_read_atomic},
        {slac_qp_mask::min_rnr_timer, &slac_qp_attributes::min_rnr_timer},
        {slac_qp_mask::sq_psn, &slac_qp_attributes::sq_psn},
        {slac_qp_mask::max_dest_read, &slac_qp_attributes::max_dest_read},
        {slac_qp_mask::dqpn, &slac_qp_attributes::dqpn},
    }};
    for (const auto& [bit, member] : members)
        if ((mask & bit) != 0) to.*member = from.*member;
}

} // namespace

std::uint32_t slac_board::metadata_status() {
    if (busy_ && !wedged_ && next_reply_) {
        if (reads_until_reply_ == 0) {
            rx_ = *std::exchange(next_reply_, std::nullopt);
            busy_ = false;
            received_ = true;
        } else {
            --reads_until_reply_;
        }
    }
    return send_ | (received_ ? config_.map.receive_bit : 0);
}

void slac_board::write_send(std::uint32_t value) {
    const bool rises = send_ == 0 && value != 0;
    send_ = value;
    // Without a look at it the reply to a request shows as soon as it is due.
    if (reads_until_reply_ == 0) (void)metadata_status();
    if (rises && !busy_ && reset_ == 0) begin_request();
}

void slac_board::write_soft_reset(std::uint32_t value) {
    const bool rises = reset_ == 0 && value != 0;
    reset_ = value;
    if (!rises) return;
    ++resets_;
    busy_ = wedged_ = received_ = false;
    next_reply_.reset();
    clear_objects();
}

void slac_board::begin_request() {
    ++requests_;
    received_ = false;
    busy_ = true;
    reads_until_reply_ = faults_.reply_after_reads;
    if (faults_.wedge_at && --*faults_.wedge_at == 0) {
        faults_.wedge_at.reset();
        wedged_ = true;
        if (!faults_.wedge_executes) return;
    }
    slac_request request;
    // A type that it does not know goes nowhere and gets no reply.
    if (decode(tx_, request)) {
        wedged_ = true;
        return;
    }
    const auto reply = execute(request);
    if (!std::visit([](const auto& r) { return r.ok; }, reply)) ++refusals_;
    slac_reply_words words;
    (void)encode(reply, words);
    next_reply_ = words;
}

slac_reply slac_board::execute(const slac_request& request) {
    return std::visit([this](const auto& r) { return answer(r); }, request);
}

slac_reply slac_board::answer(const slac_pd_request& r) {
    slac_pd_reply reply{.ok = false, .handler = r.handler, .key = r.key};
    if (r.allocate) {
        reply.ok = !domain_;
        if (reply.ok) domain_ = low(r.key);
        reply.handler = reply.ok ? r.key : 0;
        return reply;
    }
    const bool in_use = pair_ || std::ranges::any_of(regions_, [](const auto& m) { return m.has_value(); });
    reply.ok = domain_ == low(r.handler) && !in_use;
    if (reply.ok) domain_.reset();
    return reply;
}

slac_reply slac_board::answer(const slac_mr_request& r) {
    slac_mr_reply reply;
    reply.address = r.address;
    reply.length = r.length;
    reply.access = r.access;
    reply.pd_handler = r.pd_handler;
    reply.lkey_part = r.lkey_part;
    reply.rkey_part = r.rkey_part;
    reply.lkey = r.lkey;
    reply.rkey = r.rkey;
    if (r.allocate) return allocate_region(r, reply);
    for (auto& m : regions_) {
        if (!m || m->lkey != r.lkey || domain_ != low(r.pd_handler)) continue;
        // The queue pair may have work on it until it is in ERR or gone.
        if (pair_ && pair_->attributes.state != slac_qp_state::error) break;
        m.reset();
        reply.ok = true;
        break;
    }
    return reply;
}

/// A key is the region's number above the part that the host chose.
slac_mr_reply slac_board::allocate_region(const slac_mr_request& r, slac_mr_reply reply) {
    if (domain_ != low(r.pd_handler)) return reply;
    for (std::uint32_t i = 0; i < regions_.size(); ++i) {
        if (regions_[i]) continue;
        reply.ok = true;
        reply.lkey = std::uint64_t{i} << 31 | r.lkey_part;
        reply.rkey = std::uint64_t{i} << 31 | r.rkey_part;
        regions_[i] = region{low(reply.lkey), low(reply.rkey), low(r.length), r.address};
        return reply;
    }
    return reply;
}

bool slac_board::owns(const slac_qp_request& r) const noexcept {
    return pair_ && pair_->qpn == r.qpn;
}

bool slac_board::create(const slac_qp_request& r) {
    if (pair_ || domain_ != low(r.pd_handler) || r.attributes.type != reliable_connection) return false;
    const auto number = port_.create_queue_pair(std::max(next_qpn_, 2U));
    if (number < 2 || number > qpn_mask) return false;
    pair_ = queue_pair{number, {}};
    pair_->attributes.state = slac_qp_state::create;
    pair_->attributes.type = reliable_connection;
    next_qpn_ = (pair_->qpn + 1) & qpn_mask;
    return true;
}

bool slac_board::modify(const slac_qp_request& r) {
    const auto to = r.attributes.state;
    if (!owns(r) || (r.mask & slac_qp_mask::state) == 0 || !may_go(pair_->attributes.state, to)) return false;
    const auto needed = pair_->attributes.state == to ? slac_qp_mask::state : needed_mask(to);
    if ((r.mask & needed) != needed) return false;
    if ((r.mask & slac_qp_mask::path_mtu) != 0 && !mtu_from_code(low(r.attributes.path_mtu))) return false;
    take_attributes(pair_->attributes, r.attributes, r.mask);
    pair_->attributes.state = to;
    return true;
}

slac_reply slac_board::answer(const slac_qp_request& r) {
    slac_qp_reply reply;
    reply.qpn = r.qpn;
    reply.pd_handler = r.pd_handler;
    reply.attributes = r.attributes;
    if (pair_ && owns(r)) reply.attributes = pair_->attributes;
    switch (r.operation) {
    case slac_qp_operation::create:
        reply.ok = create(r);
        if (reply.ok) reply.qpn = pair_->qpn;
        break;
    case slac_qp_operation::modify:
        reply.ok = modify(r);
        break;
    case slac_qp_operation::query:
        reply.ok = owns(r);
        break;
    case slac_qp_operation::destroy:
        reply.ok = owns(r) && pair_->attributes.state == slac_qp_state::error;
        if (reply.ok) drop_pair();
        return reply;
    }
    if (pair_ && (owns(r) || reply.ok)) reply.attributes = pair_->attributes;
    return reply;
}

void slac_board::drop_pair() {
    if (!pair_) return;
    pair_.reset();
    port_.destroy_queue_pair();
}

void slac_board::clear_objects() {
    domain_.reset();
    regions_ = {};
    drop_pair();
}

void slac_board::leave_stale_resources() {
    constexpr std::uint32_t key = 0x0BAD'5E55;
    clear_objects();
    domain_ = key;
    regions_[0] = region{key & 0x7FFF'FFFF, 1, 4096, 0};
    regions_[1] = region{0x8000'0000 | key, 2, 4096, 0};
    pair_ = queue_pair{std::max(next_qpn_, 2U), {}};
    pair_->attributes.state = slac_qp_state::rts;
    pair_->attributes.path_mtu = code(mtu::b4096);
    update();
}

std::size_t slac_board::resources_allocated() const noexcept {
    const auto regions = std::ranges::count_if(regions_, [](const auto& m) { return m.has_value(); });
    return (domain_ ? 1U : 0U) + static_cast<std::size_t>(regions) + (pair_ ? 1U : 0U);
}

} // namespace rocio::fpga

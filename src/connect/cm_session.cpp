#include "connect/cm_session.hpp"

#include "connect/cm_endpoint_conversion.hpp"
#include "connect/cm_failure.hpp"
#include "connect/tcp_socket.hpp"

#include <algorithm>

namespace rocio::detail {

namespace {

/// A connection gets a handful of events; more than this, and the oldest have lost their meaning.
constexpr std::size_t most_events = 16;

rendezvous::refusal refusal_of(const error_info& e) {
    return {rendezvous::reason_of(e.code), e.text};
}

bool same_family(const gid& a, const gid& b) noexcept {
    return a.is_v4_mapped() == b.is_v4_mapped();
}

} // namespace

cm_session::cm_session(std::shared_ptr<cm_channel> channel, const cm_endpoint& peer, const cm_config& config)
    : handshake_session(channel->strand(), config.handshakes),
      channel_(std::move(channel)),
      alarm_(strand_),
      peer_(peer),
      config_(config),
      connecting_(true) {}

cm_session::cm_session(std::shared_ptr<cm_channel> channel, const cm_event& request, const cm_config& config)
    : cm_session(std::move(channel), cm_endpoint{}, config) {
    connecting_ = false;
    id_ = request.connection;
    stage_ = cm_stage::requested;
    request_ = request.data;
    peer_ = channel_->manager().peer_endpoint(id_);
    keep_private_data(request.data);
    attempt_.begin(peer_text());
}

cm_session::~cm_session() {
    forget();
}

void cm_session::attach() {
    channel_->attach(id_, std::weak_ptr<cm_event_target>(shared_from_this()));
}

void cm_session::forget() noexcept {
    stage_ = cm_stage::over;
    if (id_ != cm_id::none) channel_->destroy(std::exchange(id_, cm_id::none));
}

std::string cm_session::peer_text() const {
    return to_text(to_asio(peer_));
}

std::vector<std::byte> cm_session::private_data() const {
    const std::lock_guard held(data_mutex_);
    return private_data_;
}

void cm_session::keep_private_data(const cm_private_data& data) {
    const auto bytes = data.view();
    const std::lock_guard held(data_mutex_);
    private_data_.assign(bytes.begin(), bytes.end());
}

void cm_session::on_cancel(const operation& op) {
    if (current_ == &op) alarm_.cancel();
}

void cm_session::on_event(const cm_event& event) {
    // A request that nobody has taken up yet goes out of the way when its program gives up.
    if (!current_ && !exchanged_ && stage_ == cm_stage::requested &&
        outcome_of(stage_, event.kind) == cm_outcome::failed)
        stage_ = cm_stage::over;
    if (events_.size() == most_events) events_.pop_front();
    events_.push_back(event);
    alarm_.cancel();
}

cm_session::step cm_session::begin(cm_stage stage, const char* waits_for, const char* name,
                                   std::chrono::milliseconds limit) {
    stage_ = stage;
    const auto at = steady_clock::now() + limit;
    if (at <= all_until_) return {stage, waits_for, name, limit, at};
    return {stage, waits_for, "total_deadline", config_.total_deadline, all_until_};
}

task<error_info> cm_session::wait(step s, const operation& op, cm_event& event) {
    for (;;) {
        if (op.cancelled()) co_return error_info{asio::error::operation_aborted, {}};
        while (!events_.empty()) {
            event = events_.front();
            events_.pop_front();
            const auto outcome = outcome_of(s.stage, event.kind);
            if (outcome == cm_outcome::done) co_return error_info{};
            if (outcome == cm_outcome::failed) co_return failure_of(s.stage, event, peer_text());
        }
        if (steady_clock::now() >= s.at) {
            co_return error_info{errc::handshake_timed_out, "waited " + std::to_string(s.limit.count()) +
                                                                " ms (" + s.name + ") in vain for " +
                                                                peer_text() + " to " + s.waits_for};
        }
        alarm_.expires_at(s.at);
        co_await alarm_.async_wait(as_result);
    }
}

error_info cm_session::check_events() {
    for (const auto& event : events_) {
        if (outcome_of(stage_, event.kind) == cm_outcome::failed)
            return failure_of(stage_, event, peer_text());
    }
    return {};
}

std::vector<std::byte> cm_session::our_data() const {
    if (config_.private_data) return *config_.private_data;
    return cm_greeting::encode(
        cm_greeting::greeting{ours_.region, ours_.max_payload, ours_.depth, config_.largest_message});
}

cm_offer cm_session::offer(const std::vector<std::byte>& data) const noexcept {
    return {ours_.queue_pair, ours_.retry_count, ours_.rnr_retry, data};
}

/// Our queue pair's address; if it is of the other family, the one it would choose for this peer.
error_info cm_session::source(cm_endpoint& out) const {
    out = {};
    out.scope = peer_.scope;
    out.address = ours_.address;
    if (same_family(ours_.address, peer_.address)) return {};
    for (std::uint8_t port = 1; port <= channel_->dev()->limits().ports; ++port) {
        std::vector<gid_table_entry> table;
        if (channel_->dev()->gid_table(port, table)) continue;
        const auto ours = [&](const gid_table_entry& e) { return e.value == ours_.address; };
        if (std::none_of(table.begin(), table.end(), ours)) continue;
        auto choice = choose_gid(table, {std::nullopt, peer_.address});
        if (!choice.chosen) return choice.error;
        out.address = choice.chosen->value;
        return {};
    }
    return {errc::no_usable_gid, channel_->dev()->name() + " has no address of the family of " + peer_text()};
}

std::optional<cm_greeting::greeting> cm_session::greeting_of(const cm_private_data& data,
                                                             error_info& error) const {
    if (config_.private_data) return std::nullopt; // a peer of another kind: what it sent is its own
    return cm_greeting::decode_greeting(data.view(), error);
}

/// The peer's numbers from rdma_cm, and what it said beside them.
error_info cm_session::learn(const cm_private_data& data, peer_parameters& out) {
    cm_numbers n;
    if (auto e = channel_->manager().numbers(id_, n)) return e;
    out = {};
    out.address = n.peer_address;
    out.queue_pair = n.peer_queue_pair;
    out.send_psn = n.receive_psn;
    out.receive_psn = n.send_psn;
    out.path_mtu = n.path_mtu;
    out.imposed = imposed_parameters{n.local_address, n.send_psn, n.path_mtu, n.reads_in, n.reads_out};
    error_info bad;
    const auto theirs = greeting_of(data, bad);
    if (bad) return bad;
    if (theirs) {
        out.region = theirs->region;
        out.max_payload = theirs->max_payload;
        out.depth = theirs->depth;
        const cm_greeting::greeting ours{ours_.region, ours_.max_payload, ours_.depth,
                                         config_.largest_message};
        if (auto e =
                connecting_ ? cm_greeting::check_fit(ours, *theirs) : cm_greeting::check_fit(*theirs, ours))
            return e;
    }
    return validate(out);
}

void cm_session::begin_attempt() {
    if (!connecting_) return;
    if (const auto& log = attempt_.log()) log->identify("rdma_cm", peer_text());
    attempt_.begin(peer_text());
}

task<error_info> cm_session::ask(const operation& op) {
    auto& manager = channel_->manager();
    cm_endpoint from;
    if (auto e = source(from)) co_return e;
    if (auto e = manager.create(id_)) co_return e;
    attach();
    cm_event event;

    auto s = begin(cm_stage::resolving_address, "be found", "resolve_deadline", config_.resolve_deadline);
    auto e = manager.resolve_address(id_, from, peer_, s.limit);
    if (!e) e = co_await wait(s, op, event);
    if (e) co_return e;

    s = begin(cm_stage::resolving_route, "be found a route to", "resolve_deadline", config_.resolve_deadline);
    e = manager.resolve_route(id_, s.limit);
    if (!e) e = co_await wait(s, op, event);
    if (e) co_return e;

    s = begin(cm_stage::connecting, "answer our request", "connect_deadline", config_.connect_deadline);
    const auto data = our_data();
    e = manager.connect(id_, offer(data));
    if (!e) e = co_await wait(s, op, event);
    if (e) co_return e;

    stage_ = cm_stage::responded;
    keep_private_data(event.data);
    e = learn(event.data, theirs_);
    if (e) turn_away(refusal_of(e));
    co_return e;
}

error_info cm_session::answer() {
    auto e = check_events();
    if (e) return e;
    e = learn(request_, theirs_);
    if (e) turn_away(refusal_of(e));
    return e;
}

task<cm_session::exchange_result> cm_session::exchange(cm_session_ptr self, operation_ptr op,
                                                       local_parameters local) {
    const auto first = self->connecting_ ? cm_stage::fresh : cm_stage::requested;
    if (self->current_ || self->exchanged_ || self->released_ ||
        (self->stage_ != first && self->events_.empty())) {
        const auto e =
            self->misused("async_exchange() is the first operation of a handshake, which serves one "
                          "connection: make a new one");
        co_return exchange_result{e.code, {}};
    }
    const occupancy here(*self, *op);
    const cm_channel::attendance listening(self->channel_);
    self->exchanged_ = true;
    self->begin_attempt();
    self->stage_ = first;
    self->all_until_ = steady_clock::now() + self->config_.total_deadline;
    self->ours_ = local;
    error_info e{};
    if (op->cancelled())
        e.code = asio::error::operation_aborted;
    else if (self->connecting_)
        e = co_await self->ask(*op);
    else
        e = self->answer();
    if (!e) co_return exchange_result{error_code(), self->theirs_};
    co_return exchange_result{self->remember(e).code, {}};
}

task<cm_session::step_result> cm_session::ready(cm_session_ptr self, operation_ptr op) {
    const auto before = self->connecting_ ? cm_stage::responded : cm_stage::requested;
    if (self->stage_ != before || !self->exchanged_ || self->current_) {
        co_return step_result{
            self->misused("async_ready() comes once, after a successful async_exchange()").code};
    }
    const occupancy here(*self, *op);
    const cm_channel::attendance listening(self->channel_);
    auto& manager = self->channel_->manager();
    auto e = self->check_events();
    if (op->cancelled()) e = {asio::error::operation_aborted, {}};
    if (!e && self->connecting_) e = manager.establish(self->id_);
    if (!e && !self->connecting_) {
        const auto s = self->begin(cm_stage::accepting, "confirm the connection", "ready_deadline",
                                   self->config_.ready_deadline);
        const auto data = self->our_data();
        cm_event event;
        e = manager.accept(self->id_, self->offer(data));
        if (!e) e = co_await self->wait(s, *op, event);
    }
    if (e) co_return step_result{self->remember(e).code};
    self->stage_ = cm_stage::established;
    self->attempt_.established();
    co_return step_result{error_code()};
}

} // namespace rocio::detail

#include "connect/cm_acceptor_core.hpp"

#include "connect/cm_endpoint_conversion.hpp"
#include "connect/tcp_socket.hpp"

#include <algorithm>

namespace rocio::detail {

namespace {

constexpr std::size_t most_backlog = 1024;

cm_acceptor_config checked(const cm_acceptor_config& config) {
    throw_if(validate(config));
    return config;
}

} // namespace

cm_acceptor_core::cm_acceptor_core(const asio::any_io_executor& executor, const std::shared_ptr<device>& dev,
                                   const cm_acceptor_config& config)
    : config_(checked(config)),
      channel_(std::make_shared<cm_channel>(executor, dev)),
      door_(channel_->strand(), steady_clock::time_point::max()),
      patience_(channel_->strand()) {
    const auto backlog = static_cast<int>(std::min(config_.max_waiting, most_backlog));
    throw_if(channel_->manager().listen(to_cm(config_.endpoint), backlog, id_));
    local_ = to_asio(channel_->manager().local_endpoint(id_));
    if (!config_.handshake.handshakes) config_.handshake.handshakes = std::make_shared<handshake_log>();
    config_.handshake.handshakes->identify("rdma_cm", to_text(local_));
}

cm_acceptor_core::~cm_acceptor_core() {
    if (id_ != cm_id::none) channel_->destroy(id_);
}

void cm_acceptor_core::attach() {
    channel_->attach(id_, std::weak_ptr<cm_event_target>(shared_from_this()));
}

cm_acceptor_snapshot cm_acceptor_core::snapshot() const {
    const std::lock_guard held(mutex_);
    return seen_;
}

cm_acceptor_core::turn::turn(cm_acceptor_core& core, const waiter& me) : core_(core), me_(me) {
    core_.waiters_.push_back(&me_);
}

cm_acceptor_core::turn::~turn() {
    std::erase(core_.waiters_, &me_);
    if (!core_.waiters_.empty() && !core_.visitors_.empty()) core_.call_in();
}

task<cm_acceptor_core::accept_result> cm_acceptor_core::accept(cm_acceptor_ptr self,
                                                               std::shared_ptr<waiter> me) {
    if (self->closed_) co_return accept_result{asio::error::bad_descriptor, nullptr};
    const cm_channel::attendance listening(self->channel_);
    const auto round = self->cancel_round_;
    const turn mine(*self, *me);
    for (;;) {
        if (self->closed_ || me->cancelled() || self->cancel_round_ != round)
            co_return accept_result{asio::error::operation_aborted, nullptr};
        if (mine.has_come()) {
            if (auto visitor = self->next_visitor())
                co_return accept_result{error_code(), std::move(visitor)};
        }
        if (self->failure_ && self->visitors_.empty()) co_return accept_result{self->failure_, nullptr};
        co_await self->door_.async_wait(as_result);
    }
}

void cm_acceptor_core::on_event(const cm_event& event) {
    if (event.kind == cm_event_kind::connect_request) return admit(event);
    if (event.kind != cm_event_kind::device_removal) return;
    failure_ = errc::device_fatal;
    call_in();
}

void cm_acceptor_core::admit(const cm_event& request) {
    auto session = std::make_shared<cm_session>(channel_, request, config_.handshake);
    session->attach();
    {
        const std::lock_guard held(mutex_);
        ++seen_.requests;
    }
    drop_stale();
    if (visitors_.size() >= config_.max_waiting)
        return turn_away(session, "too many connections at once", &cm_acceptor_snapshot::busy);
    visitors_.push_back({std::move(session), steady_clock::now() + config_.patience});
    count_waiting();
    if (visitors_.size() == 1) watch_patience();
    call_in();
}

void cm_acceptor_core::turn_away(const cm_session_ptr& session, const char* why,
                                 std::uint64_t cm_acceptor_snapshot::*count) {
    const auto peer = to_text(to_asio(session->peer()));
    session->turn_away({rendezvous::refusal_reason::busy, why});
    if (config_.log) config_.log->write(log_level::warning, "connect", "rejected " + peer + ": " + why);
    const std::lock_guard held(mutex_);
    ++(seen_.*count);
    seen_.last_turned_away = peer;
}

cm_session_ptr cm_acceptor_core::next_visitor() {
    drop_stale();
    if (visitors_.empty()) return nullptr;
    auto session = std::move(visitors_.front().session);
    visitors_.pop_front();
    count_waiting();
    if (visitors_.empty()) patience_.cancel();
    const std::lock_guard held(mutex_);
    ++seen_.accepted;
    return session;
}

void cm_acceptor_core::drop_stale() {
    const auto now = steady_clock::now();
    const auto before = visitors_.size();
    for (auto v = visitors_.begin(); v != visitors_.end();) {
        const bool gone = v->session->is_over();
        if (!gone && now < v->until) {
            ++v;
            continue;
        }
        turn_away(v->session,
                  gone ? "it gave up before anybody took its request up"
                       : "nobody took its request up in time",
                  &cm_acceptor_snapshot::given_up);
        v = visitors_.erase(v);
    }
    if (visitors_.size() == before) return;
    count_waiting();
    watch_patience();
}

void cm_acceptor_core::watch_patience() {
    patience_.cancel();
    if (visitors_.empty()) return;
    patience_.expires_at(visitors_.front().until);
    patience_.async_wait([weak = weak_from_this()](const error_code& ec) {
        const auto self = weak.lock();
        if (ec || !self) return;
        self->drop_stale();
        self->watch_patience();
    });
}

void cm_acceptor_core::count_waiting() {
    const std::lock_guard held(mutex_);
    seen_.waiting = visitors_.size();
}

void cm_acceptor_core::cancel_all() {
    ++cancel_round_;
    call_in();
}

void cm_acceptor_core::close() {
    closed_ = true;
    if (id_ != cm_id::none) channel_->destroy(std::exchange(id_, cm_id::none));
    for (const auto& v : visitors_)
        v.session->turn_away({rendezvous::refusal_reason::application, "the listener was closed"});
    visitors_.clear();
    patience_.cancel();
    count_waiting();
    call_in();
}

// ---- What the templates call

cm_acceptor_ptr make_cm_acceptor(const asio::any_io_executor& executor, const std::shared_ptr<device>& dev,
                                 const cm_acceptor_config& config) {
    auto made = std::make_shared<cm_acceptor_core>(executor, dev, config);
    made->attach();
    return made;
}

void start_accept(const cm_acceptor_ptr& acceptor, cm_accept_completion handler) {
    auto me = std::make_shared<cm_acceptor_core::waiter>(acceptor);
    relay_cancellation(handler.slot(), me);
    run_task(acceptor->strand(), cm_acceptor_core::accept(acceptor, me), std::move(handler));
}

void cancel(const cm_acceptor_ptr& acceptor) {
    asio::post(acceptor->strand(), [acceptor] { acceptor->cancel_all(); });
}

void close(const cm_acceptor_ptr& acceptor) {
    asio::post(acceptor->strand(), [acceptor] { acceptor->close(); });
}

void abandon(cm_acceptor_ptr&& acceptor) noexcept {
    if (!acceptor || (acceptor.use_count() == 1 && acceptor->is_alone())) return acceptor.reset();
    try {
        const auto strand = acceptor->strand();
        asio::post(strand, [acceptor = std::move(acceptor)] { acceptor->close(); });
    } catch (const std::bad_alloc&) {
        // It listens until the last of its peers is gone.
    }
}

asio::ip::tcp::endpoint local_endpoint_of(const cm_acceptor_ptr& acceptor) {
    return acceptor->local_endpoint();
}

cm_acceptor_snapshot snapshot_of(const cm_acceptor_ptr& acceptor) {
    return acceptor->snapshot();
}

handshake_snapshot handshake_of(const cm_acceptor_ptr& acceptor) {
    return acceptor->handshake();
}

} // namespace rocio::detail

#include "connect/cm_endpoint_conversion.hpp"
#include "connect/cm_failure.hpp"
#include "connect/cm_session.hpp"

namespace rocio::detail {

using namespace std::chrono_literals;

task<cm_session::step_result> cm_session::wait_lost(cm_session_ptr self, operation_ptr op) {
    if (self->released_) co_return step_result{asio::error::operation_aborted};
    if (self->stage_ != cm_stage::established || self->current_) {
        co_return step_result{
            self->misused("async_wait_lost() needs a connection: after async_ready(), once at a time").code};
    }
    const occupancy here(*self, *op);
    const cm_channel::attendance listening(self->channel_);
    const step s{cm_stage::established, "", "", 0ms, steady_clock::time_point::max()};
    cm_event event;
    const auto e = co_await self->wait(s, *op, event);
    if (e.code != asio::error::operation_aborted) {
        self->remember(e);
        // Our own goodbye confirms the peer's.
        self->stage_ = cm_stage::leaving;
        (void)self->channel_->manager().disconnect(self->id_);
        self->forget();
    }
    co_return step_result{e.code};
}

/// An error of the system here means that nothing is left to be ended.
task<void> cm_session::leave(const operation& op) {
    const auto until = [](std::chrono::milliseconds limit) { return steady_clock::now() + limit; };
    cm_event event;
    if (channel_->manager().disconnect(id_)) co_return;
    stage_ = cm_stage::leaving;
    step s{stage_, "confirm the end", "release_deadline", config_.release_deadline,
           until(config_.release_deadline)};
    const auto e = co_await wait(s, op, event);
    if (e || config_.time_wait_deadline == 0ms || event.kind == cm_event_kind::time_wait_exit) co_return;
    stage_ = cm_stage::in_time_wait;
    s = {stage_, "leave time-wait", "time_wait_deadline", config_.time_wait_deadline,
         until(config_.time_wait_deadline)};
    (void)co_await wait(s, op, event);
}

task<cm_session::step_result> cm_session::release(cm_session_ptr self) {
    co_await self->make_idle();
    const auto op = std::make_shared<operation>(self);
    const occupancy here(*self, *op);
    const cm_channel::attendance listening(self->channel_);
    const bool stands = self->stage_ == cm_stage::established || self->stage_ == cm_stage::accepting;
    const bool unanswered = self->stage_ == cm_stage::requested || self->stage_ == cm_stage::responded;
    if (stands && self->id_ != cm_id::none) {
        co_await self->leave(*op);
    } else if (unanswered) {
        self->turn_away({rendezvous::refusal_reason::application, "gave the handshake up"});
    }
    self->forget();
    co_return step_result{error_code()};
}

void cm_session::turn_away(const rendezvous::refusal& why) {
    attempt_.failed({rendezvous::error_of(why.reason), why.text});
    if (id_ == cm_id::none) return;
    // A peer that is gone already makes this fail, and then nothing is owed to it.
    (void)channel_->manager().reject(id_, cm_greeting::encode(why));
    forget();
}

void cm_session::end() {
    interrupt();
    if (!current_) forget();
}

task<cm_session::step_result> cm_session::reject(cm_session_ptr self, std::string text) {
    if (self->stage_ == cm_stage::over && !self->exchanged_ && !self->connecting_)
        co_return step_result{error_code()};
    if (self->stage_ != cm_stage::requested || self->exchanged_ || self->current_)
        co_return step_result{self->misused("async_reject() comes instead of async_exchange()").code};
    self->turn_away({rendezvous::refusal_reason::application, std::move(text)});
    co_return step_result{error_code()};
}

// ---- What the templates call

cm_session_ptr make_cm_session(const asio::any_io_executor& executor, const std::shared_ptr<device>& dev,
                               const asio::ip::tcp::endpoint& peer, const cm_config& config) {
    throw_if(validate(config));
    if (config.private_data && config.private_data->size() > cm_private_data::most_at_connect) {
        throw exception({errc::invalid_argument, "private_data is " +
                                                     std::to_string(config.private_data->size()) +
                                                     " bytes, allowed are 0..56 when connecting"});
    }
    return std::make_shared<cm_session>(std::make_shared<cm_channel>(executor, dev), to_cm(peer), config);
}

void start_cm_exchange(const cm_session_ptr& session, const local_parameters& local,
                       exchange_completion handler) {
    if (!session) return handler.post(errc::invalid_state, {});
    start_operation(session, std::move(handler), &cm_session::exchange, local);
}

void start_cm_ready(const cm_session_ptr& session, step_completion handler) {
    if (!session) return handler.post(errc::invalid_state);
    start_operation(session, std::move(handler), &cm_session::ready);
}

void start_cm_wait_lost(const cm_session_ptr& session, step_completion handler) {
    if (!session) return handler.post(errc::invalid_state);
    start_operation(session, std::move(handler), &cm_session::wait_lost);
}

void start_cm_release(const cm_session_ptr& session, step_completion handler) {
    if (!session) return handler.post(error_code());
    run_task(session->strand(), cm_session::release(session), std::move(handler));
}

void start_cm_reject(const cm_session_ptr& session, const std::string& text, step_completion handler) {
    if (!session) return handler.post(errc::invalid_state);
    run_task(session->strand(), cm_session::reject(session, text), std::move(handler));
}

error_info last_error_of(const cm_session_ptr& session) {
    return session ? session->last_error() : error_info{errc::invalid_state, "no peer"};
}

asio::ip::tcp::endpoint remote_endpoint_of(const cm_session_ptr& session) {
    return session ? to_asio(session->peer()) : asio::ip::tcp::endpoint();
}

std::vector<std::byte> private_data_of(const cm_session_ptr& session) {
    return session ? session->private_data() : std::vector<std::byte>();
}

void abandon(cm_session_ptr&& session) noexcept {
    if (!session || (session.use_count() == 1 && session->is_alone())) return session.reset();
    try {
        const auto strand = session->strand();
        asio::post(strand, [session = std::move(session)] { session->end(); });
    } catch (const std::bad_alloc&) {
        // Each step ends by its own deadline.
    }
}

} // namespace rocio::detail

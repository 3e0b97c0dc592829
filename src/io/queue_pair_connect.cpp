#include <rocio/io/detail/context_of.hpp>
#include <rocio/io/detail/queue_pair_impl.hpp>
#include <rocio/io/detail/raw_completions.hpp>

#include <boost/asio/error.hpp>

#include <chrono>
#include <exception>

namespace rocio::detail {

namespace {

/// How long a closed queue pair may take to flush its work requests. A device that needs longer has lost
/// some.
constexpr auto drain_limit = std::chrono::milliseconds{200};

} // namespace

void throw_unsupported_context() {
    throw exception(
        {errc::unsupported_context,
         "rocio objects need an executor of an asio::io_context (or a strand on one); thread_pool, "
         "system_executor and executors of your own that hide their context are not supported"});
}

asio::any_io_executor queue_pair_impl::control_executor() {
    return engine().context().get_executor();
}

error_info queue_pair_impl::prepare(local_parameters& out) {
    auto held = engine().lock();
    if (engine().is_shut_down()) return {asio::error::operation_aborted, {}};
    if (core_.is_open() && core_.pair().state() != queue_pair_state::reset && !close_reason_)
        return {errc::already_connected, "the queue pair is connected, or about to be: close() it first"};
    if (close_reason_) {
        if (raw_) raw_->forget(core_.prefix());
        destroy_pair(errc::work_request_flushed);
        if (auto e = core_.reopen(*this)) return e;
        close_reason_ = {};
        usual_ = !raw_;
        name_places();
        last_error_ = {};
    }
    if (auto e = core_.to_init()) return e;
    refill(receives_);
    out = core_.local();
    out.depth = core_.config().receive_depth;
    out.region = core_.config().region;
    return {};
}

error_info queue_pair_impl::establish(const peer_parameters& peer) {
    auto held = engine().lock();
    if (close_reason_ || !core_.is_open())
        return {asio::error::operation_aborted, "the queue pair was closed"};
    peer_ = peer;
    auto e = core_.to_ready(peer);
    engine().kick();
    return e;
}

void queue_pair_impl::connected(std::unique_ptr<liveness> watch) {
    auto held = engine().lock();
    if (close_reason_) {
        if (watch) watch->release();
        return;
    }
    watch_ = std::move(watch);
}

void queue_pair_impl::disconnected(const error_info& cause) {
    auto held = engine().lock();
    if (!close_reason_) last_error_ = cause;
    enter_closed(cause.code);
    engine().kick();
}

void queue_pair_impl::begin_drain() noexcept try {
    draining_ = true;
    drain_timer_.expires_after(drain_limit);
    drain_timer_.async_wait([self = weak_from_this(), round = ++drain_round_](const error_code& ec) {
        const auto alive = self.lock();
        if (!ec && alive) alive->drain_timed_out(round);
    });
} catch (const std::exception&) {
    // Without a limit for the wait there is no wait.
    destroy_pair(errc::work_request_flushed);
}

void queue_pair_impl::end_drain() noexcept {
    if (!draining_) return;
    draining_ = false;
    ++drain_round_;
    drain_timer_.cancel();
}

void queue_pair_impl::drain_timed_out(std::uint32_t round) noexcept {
    auto held = engine().lock();
    if (!draining_ || round != drain_round_ || engine().is_shut_down()) return;
    engine().count_incomplete_drain();
    destroy_pair(errc::work_request_flushed);
    engine().kick();
}

} // namespace rocio::detail

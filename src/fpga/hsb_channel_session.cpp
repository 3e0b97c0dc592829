#include <rocio/async/control_strand.hpp>
#include <rocio/fpga/detail/hsb_channel_session.hpp>
#include <rocio/fpga/run_program.hpp>
#include <rocio/types/handshake.hpp>
#include <rocio/types/hsb_immediate.hpp>

#include <boost/asio/post.hpp>

#include <atomic>
#include <mutex>
#include <optional>
#include <tuple>

namespace rocio::fpga::detail {

using async::as_result;
using async::control_strand;
using async::control_timer;
using async::steady_clock;
using async::task;

namespace {

/// IP version 0x2602 takes 4096 pages and has 8 bits for them in its immediates.
error_info check_immediates(const immediate_layout& layout, std::uint32_t pages) {
    if (pages <= layout.slot_mask + 1) return {};
    return {errc::invalid_argument,
            "pages is " + std::to_string(pages) + ", allowed is 1 to " +
                std::to_string(layout.slot_mask + 1) +
                ": this IP version's immediates have no room for more (0x2603: 4096)"};
}

} // namespace

/// Everything but the constructor, last_error() and snapshot() runs on the strand; at most one operation is
/// in the session at a time, the `current_` one.
class hsb_channel_session : public std::enable_shared_from_this<hsb_channel_session> {
  public:
    using operation = async::cancellable_operation<hsb_channel_session>;
    using operation_ptr = std::shared_ptr<operation>;
    using step_result = std::tuple<error_code>;
    using exchange_result = std::tuple<error_code, peer_parameters>;

    hsb_channel_session(const asio::any_io_executor& executor, const any_register_bus& bus,
                        const hsb_channel_config& config)
        : strand_(asio::make_strand(executor)), bus_(bus), config_(config), limit_(strand_), pause_(strand_) {
        shown_.fpga = config.fpga.to_address_string();
        shown_.state = "new";
        shown_.frame_size = config.frame_size;
    }

    const control_strand& strand() const noexcept { return strand_; }
    error_info last_error() const { return snapshot().last_error; }
    hsb_channel_snapshot snapshot() const {
        const std::lock_guard held(mutex_);
        return shown_;
    }

    void on_cancel(const operation& op) {
        if (current_ == &op) interrupt();
    }
    /// The owner is gone, or the peer is to be released: whatever goes on ends soon.
    void interrupt() {
        interrupted_ = true;
        if (run_) run_->cancel();
        pause_.cancel();
    }

    static task<exchange_result> exchange(hsb_channel_session_ptr self, operation_ptr op,
                                          local_parameters local);
    static task<step_result> ready(hsb_channel_session_ptr self, operation_ptr op);
    static task<step_result> wait_lost(hsb_channel_session_ptr self, operation_ptr op);
    static task<step_result> release(hsb_channel_session_ptr self);

  private:
    enum class stage : std::uint8_t { fresh, prepared, streaming, over };
    class occupancy;
    struct time_limit {
        bool over = false, expired = false;
    };

    error_code fail(error_info e) {
        const std::lock_guard held(mutex_);
        shown_.last_error = std::move(e);
        return shown_.last_error.code;
    }
    template <class Change>
    void show(Change change) {
        const std::lock_guard held(mutex_);
        change(shown_);
    }
    task<error_info> carry_out(register_program& program, const char* what, const bool& cancelled);
    task<error_info> watch(const bool& cancelled);
    task<error_info> look(const bool& cancelled, unsigned& failures);
    task<void> make_idle();
    bool releases() const noexcept {
        return !left_alone_ && (stage_ == stage::prepared || stage_ == stage::streaming);
    }

    control_strand strand_;
    any_register_bus bus_;
    hsb_channel_config config_;
    std::optional<hsb_stream_config> stream_;
    std::uint16_t version_ = 0;
    std::optional<program_run> run_;
    control_timer limit_, pause_;
    operation* current_ = nullptr;
    stage stage_ = stage::fresh;
    bool interrupted_ = false;
    bool released_ = false;
    /// Another host has the virtual port now, so it is not ours to stop; or nobody answers.
    bool left_alone_ = false;

    mutable std::mutex mutex_; ///< Guards shown_.
    hsb_channel_snapshot shown_;
};

/// The operation that is in the session while this lives.
class hsb_channel_session::occupancy {
  public:
    occupancy(hsb_channel_session& session, operation& op) : session_(session) {
        session_.current_ = &op;
        session_.interrupted_ = false;
    }
    ~occupancy() {
        session_.current_ = nullptr;
        session_.pause_.cancel();
    }
    occupancy(const occupancy&) = delete;
    occupancy& operator=(const occupancy&) = delete;

  private:
    hsb_channel_session& session_;
};

task<error_info> hsb_channel_session::carry_out(register_program& program, const char* what,
                                                const bool& cancelled) {
    if (cancelled) co_return error_info{asio::error::operation_aborted, {}};
    run_.emplace(strand_, bus_);
    auto limit = std::make_shared<time_limit>();
    limit_.expires_after(config_.step_deadline);
    limit_.async_wait([self = shared_from_this(), limit](const error_code& ec) {
        if (ec || limit->over) return;
        limit->expired = true;
        self->run_->cancel();
    });
    auto result = co_await run_->run(program);
    limit->over = true;
    limit_.cancel();
    run_.reset();
    if (cancelled || (interrupted_ && !limit->expired))
        co_return error_info{asio::error::operation_aborted, {}};
    if (limit->expired && result.code == asio::error::operation_aborted) {
        result = {errc::handshake_timed_out, std::string(what) + " took longer than " +
                                                 std::to_string(config_.step_deadline.count()) +
                                                 " ms (step_deadline)"};
    }
    co_return result;
}

task<hsb_channel_session::exchange_result>
hsb_channel_session::exchange(hsb_channel_session_ptr self, operation_ptr op, local_parameters local) {
    if (self->stage_ != stage::fresh || self->current_ || self->released_) {
        const auto ec =
            self->fail({errc::invalid_state, "async_exchange() is the first operation of a channel, "
                                             "which serves one connection: make a new one"});
        co_return exchange_result{ec, {}};
    }
    const occupancy here(*self, *op);
    hsb_stream_config stream;
    if (auto e = make_stream(self->config_, local, stream)) co_return exchange_result{self->fail(e), {}};
    hsb_prepare program(stream);
    const auto failure = co_await self->carry_out(program, "preparing the FPGA", op->cancelled());
    if (failure) co_return exchange_result{self->fail(failure), {}};
    const auto immediates = hsb_immediate_layout(program.ip_version());
    if (auto e = check_immediates(immediates, stream.pages)) co_return exchange_result{self->fail(e), {}};
    self->version_ = program.ip_version();
    self->stream_ = stream;
    self->stage_ = stage::prepared;
    self->show([&](hsb_channel_snapshot& s) {
        s.state = "prepared";
        s.ip_version = program.ip_version();
        s.page_size = stream.page_size;
        s.pages = stream.pages;
        s.queue_pair = stream.queue_pair;
        s.remote_key = stream.remote_key;
    });
    peer_parameters peer;
    peer.address = self->config_.fpga;
    peer.queue_pair = self->config_.queue_pair.value_or(local.queue_pair);
    peer.path_mtu = mtu::b4096;
    peer.immediates = immediates;
    peer.capabilities.exact_icrc = self->config_.exact_icrc;
    co_return exchange_result{error_code(), peer};
}

task<hsb_channel_session::step_result> hsb_channel_session::ready(hsb_channel_session_ptr self,
                                                                  operation_ptr op) {
    if (self->stage_ != stage::prepared || self->current_ || self->released_)
        co_return step_result{
            self->fail({errc::invalid_state, "async_ready() comes after a successful async_exchange()"})};
    const occupancy here(*self, *op);
    hsb_configure program(*self->stream_);
    const auto failure = co_await self->carry_out(program, "configuring the FPGA", op->cancelled());
    if (failure) co_return step_result{self->fail(failure)};
    self->stage_ = stage::streaming;
    self->show([&](hsb_channel_snapshot& s) {
        s.state = "streaming";
        s.packet_payload = program.packet_payload();
    });
    co_return step_result{error_code()};
}

/// One look. Gives what ends the connection.
task<error_info> hsb_channel_session::look(const bool& cancelled, unsigned& failures) {
    hsb_watch program(config_.path, stream_->queue_pair);
    auto e = co_await carry_out(program, "looking at the FPGA", cancelled);
    show([&](hsb_channel_snapshot& s) {
        ++s.looks;
        s.failures += e && !program.answered();
    });
    if (!e) failures = 0;
    if (!e || e.code == asio::error::operation_aborted) co_return e;
    left_alone_ = program.answered();
    if (program.answered()) co_return e;
    if (++failures < config_.watch_failures) co_return error_info{};
    left_alone_ = true;
    co_return error_info{errc::peer_lost, "the FPGA at " + config_.fpga.to_address_string() +
                                              " did not answer " + std::to_string(failures) +
                                              " times in a row (watch_failures): " + e.message()};
}

task<error_info> hsb_channel_session::watch(const bool& cancelled) {
    unsigned failures = 0;
    for (;;) {
        pause_.expires_after(config_.watch_interval);
        co_await pause_.async_wait(as_result);
        if (cancelled || interrupted_) co_return error_info{asio::error::operation_aborted, {}};
        auto e = co_await look(cancelled, failures);
        if (e) co_return e;
    }
}

task<hsb_channel_session::step_result> hsb_channel_session::wait_lost(hsb_channel_session_ptr self,
                                                                      operation_ptr op) {
    if (self->released_) co_return step_result{asio::error::operation_aborted};
    if (self->stage_ != stage::streaming || self->current_)
        co_return step_result{self->fail({errc::invalid_state, "async_wait_lost() needs a connection: after "
                                                               "async_ready(), once at a time"})};
    const occupancy here(*self, *op);
    if (op->cancelled()) co_return step_result{asio::error::operation_aborted};
    const auto e = co_await self->watch(op->cancelled());
    if (e.code != asio::error::operation_aborted) {
        self->fail(e);
        self->show([](hsb_channel_snapshot& s) { s.state = "lost"; });
    }
    co_return step_result{e.code};
}

/// Ends what is in the session, the first time, and waits until it has left.
task<void> hsb_channel_session::make_idle() {
    if (!std::exchange(released_, true) && current_) interrupt();
    while (current_) {
        pause_.expires_at(steady_clock::time_point::max());
        co_await pause_.async_wait(as_result);
    }
}

task<hsb_channel_session::step_result> hsb_channel_session::release(hsb_channel_session_ptr self) {
    co_await self->make_idle();
    const auto op = std::make_shared<operation>(self);
    const occupancy here(*self, *op);
    const bool ours = self->releases();
    self->stage_ = stage::over;
    if (ours) {
        hsb_unconfigure program(self->config_.path, self->version_);
        auto e = co_await self->carry_out(program, "releasing the FPGA", op->cancelled());
        if (e) self->fail(std::move(e));
    }
    self->show([](hsb_channel_snapshot& s) { s.state = "released"; });
    co_return step_result{error_code()};
}

// ---- What the template calls

namespace {

template <class Handler, class Work, class... Args>
void start_operation(const hsb_channel_session_ptr& session, Handler handler, Work work, Args&&... args) {
    auto op = std::make_shared<hsb_channel_session::operation>(session);
    async::relay_cancellation(handler.slot(), op);
    async::run_task(session->strand(), work(session, op, std::forward<Args>(args)...), std::move(handler));
}

} // namespace

hsb_channel_session_ptr make_hsb_channel_session(const asio::any_io_executor& executor,
                                                 const any_register_bus& bus,
                                                 const hsb_channel_config& config) {
    throw_if(validate(config));
    return std::make_shared<hsb_channel_session>(executor, bus, config);
}

void start_hsb_exchange(const hsb_channel_session_ptr& session, const local_parameters& local,
                        hsb_exchange_completion handler) {
    if (!session) return handler.post(errc::invalid_state, {});
    start_operation(session, std::move(handler), &hsb_channel_session::exchange, local);
}

void start_hsb_ready(const hsb_channel_session_ptr& session, hsb_channel_completion handler) {
    if (!session) return handler.post(errc::invalid_state);
    start_operation(session, std::move(handler), &hsb_channel_session::ready);
}

void start_hsb_wait_lost(const hsb_channel_session_ptr& session, hsb_channel_completion handler) {
    if (!session) return handler.post(errc::invalid_state);
    start_operation(session, std::move(handler), &hsb_channel_session::wait_lost);
}

void start_hsb_release(const hsb_channel_session_ptr& session, hsb_channel_completion handler) {
    if (!session) return handler.post(error_code());
    async::run_task(session->strand(), hsb_channel_session::release(session), std::move(handler));
}

error_info last_error_of(const hsb_channel_session_ptr& session) {
    return session ? session->last_error() : error_info{errc::invalid_state, "no connection"};
}

hsb_channel_snapshot snapshot_of(const hsb_channel_session_ptr& session) {
    return session ? session->snapshot() : hsb_channel_snapshot{};
}

void abandon(hsb_channel_session_ptr&& session) noexcept {
    const auto taken = std::move(session);
    if (!taken || taken.use_count() == 1) return;
    try {
        asio::post(taken->strand(), [taken] { taken->interrupt(); });
    } catch (const std::bad_alloc&) {
        // Each step ends by its own deadline.
    }
}

} // namespace rocio::fpga::detail

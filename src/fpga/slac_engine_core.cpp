#include "fpga/slac_engine_core.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <string>

namespace rocio::fpga::detail {

using async::as_result;
using async::steady_clock;

namespace {

error_info aborted() {
    return {asio::error::operation_aborted, "cancelled"};
}

bool is_abort(const error_info& e) {
    return e.code == asio::error::operation_aborted;
}

/// One look at one register.
class look final : public register_program {
  public:
    explicit look(std::uint32_t address) : address_(address) {}
    register_step next(time_point) override {
        if (std::exchange(begun_, true)) return register_step::end();
        return register_step::read(address_);
    }
    void on_result(const error_info& failure, std::uint32_t value, time_point) override {
        failure_ = failure;
        value_ = value;
    }
    error_info result() const override { return failure_; }
    std::uint32_t value() const noexcept { return value_; }

  private:
    std::uint32_t address_;
    bool begun_ = false;
    error_info failure_{};
    std::uint32_t value_ = 0;
};

} // namespace

/// Takes the only place for an operation.
class slac_engine_core::place {
  public:
    place(slac_engine_core& core, operation& op) : core_(core), taken_(core.current_ == nullptr) {
        if (taken_) core.current_ = &op;
    }
    place(const place&) = delete;
    place& operator=(const place&) = delete;
    ~place() {
        if (!taken_) return;
        core_.current_ = nullptr;
        core_.changed_.cancel();
    }
    bool taken() const noexcept { return taken_; }

  private:
    slac_engine_core& core_;
    bool taken_;
};

class slac_engine_core::bus_turn {
  public:
    bus_turn(slac_engine_core& core, const operation& op, program_run& run) : core_(core) {
        core_.on_bus_ = &op;
        core_.running_ = &run;
    }
    bus_turn(const bus_turn&) = delete;
    bus_turn& operator=(const bus_turn&) = delete;
    ~bus_turn() {
        core_.on_bus_ = nullptr;
        core_.running_ = nullptr;
        core_.changed_.cancel();
    }

  private:
    slac_engine_core& core_;
};

slac_engine_core::slac_engine_core(const asio::any_io_executor& executor, any_register_bus bus,
                                   const gid& fpga, const slac_engine_config& config,
                                   const slac_transport& transport)
    : strand_(asio::make_strand(executor)),
      bus_(std::move(bus)),
      fpga_(fpga),
      config_(config),
      transport_(transport),
      changed_(strand_, steady_clock::time_point::max()),
      pause_(strand_) {}

void slac_engine_core::on_cancel(const operation& op) {
    if (on_bus_ == &op) running_->cancel();
    if (current_ == &op) pause_.cancel();
    changed_.cancel();
}

void slac_engine_core::interrupt() {
    closed_ = true;
    if (current_ != nullptr) current_->cancel();
    if (running_ != nullptr) running_->cancel();
}

void slac_engine_core::before(std::shared_ptr<register_program> program) {
    const std::lock_guard held(mutex_);
    before_.push_back(std::move(program));
}

error_info slac_engine_core::last_error() const {
    const std::lock_guard held(mutex_);
    return last_error_;
}

error_info slac_engine_core::remember(error_info e) {
    if (!e) return e;
    const std::lock_guard held(mutex_);
    last_error_ = e;
    return e;
}

error_info slac_engine_core::busy(const char* what) {
    return remember({errc::invalid_state, std::string(what) + " while another operation is outstanding"});
}

// ---- Steps

slac_engine_core::task<error_info> slac_engine_core::run(const operation& op, register_program& program) {
    while (on_bus_ != nullptr && !op.cancelled()) co_await changed_.async_wait(as_result);
    if (op.cancelled() || closed_) co_return aborted();
    program_run doing(strand_, bus_);
    const bus_turn mine(*this, op, doing);
    co_return co_await doing.run(program);
}

error_info slac_engine_core::judge(const local_parameters& local) const {
    if (local.path_mtu != transport_.path_mtu) {
        return {errc::path_mtu_mismatch, "the host's queue pair has path MTU " + to_string(local.path_mtu) +
                                             ", the engine's transport " + to_string(transport_.path_mtu) +
                                             ": set both alike"};
    }
    if (local.max_payload == 0)
        return {errc::invalid_argument, "host max_payload is 0; the FPGA's frames need slots"};
    return {};
}

slac_connection slac_engine_core::connection() const {
    slac_connection c;
    c.fpga_qpn = session_->qpn.value_or(0);
    c.pd_handler = session_->pd_handler.value_or(0);
    if (session_->region) {
        c.lkey = session_->region->lkey;
        c.rkey = session_->region->rkey;
    }
    return c;
}

slac_engine_core::task<error_info> slac_engine_core::negotiate(const operation& op,
                                                               const local_parameters& local) {
    if (auto e = judge(local)) co_return e;
    std::vector<std::shared_ptr<register_program>> first;
    {
        const std::lock_guard held(mutex_);
        first.swap(before_);
    }
    for (const auto& program : first) {
        auto e = co_await run(op, *program);
        if (e) co_return e;
    }
    path_ = {local.queue_pair.value(), local.region.length, local.max_payload};
    slac_host host;
    host.qpn = local.queue_pair.value();
    host.fpga_rq_psn = local.send_psn.value();
    host.fpga_sq_psn = local.receive_psn.value();
    host.region_address = local.region.address;
    host.region_length = local.region.length;
    slac_setup program(config_, session_, host, transport_);
    co_return co_await run(op, program);
}

slac_engine_core::task<slac_engine_core::exchange_result>
slac_engine_core::exchange(slac_engine_core_ptr self, operation_ptr op, local_parameters local) {
    const place mine(*self, *op);
    if (!mine.taken()) co_return exchange_result{self->busy("async_exchange()").code, {}};
    auto e = co_await self->negotiate(*op, local);
    peer_parameters peer;
    if (!e) {
        peer.address = self->fpga_;
        peer.udp_port = static_cast<std::uint16_t>(self->config_.roce_port);
        peer.queue_pair = qpn(self->connection().fpga_qpn);
        peer.send_psn = local.receive_psn;
        peer.receive_psn = local.send_psn;
        peer.path_mtu = self->transport_.path_mtu;
        peer.region.key = rkey{self->connection().lkey};
        e = validate(peer);
    }
    if (e) co_return exchange_result{self->remember(e).code, {}};
    co_return exchange_result{error_code(), peer};
}

slac_engine_core::task<slac_engine_core::step_result> slac_engine_core::ready(slac_engine_core_ptr self,
                                                                              operation_ptr op) {
    const auto path = self->path_;
    return arm(std::move(self), std::move(op), path);
}

slac_engine_core::task<error_info> slac_engine_core::watch(const operation& op) {
    unsigned failures = 0;
    const auto address = config_.engine_base + config_.map.dispatch_enable;
    while (!op.cancelled()) {
        pause_.expires_after(config_.liveness_interval);
        co_await pause_.async_wait(as_result);
        if (op.cancelled()) break;
        look one(address);
        auto e = co_await run(op, one);
        if (op.cancelled()) break;
        session_->count(&slac_engine_snapshot::looks);
        if (!e && (one.value() & 1) == 0) {
            co_return error_info{errc::peer_lost,
                                 "the FPGA has forgotten its state (DispatchEnable reads 0 where 1 was "
                                 "written): it restarted, or somebody else switched it off; connect again"};
        }
        failures = e ? failures + 1 : 0;
        if (failures < config_.register_link_tries) continue;
        link_lost_ = true;
        co_return error_info{errc::peer_lost, "the FPGA's registers cannot be read any more (" +
                                                  std::to_string(failures) +
                                                  " times in a row): " + e.message()};
    }
    co_return aborted();
}

slac_engine_core::task<slac_engine_core::step_result> slac_engine_core::wait_lost(slac_engine_core_ptr self,
                                                                                  operation_ptr op) {
    const place mine(*self, *op);
    if (!mine.taken()) co_return step_result{self->busy("async_wait_lost()").code};
    if (!self->session_->armed) {
        const error_info e{errc::invalid_state, "async_wait_lost() needs an FPGA that async_ready() armed"};
        co_return step_result{self->remember(e).code};
    }
    const auto e = co_await self->watch(*op);
    if (!is_abort(e)) {
        self->session_->note_state("lost");
        self->session_->note_error(e);
        self->remember(e);
    }
    co_return step_result{e.code};
}

/// Each step is tried, whatever became of the one before.
slac_engine_core::task<error_info> slac_engine_core::undo_all(const operation& op) {
    auto config = config_;
    if (link_lost_) config.register_link_tries = 1;
    error_info first{};
    if (session_->armed) {
        slac_disarm program(config, session_);
        first = co_await run(op, program);
    }
    slac_teardown program(config, session_);
    auto e = co_await run(op, program);
    co_return first ? first : e;
}

slac_engine_core::task<slac_engine_core::step_result> slac_engine_core::release(slac_engine_core_ptr self,
                                                                                operation_ptr op) {
    if (self->current_ != nullptr) self->current_->cancel();
    while (self->current_ != nullptr) co_await self->changed_.async_wait(as_result);
    const place mine(*self, *op);
    const auto e = co_await self->undo_all(*op);
    self->link_lost_ = false;
    self->remember(e);
    co_return step_result{e.code};
}

// ---- The single procedures

slac_engine_core::task<slac_engine_core::setup_result>
slac_engine_core::setup(slac_engine_core_ptr self, operation_ptr op, slac_host host) {
    const place mine(*self, *op);
    if (!mine.taken()) co_return setup_result{self->busy("async_setup_connection()").code, {}};
    slac_setup program(self->config_, self->session_, host, self->transport_);
    const auto e = co_await self->run(*op, program);
    self->remember(e);
    co_return setup_result{e.code, e ? slac_connection{} : self->connection()};
}

slac_engine_core::task<slac_engine_core::step_result> slac_engine_core::teardown(slac_engine_core_ptr self,
                                                                                 operation_ptr op) {
    const place mine(*self, *op);
    if (!mine.taken()) co_return step_result{self->busy("async_teardown_connection()").code};
    slac_teardown program(self->config_, self->session_);
    const auto e = co_await self->run(*op, program);
    self->remember(e);
    co_return step_result{e.code};
}

slac_engine_core::task<slac_engine_core::step_result>
slac_engine_core::arm(slac_engine_core_ptr self, operation_ptr op, slac_data_path path) {
    const place mine(*self, *op);
    if (!mine.taken()) co_return step_result{self->busy("arming the FPGA").code};
    slac_arm program(self->config_, self->session_, path);
    const auto e = co_await self->run(*op, program);
    self->remember(e);
    co_return step_result{e.code};
}

slac_engine_core::task<slac_engine_core::step_result> slac_engine_core::disarm(slac_engine_core_ptr self,
                                                                               operation_ptr op) {
    const place mine(*self, *op);
    if (!mine.taken()) co_return step_result{self->busy("async_disarm()").code};
    slac_disarm program(self->config_, self->session_);
    const auto e = co_await self->run(*op, program);
    self->remember(e);
    co_return step_result{e.code};
}

slac_engine_core::task<slac_engine_core::counters_result>
slac_engine_core::counters(slac_engine_core_ptr self, operation_ptr op) {
    auto values = std::make_shared<slac_engine_counters>();
    slac_read_counters program(self->config_, values);
    const auto e = co_await self->run(*op, program);
    self->remember(e);
    co_return counters_result{e.code, e ? slac_engine_counters{} : *values};
}

// ---- What the templates call

namespace {

using core = slac_engine_core;

template <class Handler, class Work, class... Args>
void start(const slac_engine_core_ptr& self, Handler handler, Work work, Args&&... args) {
    auto op = std::make_shared<core::operation>(self);
    async::relay_cancellation(handler.slot(), op);
    async::run_task(self->strand(), work(self, op, std::forward<Args>(args)...), std::move(handler));
}

} // namespace

slac_engine_core_ptr make_slac_engine_core(const asio::any_io_executor& executor, any_register_bus bus,
                                           const gid& fpga, const slac_engine_config& config,
                                           const slac_transport& transport) {
    throw_if(validate(config));
    throw_if(validate(transport));
    if (fpga.is_zero() || fpga == gid::from_v4({}))
        throw exception({errc::invalid_argument, "the FPGA's address is zero; it is the peer of the frames"});
    return std::make_shared<core>(executor, std::move(bus), fpga, config, transport);
}

void run_before(const slac_engine_core_ptr& self, std::shared_ptr<register_program> program) {
    if (self && program) self->before(std::move(program));
}

void start_slac_exchange(const slac_engine_core_ptr& self, const local_parameters& local,
                         slac_exchange_completion handler) {
    if (!self) return handler.post(errc::invalid_state, {});
    start(self, std::move(handler), &core::exchange, local);
}

void start_slac_ready(const slac_engine_core_ptr& self, slac_step_completion handler) {
    if (!self) return handler.post(errc::invalid_state);
    start(self, std::move(handler), &core::ready);
}

void start_slac_wait_lost(const slac_engine_core_ptr& self, slac_step_completion handler) {
    if (!self) return handler.post(errc::invalid_state);
    start(self, std::move(handler), &core::wait_lost);
}

/// Its handler's slot cancels nothing: whoever goes away cleans up.
void start_slac_release(const slac_engine_core_ptr& self, slac_step_completion handler) {
    if (!self) return handler.post(error_code());
    async::run_task(self->strand(), core::release(self, std::make_shared<core::operation>(self)),
                    std::move(handler));
}

void start_slac_setup(const slac_engine_core_ptr& self, const slac_host& host,
                      slac_setup_completion handler) {
    if (!self) return handler.post(errc::invalid_state, {});
    start(self, std::move(handler), &core::setup, host);
}

void start_slac_teardown(const slac_engine_core_ptr& self, slac_step_completion handler) {
    if (!self) return handler.post(errc::invalid_state);
    start(self, std::move(handler), &core::teardown);
}

void start_slac_arm(const slac_engine_core_ptr& self, const slac_data_path& path,
                    slac_step_completion handler) {
    if (!self) return handler.post(errc::invalid_state);
    start(self, std::move(handler), &core::arm, path);
}

void start_slac_disarm(const slac_engine_core_ptr& self, slac_step_completion handler) {
    if (!self) return handler.post(errc::invalid_state);
    start(self, std::move(handler), &core::disarm);
}

void start_slac_counters(const slac_engine_core_ptr& self, slac_counters_completion handler) {
    if (!self) return handler.post(errc::invalid_state, {});
    start(self, std::move(handler), &core::counters);
}

error_info last_error_of(const slac_engine_core_ptr& self) {
    return self ? self->last_error() : error_info{errc::invalid_state, "a moved-from engine"};
}

slac_engine_snapshot snapshot_of(const slac_engine_core_ptr& self) {
    return self ? self->snapshot() : slac_engine_snapshot{};
}

void abandon(slac_engine_core_ptr&& self) noexcept {
    const auto taken = std::move(self);
    if (!taken || taken.use_count() == 1) return;
    try {
        asio::post(taken->strand(), [taken] { taken->interrupt(); });
    } catch (const std::bad_alloc&) {
        // The deadlines end what is still outstanding.
    }
}

} // namespace rocio::fpga::detail

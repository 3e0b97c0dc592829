#include <rocio/ring/detail/sensor_core.hpp>

#include <boost/asio/error.hpp>

#include <algorithm>
#include <chrono>

namespace rocio::detail {

namespace {

sensor_receiver_config checked(const sensor_receiver_config& config) {
    throw_if(validate(config));
    return config;
}

queue_pair_config pair_config(const sensor_receiver_config& config) {
    queue_pair_config c;
    c.type = queue_pair_type::uc;
    c.send_depth = 1;
    c.receive_depth = config.receives;
    c.max_inline = 0;
    c.port = config.port;
    c.gid_index = config.gid_index;
    c.peer_address = config.peer_address ? config.peer_address : config.local_address;
    c.local_address = config.local_address;
    c.remote_access = memory_access::remote_write;
    c.path_mtu = config.path_mtu;
    c.first_psn = psn{0};
    return c;
}

} // namespace

void cancel_sensor_operation::operator()(boost::asio::cancellation_type type) const {
    const auto target = receiver.lock();
    if (target && type != boost::asio::cancellation_type::none) target->cancel(id);
}

sensor_core::sensor_core(completion_engine& engine, const sensor_receiver_config& config)
    : config_(checked(config)),
      core_(engine, config_.device, pair_config(config_)),
      pages_(std::make_shared<sensor_pages>(config_.pages, config_.frame_size, config_.memory)),
      receives_(config_.receives),
      queue_(config_.pages) {
    for (const auto& text : pages_->memory().warnings)
        engine.log(log_level::warning, "ring", config_.name + ": " + text);
    auto held = engine.lock();
    engine.add_sweeper(*this);
}

sensor_core::~sensor_core() {
    stop();
    auto held = engine().lock();
    engine().remove_sweeper(*this);
}

// ---- Set-up and end

error_info sensor_core::open() {
    if (auto e = core_.is_open() ? error_info{} : core_.open(*this)) return e;
    if (!region_) {
        memory_region_config remote;
        remote.access = memory_access::local_write | memory_access::remote_write;
        remote.iova = 0;
        if (auto e = config_.device->register_memory(pages_->all(), remote, region_)) return e;
    }
    std::ranges::fill(receives_, receive_request{core_.id(0), {nullptr, 0, region_->local_key()}});
    return core_.to_init();
}

error_info sensor_core::setup() {
    auto held = engine().lock();
    if (phase_ == phase::stopped) return {errc::stopped, config_.name + " was stopped; make a new receiver"};
    if (phase_ != phase::fresh && phase_ != phase::disconnected) return {};
    if (engine().is_shut_down()) return {asio::error::operation_aborted, {}};
    if (auto e = open()) {
        core_.close();
        last_error_ = e;
        return e;
    }
    phase_ = phase::ready;
    last_error_ = {};
    to_post_ = config_.receives;
    (void)post_receives();
    return {};
}

local_parameters sensor_core::local() const {
    auto held = engine().lock();
    auto p = core_.local();
    p.region = {region_ ? region_->iova() : 0, pages_->all().size(),
                region_ ? region_->remote_key() : rkey{}};
    p.max_payload = pages_->page_size();
    p.depth = config_.pages;
    return p;
}

asio::any_io_executor sensor_core::control_executor() {
    return engine().context().get_executor();
}

error_info sensor_core::prepare(local_parameters& out) {
    if (auto e = setup()) return e;
    out = local();
    auto held = engine().lock();
    if (phase_ != phase::ready)
        return {errc::already_connected, config_.name + " is connected, or about to be"};
    phase_ = phase::connecting;
    begin_session();
    return {};
}

/// Kept, so that stop() ends the attempt at once and not at its deadline.
void sensor_core::connecting(std::unique_ptr<liveness> attempt) {
    auto held = engine().lock();
    if (phase_ != phase::connecting) return attempt->release();
    watch_ = std::move(attempt);
}

error_info sensor_core::establish(const peer_parameters& peer) {
    auto held = engine().lock();
    if (phase_ != phase::connecting) return {asio::error::operation_aborted, config_.name + " was stopped"};
    if (auto e = core_.to_ready(peer)) return e;
    peer_ = peer;
    engine().kick();
    return {};
}

void sensor_core::connected(std::unique_ptr<liveness> watch) {
    auto held = engine().lock();
    if (phase_ != phase::connecting) {
        if (watch) watch->release();
        return;
    }
    watch_ = std::move(watch);
    phase_ = phase::connected;
    engine().kick();
}

void sensor_core::disconnected(const error_info& cause) {
    auto held = engine().lock();
    if (active_) return end_session(cause, phase::disconnected);
    if (phase_ != phase::stopped) last_error_ = cause;
}

void sensor_core::begin_session() noexcept {
    last_error_ = {};
    active_ = true;
    numbers_ = {};
    last_number_.reset();
    unread_ = 0;
    engine().work_started();
}

/// What has arrived can still be taken.
void sensor_core::end_session(const error_info& cause, phase next) noexcept {
    if (std::exchange(active_, false)) engine().work_finished();
    phase_ = next;
    last_error_ = cause;
    if (auto watch = std::move(watch_)) watch->release();
    if (core_.is_open()) {
        (void)core_.pair().to_error();
        core_.drain();
        core_.close();
    }
    to_post_ = posted_ = 0;
    finish_operations(end_reason());
}

error_code sensor_core::end_reason() const noexcept {
    if (phase_ == phase::stopped) return errc::stopped;
    if (phase_ != phase::disconnected) return {};
    return last_error_.code ? last_error_.code : error_code(errc::not_connected);
}

void sensor_core::stop() {
    auto held = engine().lock();
    if (phase_ == phase::stopped) return;
    queue_.clear();
    end_session({errc::stopped, config_.name + " was stopped"}, phase::stopped);
    region_.reset();
    engine().kick();
}

bool sensor_core::is_connected() const {
    auto held = engine().lock();
    return phase_ == phase::connected;
}

error_info sensor_core::last_error() const {
    auto held = engine().lock();
    return last_error_;
}

void sensor_core::on_device_event(const device_event& event) noexcept {
    if (!active_) return;
    const auto name = config_.device->name();
    switch (event.kind) {
    case device_event_kind::port_error:
        if (event.port == config_.port)
            end_session(
                {errc::port_down, "port " + std::to_string(event.port) + " of " + name + " lost its link"},
                phase::disconnected);
        return;
    case device_event_kind::queue_pair_fatal:
    case device_event_kind::queue_pair_access_error:
        if (core_.is_open() && event.queue_pair == core_.pair().number())
            end_session({errc::local_operation_error, "the device failed the queue pair"},
                        phase::disconnected);
        return;
    case device_event_kind::device_fatal:
    case device_event_kind::completion_queue_error:
        return end_session({errc::device_fatal, "device " + name + " failed"}, phase::disconnected);
    default:
        return;
    }
}

void sensor_core::on_shutdown(async::operation_queue<>& pending) noexcept {
    while (auto* op = receiving_.pop()) pending.push(op);
    if (core_.is_open()) (void)core_.pair().to_error();
    active_ = false;
}

// ---- Frames

bool sensor_core::on_sweep() noexcept {
    return active_ && post_receives();
}

bool sensor_core::post_receives() noexcept {
    if (to_post_ == 0 || !core_.is_open()) return false;
    const auto outcome = core_.pair().post_receive(std::span(receives_).first(to_post_));
    const auto accepted = static_cast<std::uint32_t>(outcome.accepted);
    posted_ += accepted;
    to_post_ -= accepted;
    if (to_post_ == 0 || outcome.reason == errc::queue_full) return accepted > 0;
    if (active_) end_session({outcome.reason, "the device refused a receive"}, phase::disconnected);
    return true;
}

void sensor_core::on_completion(const work_completion& completion) noexcept {
    if (completion.id.slot != 0 || posted_ == 0) return engine().count_stale();
    --posted_;
    ++to_post_;
    if (completion.status == errc::success) return receive(completion);
    if (completion.status != errc::work_request_flushed) ++count_.errors;
    // A flush is never the cause, only its consequence; without a cause known it is the best there is.
    if (active_) end_session({completion.status, {}}, phase::disconnected);
}

void sensor_core::receive(const work_completion& completion) noexcept {
    if (completion.op != completion_opcode::receive_rdma_write_with_immediate || !completion.has_immediate) {
        ++count_.unexpected;
        return;
    }
    const auto page = completion.immediate & (peer_ ? peer_->immediates.slot_mask : 0xFFFFFFFF);
    if (page >= config_.pages) {
        ++count_.bad_page;
        return;
    }
    arrived(page, completion.immediate);
}

void sensor_core::arrived(std::uint32_t page, std::uint32_t immediate) noexcept {
    sensor_arrival a;
    a.page = page;
    a.generation = pages_->count_arrival(page);
    a.ordinal = pages_->arrivals();
    a.immediate = immediate;
    a.layout = peer_ ? peer_->immediates : immediate_layout{};
    if (pages_->held(page)) ++count_.overwritten;
    if (queue_.remove(page)) ++count_.dropped;
    a.metadata = pages_->metadata(page);
    if (!same_packet(a.layout, immediate, a.metadata.psn)) {
        // Written again before this completion was looked at; the next frame's own comes soon.
        ++count_.dropped;
        ++unread_;
        return;
    }
    a.number = numbers_.extend(a.metadata.frame_number);
    count_losses(a.number);
    a.size =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(a.metadata.bytes_written, config_.frame_size));
    a.received = std::chrono::steady_clock::now();
    ++count_.frames;
    count_.bytes += a.size;
    count_.ended_early += a.metadata.early_end ? 1 : 0;
    deliver(a);
}

void sensor_core::count_losses(std::uint32_t number) noexcept {
    const auto unread = std::exchange(unread_, 0);
    const auto before = std::exchange(last_number_, number);
    if (!before) return;
    const auto step = static_cast<std::int32_t>(number - *before);
    if (step < 1) {
        ++count_.renumbered;
        return;
    }
    const auto missing = static_cast<std::uint64_t>(step) - 1;
    if (missing > unread) count_.lost += missing - unread;
}

void sensor_core::deliver(const sensor_arrival& what) noexcept {
    if (auto* op = receiving_.pop()) {
        ++count_.delivered;
        op->set({}, sensor_frame(pages_, what));
        return engine().complete(op);
    }
    if (config_.policy == sensor_policy::latest) {
        count_.skipped += queue_.size();
        queue_.clear();
    }
    queue_.push(what);
}

/// The next frame whose page is its own.
bool sensor_core::take(sensor_arrival& out) noexcept {
    while (!queue_.empty()) {
        out = queue_.front();
        queue_.pop();
        if (pages_->still_has(out)) {
            ++count_.delivered;
            return true;
        }
        ++count_.dropped;
    }
    return false;
}

void sensor_core::start(sensor_receive_operation* op) {
    auto held = engine().lock();
    if (engine().is_shut_down()) {
        held.unlock();
        return op->destroy();
    }
    engine().work_started();
    sensor_arrival next;
    if (take(next)) {
        op->set({}, sensor_frame(pages_, next));
    } else if (const auto reason = end_reason()) {
        op->set(reason, {});
    } else {
        return receiving_.push(op);
    }
    engine().complete(op);
}

void sensor_core::cancel(std::uint64_t id) {
    auto held = engine().lock();
    for (auto* op = receiving_.front(); op; op = static_cast<sensor_receive_operation*>(op->next)) {
        if (op->id != id) continue;
        receiving_.remove(op);
        op->set(asio::error::operation_aborted, {});
        return engine().complete(op);
    }
}

void sensor_core::cancel_all(const error_code& ec) {
    auto held = engine().lock();
    finish_operations(ec);
}

void sensor_core::finish_operations(const error_code& ec) noexcept {
    while (auto* op = receiving_.pop()) {
        op->set(ec, {});
        engine().complete(op);
    }
}

sensor_receiver_snapshot sensor_core::snapshot() const {
    static constexpr const char* phases[] = {"new",       "ready",        "connecting",
                                             "connected", "disconnected", "stopped"};
    sensor_receiver_snapshot s;
    s.local = local();
    auto held = engine().lock();
    s.name = config_.name;
    s.device = config_.device->name();
    s.policy = config_.policy == sensor_policy::every ? "every" : "latest";
    s.state = phases[static_cast<std::size_t>(phase_)];
    s.frame_size = config_.frame_size;
    s.page_size = pages_->page_size();
    s.pages = config_.pages;
    s.peer = peer_;
    s.last_error = last_error_;
    s.pair_state = core_.pair_state();
    s.receives_posted = posted_;
    s.queued = queue_.size();
    s.held = pages_->held_pages();
    s.frames = count_.frames;
    s.bytes = count_.bytes;
    s.delivered = count_.delivered;
    s.skipped = count_.skipped;
    s.dropped = count_.dropped;
    s.overwritten = count_.overwritten;
    s.lost = count_.lost;
    s.ended_early = count_.ended_early;
    s.renumbered = count_.renumbered;
    s.bad_page = count_.bad_page;
    s.unexpected = count_.unexpected;
    s.receive_errors = count_.errors;
    s.last_frame_number = last_number_.value_or(0);
    s.device_counters = core_.counters();
    held.unlock();
    s.memory = pages_->memory();
    return s;
}

} // namespace rocio::detail

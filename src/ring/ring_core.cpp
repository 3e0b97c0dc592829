#include <rocio/ring/detail/ring_core.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>

namespace rocio::detail {

namespace {

ring_config checked(const ring_config& config) {
    throw_if(validate(config));
    return config;
}

/// Bytes of an answer of unified mode beyond which a copy would cost more than a NIC's read of the slot.
constexpr std::uint32_t most_worth_copying = 256;
constexpr std::uint32_t most_copies_per_signal = 32;

queue_pair_config pair_config(const ring_config& config) {
    queue_pair_config c;
    c.type = queue_pair_type::uc;
    c.send_depth = config.slots;
    c.receive_depth = config.slots;
    c.max_inline = 0;
    c.port = config.port;
    c.gid_index = config.gid_index;
    c.peer_address = config.peer_address ? config.peer_address : config.local_address;
    c.local_address = config.local_address;
    c.remote_access = memory_access::remote_write;
    c.path_mtu = config.path_mtu;
    c.first_psn = config.first_psn;
    return c;
}

} // namespace

void cancel_ring_operation::operator()(boost::asio::cancellation_type type) const {
    const auto target = ring.lock();
    if (target && type != boost::asio::cancellation_type::none) target->cancel(id);
}

ring_core::ring_core(completion_engine& engine, const ring_config& config)
    : config_(checked(config)),
      core_(engine, config_.device, pair_config(config_)),
      memory_(std::make_shared<ring_memory>(config_.slots, config_.slot_size, config_.memory)),
      tx_flags_(memory_->tx_flags()),
      send_requests_(config_.slots),
      copies_(config_.mode == ring_mode::unified ? config_.slots : 0),
      to_post_(config_.slots),
      filled_(config_.slots),
      again_(config_.slots),
      untaken_(config_.slots),
      tx_(config_.slots, send_state::idle),
      lengths_(config_.slots),
      held_(config_.slots),
      tokens_(config_.mode == ring_mode::forward ? config_.slots : 0),
      arrivals_(config_.slots),
      immediate_mask_(config_.slots - 1),
      copies_per_signal_(std::clamp(config_.slots / 2, 1U, most_copies_per_signal)) {
    send_chain_.reserve(config_.slots);
    for (const auto& text : memory_->memory().warnings)
        engine.log(log_level::warning, "ring", config_.name + ": " + text);
    auto held = engine.lock();
    engine.add_sweeper(*this);
    memory_->open([&engine] { asio::post(engine.context(), [&engine] { engine.wake(); }); });
}

ring_core::~ring_core() {
    stop();
    auto held = engine().lock();
    engine().remove_sweeper(*this);
}

/// Copies take places in the device's queues of their own, so that the others find theirs. A device may have
/// less room for work requests that carry bytes: where that is too little, none does.
error_info ring_core::open_pair() {
    auto& config = core_.mutable_config();
    const auto most = config_.mode == ring_mode::unified ? config_.device->limits().max_inline : 0;
    copied_most_ = std::min({most_worth_copying, config_.slot_size, most});
    if (copied_most_ > 0) {
        config.max_inline = copied_most_;
        config.send_depth = config_.slots + (most_signals_out + 1) * copies_per_signal_;
        if (!core_.open(*this)) return {};
    }
    copied_most_ = config.max_inline = 0;
    config.send_depth = config_.slots;
    return core_.open(*this);
}

error_info ring_core::open() {
    if (auto e = core_.is_open() ? error_info{} : open_pair()) return e;
    // Two regions, since a work request's own addresses are virtual ones, and a system device takes them as
    // those of the region that its key names.
    if (!local_region_) {
        if (auto e = config_.device->register_memory(memory_->all(), {}, local_region_)) return e;
    }
    if (!rx_region_) {
        // Addresses from 0: an HSB FPGA can name no address above 512 GiB, and the peer needs no base.
        memory_region_config remote;
        remote.access = memory_access::local_write | memory_access::remote_write;
        remote.iova = 0;
        if (auto e = config_.device->register_memory(memory_->rx(), remote, rx_region_)) return e;
    }
    for (std::uint32_t slot = 0; slot < config_.slots; ++slot) {
        const auto bytes = memory_->rx_slot(slot);
        to_post_.prebuild(slot,
                          {core_.id(slot), {bytes.data(), config_.slot_size, local_region_->local_key()}});
    }
    return core_.to_init();
}

error_info ring_core::setup() {
    auto held = engine().lock();
    if (phase_ == phase::stopped) return {errc::stopped, config_.name + " was stopped; make a new ring"};
    if (phase_ != phase::fresh && phase_ != phase::disconnected) return {};
    if (engine().is_shut_down()) return {asio::error::operation_aborted, {}};
    if (auto e = open()) {
        core_.close();
        last_error_ = e;
        return e;
    }
    reset_slots();
    enter(phase::ready);
    needs_progress_ = config_.device->needs_progress();
    copied_alone_ = needs_progress_ ? 0 : copied_most_;
    last_error_ = {};
    (void)post_receives();
    return {};
}

local_parameters ring_core::local() const {
    auto held = engine().lock();
    auto p = core_.local();
    p.region = {rx_region_ ? rx_region_->iova() : 0, memory_->rx().size(),
                rx_region_ ? rx_region_->remote_key() : rkey{}};
    p.max_payload = config_.slot_size;
    p.depth = config_.slots;
    return p;
}

error_info ring_core::connect(const peer_parameters& peer) {
    if (auto e = validate(peer)) return e;
    if (auto e = setup()) return e;
    {
        auto held = engine().lock();
        if (phase_ == phase::connected) return {};
        if (phase_ != phase::ready)
            return {errc::already_connected, config_.name + " is connected, or about to be"};
        enter(phase::connecting);
        begin_activity();
    }
    if (auto e = establish(peer)) {
        disconnected(e);
        return e;
    }
    connected(nullptr);
    return {};
}

asio::any_io_executor ring_core::control_executor() {
    return engine().context().get_executor();
}

error_info ring_core::prepare(local_parameters& out) {
    if (config_.mode == ring_mode::unified)
        return {errc::not_supported, "a ring in unified mode has no context that runs: exchange numbers with "
                                     "local() and connect() it"};
    if (auto e = setup()) return e;
    out = local();
    auto held = engine().lock();
    if (phase_ != phase::ready)
        return {errc::already_connected, config_.name + " is connected, or about to be"};
    enter(phase::connecting);
    begin_activity();
    return {};
}

namespace {

/// Another geometry than ours would corrupt slots silently: the sender numbers them by its own.
error_info check_geometry(const ring_config& ours, const peer_parameters& peer) {
    const bool told = peer.depth != 0 && peer.max_payload != 0;
    if (told && (peer.depth != ours.slots || peer.max_payload != ours.slot_size)) {
        return {errc::geometry_mismatch, "the peer has " + std::to_string(peer.depth) + " slots of " +
                                             std::to_string(peer.max_payload) + " bytes, we have " +
                                             std::to_string(ours.slots) + " of " +
                                             std::to_string(ours.slot_size) + ": set both rings alike"};
    }
    const bool writes = ours.tx_mode == ring_tx_mode::write_with_immediate && ours.mode != ring_mode::rx_only;
    if (writes && peer.region.key.value == 0) {
        return {errc::invalid_peer_parameters,
                "the peer's rkey is 0: sending by WRITE needs the one of its receive ring"};
    }
    return {};
}

} // namespace

/// Kept, so that stop() ends the attempt at once and not at its deadline.
void ring_core::connecting(std::unique_ptr<liveness> attempt) {
    auto held = engine().lock();
    if (phase_ != phase::connecting) return attempt->release();
    watch_ = std::move(attempt);
}

error_info ring_core::establish(const peer_parameters& peer) {
    auto held = engine().lock();
    if (phase_ != phase::connecting) return {asio::error::operation_aborted, config_.name + " was stopped"};
    if (auto e = check_geometry(config_, peer)) return e;
    if (auto e = core_.to_ready(peer)) return e;
    send_to(peer);
    engine().kick();
    return {};
}

void ring_core::send_to(const peer_parameters& peer) {
    peer_ = peer;
    // Where the peer's layout is known, the number must be one of our slots; where it is not, the lowest bits
    // are the slot in every layout there is.
    const auto mask = peer.immediates.slot_mask;
    immediate_mask_ = mask == 0xFFFFFFFF ? config_.slots - 1 : mask;
    const bool writes = config_.tx_mode == ring_tx_mode::write_with_immediate;
    for (std::uint32_t slot = 0; slot < config_.slots; ++slot) {
        auto& request = send_requests_[slot];
        request = {};
        request.id = core_.id(slot | send_bit);
        request.op = writes ? opcode::rdma_write_with_immediate : opcode::send;
        request.immediate = writes ? slot : 0;
        request.remote_address = peer.region.address + std::uint64_t{slot} * config_.slot_size;
        request.remote_key = peer.region.key;
        // What unified mode sends: always from the send slot.
        const auto bytes = memory_->tx_slot(slot);
        request.buffer = {bytes.data(), config_.frame_size, local_region_->local_key()};
        if (copies_.empty()) continue;
        auto& copy = copies_[slot] = request;
        copy.id = core_.id(slot | send_bit | copy_bit);
        copy.signalled = false;
        copy.inlined = true;
        copy.inline_data = bytes;
    }
}

void ring_core::connected(std::unique_ptr<liveness> watch) {
    auto held = engine().lock();
    if (phase_ != phase::connecting) {
        if (watch) watch->release();
        return;
    }
    watch_ = std::move(watch);
    enter(phase::connected);
    engine().kick();
}

void ring_core::disconnected(const error_info& cause) {
    auto held = engine().lock();
    if (active_) return end_session(cause, phase::disconnected);
    if (phase_ != phase::stopped) last_error_ = cause;
}

void ring_core::begin_activity() noexcept {
    last_error_ = {};
    active_ = true;
    if (config_.mode != ring_mode::unified) engine().work_started();
}

void ring_core::end_activity() noexcept {
    if (std::exchange(active_, false) && config_.mode != ring_mode::unified) engine().work_finished();
}

[[gnu::noinline]] void ring_core::end_session(const error_info& cause, phase next) noexcept {
    end_activity();
    enter(next);
    last_error_ = cause;
    if (auto watch = std::move(watch_)) watch->release();
    if (core_.is_open()) {
        (void)core_.pair().to_error();
        core_.drain();
        core_.close();
    }
    // Whoever waits for a send slot must not wait for ever.
    for (std::uint32_t slot = 0; slot < config_.slots; ++slot) {
        if (tx_[slot] == send_state::posted) ring_memory::store(tx_flags_[slot], 0);
        tx_[slot] = send_state::idle;
    }
    in_flight_ = posted_ = signals_out_ = 0;
    to_post_.clear();
    finish_operations(end_reason());
}

/// Slots that a reader has kept from a former session stay its own until it releases them.
void ring_core::reset_slots() noexcept {
    to_post_.clear();
    arrivals_.clear();
    taken_from_ = next_ = next_end_ = 0;
    (void)held_.take_all();
    for (std::uint32_t slot = 0; slot < config_.slots; ++slot) {
        tx_[slot] = send_state::idle;
        const bool kept = filled_.has(slot) && ring_memory::load(memory_->rx_flags()[slot]) != 0;
        again_.erase(slot);
        untaken_.erase(slot);
        if (kept) {
            held_.add({{}, slot, slot, 1, true});
        } else {
            filled_.erase(slot);
            if (receives()) to_post_.add(slot);
        }
        ring_memory::store(tx_flags_[slot], 0);
        lengths_[slot].store(0, std::memory_order_relaxed);
    }
    posted_ = in_flight_ = tx_cursor_ = tx_scan_ = 0;
}

error_code ring_core::end_reason() const noexcept {
    if (phase_ == phase::stopped) return errc::stopped;
    if (phase_ != phase::disconnected) return {};
    return last_error_.code ? last_error_.code : error_code(errc::not_connected);
}

void ring_core::stop() {
    {
        auto held = engine().lock();
        if (phase_ == phase::stopped) return;
        end_session({errc::stopped, config_.name + " was stopped"}, phase::stopped);
        rx_region_.reset();
        local_region_.reset();
        engine().kick();
    }
    // Without the engine's lock: whoever changes a flag may be about to wake the engine.
    memory_->close();
}

bool ring_core::is_connected() const {
    auto held = engine().lock();
    return phase_ == phase::connected;
}

error_info ring_core::last_error() const {
    auto held = engine().lock();
    return last_error_;
}

void ring_core::on_device_event(const device_event& event) noexcept {
    if (!active_) return;
    const auto name = config_.device->name();
    const bool ours = core_.is_open() && event.queue_pair == core_.pair().number();
    switch (event.kind) {
    case device_event_kind::port_error:
        if (event.port == config_.port)
            end_session(
                {errc::port_down, "port " + std::to_string(event.port) + " of " + name + " lost its link"},
                phase::disconnected);
        return;
    case device_event_kind::queue_pair_fatal:
    case device_event_kind::queue_pair_access_error:
        if (ours)
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

void ring_core::on_shutdown(async::operation_queue<>& pending) noexcept {
    while (auto* op = receiving_.pop()) pending.push(op);
    while (auto* op = waiting_.pop()) pending.push(op);
    if (core_.is_open()) (void)core_.pair().to_error();
    active_ = false;
    memory_->close();
}

ring_snapshot ring_core::snapshot() const {
    static constexpr const char* modes[] = {"duplex", "rx_only", "tx_only", "forward", "unified"};
    static constexpr const char* phases[] = {"new",       "ready",        "connecting",
                                             "connected", "disconnected", "stopped"};
    ring_snapshot s;
    s.local = local();
    auto held = engine().lock();
    s.name = config_.name;
    s.device = config_.device->name();
    s.mode = modes[static_cast<std::size_t>(config_.mode)];
    s.state = phases[static_cast<std::size_t>(phase_)];
    s.slots = config_.slots;
    s.slot_size = config_.slot_size;
    s.frame_size = config_.frame_size;
    s.peer = peer_;
    s.last_error = last_error_;
    s.pair_state = core_.pair_state();
    s.receives_posted = posted_;
    s.rx_held = held_.size();
    s.tx_in_flight = in_flight_;
    s.received = received_;
    s.sent = sent_ + copies_posted_ - static_cast<std::uint64_t>(unsignalled_left_) - copies_failed_;
    s.overwritten = overwritten_;
    s.bad_immediate = bad_immediate_;
    s.unexpected = unexpected_;
    s.bad_flag = bad_flag_;
    s.send_errors = send_errors_;
    s.receive_errors = receive_errors_;
    s.device_counters = core_.counters();
    s.bytes_sent = bytes_sent_ + copied_bytes_;
    held.unlock();
    s.memory = memory_->memory();
    s.held = held_times_.summary();
    return s;
}

} // namespace rocio::detail

#include "fpga/slac_hex.hpp"
#include "fpga/slac_script.hpp"

#include <rocio/fpga/slac_programs.hpp>

#include <random>

namespace rocio::fpga {

namespace {

using detail::slac_script;
using kind = slac_session::open_request;

error_info check_width(const char* what, std::uint64_t value, unsigned bits) {
    if (value >> bits == 0) return {};
    return {errc::invalid_argument, std::string("host ") + what + " is " + std::to_string(value) +
                                        ", which does not fit its " + std::to_string(bits) +
                                        " bits; allowed are 0 to " +
                                        std::to_string((std::uint64_t{1} << bits) - 1)};
}

error_info check(const slac_host& host) {
    if (auto e = check_width("queue pair number", host.qpn, 24)) return e;
    if (auto e = check_width("PSN for the FPGA's receiver", host.fpga_rq_psn, 24)) return e;
    if (auto e = check_width("PSN for the FPGA's sender", host.fpga_sq_psn, 24)) return e;
    auto e = check_width("region length", host.region_length, 32);
    if (e) e.text += "; lower max_payload or rx_queue_depth";
    return e;
}

std::uint32_t low(std::uint64_t value) {
    return static_cast<std::uint32_t>(value);
}

class setup_script final : public slac_script {
  public:
    setup_script(const slac_engine_config& config, std::shared_ptr<slac_session> session,
                 const slac_host& host, const slac_transport& transport, const slac_keys& keys)
        : slac_script(config, std::move(session)), host_(host), transport_(transport), keys_(keys) {}

  private:
    task run() override {
        auto e = judge_arguments();
        if (!e) {
            session_->note_state("setting up");
            e = co_await prepare();
            if (!e) e = co_await connect();
            if (e && session_->touched) co_await roll_back();
            session_->note_state(e ? "failed" : "set up");
        }
        if (e) session_->note_error(e);
        co_return e;
    }

    error_info judge_arguments() const {
        if (auto e = validate(config_)) return e;
        if (auto e = validate(transport_)) return e;
        if (auto e = check(host_)) return e;
        if (!session_->holds_anything()) return {};
        return {errc::invalid_state,
                "the session has a connection at the FPGA; tear it down before the next"};
    }

    /// Also stops an engine that another session left armed: it would send before we can receive.
    task prepare() {
        enter("engine check");
        auto e = co_await put(engine(config_.map.dispatch_enable), 0);
        if (e) session_->note_warning(e.text);
        bool taken = false;
        e = co_await pulse_soft_reset(taken);
        was_reset_ = taken;
        if (e) co_return e;
        enter("engine check");
        e = co_await put(engine(config_.map.send_metadata), 0);
        if (e) {
            e.text += "; check the register link and engine-base";
            co_return e;
        }
        co_return co_await wait(config_.settle_pause);
    }

    task connect() {
        auto e = co_await allocate_pd();
        if (!e) e = co_await allocate_mr();
        if (!e) e = co_await create_qp();
        if (e) co_return e;
        const auto qpn = *session_->qpn;
        const auto path_mtu = code(transport_.path_mtu);
        auto init = slac_modify_qp(qpn, slac_qp_state::init, slac_qp_mask::to_init, path_mtu);
        e = co_await transition("QP INIT", init, std::nullopt);
        if (e) co_return e;
        auto rtr = slac_modify_qp(qpn, slac_qp_state::rtr, slac_qp_mask::to_rtr, path_mtu);
        rtr.attributes.dqpn = host_.qpn;
        rtr.attributes.rq_psn = host_.fpga_rq_psn;
        rtr.attributes.min_rnr_timer = transport_.min_rnr_timer.code();
        e = co_await transition("QP RTR", rtr, slac_qp_state::init);
        if (e) co_return e;
        auto rts = slac_modify_qp(qpn, slac_qp_state::rts, slac_qp_mask::to_rts, path_mtu);
        rts.attributes.sq_psn = host_.fpga_sq_psn;
        rts.attributes.min_rnr_timer = transport_.min_rnr_timer.code();
        rts.attributes.rnr_retry = transport_.rnr_retry;
        rts.attributes.retry_count = transport_.retry_count;
        e = co_await transition("QP RTS", rts, slac_qp_state::rtr);
        co_return e;
    }

    /// The session's entry and the request's end are one: a program dropped between them would lose the
    /// object.
    void settle() {
        session_->open = kind::none;
        session_->note_identity();
    }

    error_info taken(const char* stage, const char* object, const char* how_many) const {
        std::string text = std::string(stage) + ": the FPGA refuses a " + object + "; the engine has " +
                           how_many + ", taken by a session that did not end well. ";
        text += was_reset_ ? "SoftReset did not help: reload the FPGA's firmware"
                           : "It took no SoftReset (old firmware, or soft-reset is off): reload the FPGA's "
                             "firmware";
        return {errc::refused_by_peer, text};
    }

    task allocate_pd() {
        query q{"PD allocate", slac_allocate_pd(keys_.pd_key), config_.request_deadline, kind::pd_allocate};
        auto r = co_await ask(std::move(q));
        if (r.error) co_return std::move(r.error);
        const auto& reply = std::get<slac_pd_reply>(r.reply);
        if (reply.ok) session_->pd_handler = low(reply.handler);
        settle();
        if (!reply.ok) co_return taken("PD allocate", "protection domain", "one");
        co_return error_info{};
    }

    task allocate_mr() {
        slac_mr_request what;
        what.allocate = true;
        what.address = host_.region_address;
        what.length = host_.region_length;
        what.access = 0x0F;
        what.pd_handler = *session_->pd_handler;
        what.lkey_part = keys_.lkey_part;
        what.rkey_part = keys_.rkey_part;
        query q{"MR allocate", what, config_.request_deadline, kind::mr_allocate};
        auto r = co_await ask(std::move(q));
        if (r.error) co_return std::move(r.error);
        const auto& reply = std::get<slac_mr_reply>(r.reply);
        if (reply.ok) session_->region = slac_session::region_keys{low(reply.lkey), low(reply.rkey)};
        settle();
        if (!reply.ok) co_return taken("MR allocate", "memory region", "two");
        co_return error_info{};
    }

    task create_qp() {
        query q{"QP create", slac_create_qp(*session_->pd_handler), config_.request_deadline,
                kind::qp_create};
        auto r = co_await ask(std::move(q));
        if (r.error) co_return std::move(r.error);
        const auto& reply = std::get<slac_qp_reply>(r.reply);
        if (reply.ok) session_->qpn = low(reply.qpn);
        settle();
        if (!reply.ok) co_return taken("QP create", "queue pair", "one");
        co_return error_info{};
    }

    task transition(std::string stage, slac_qp_request what, std::optional<std::uint32_t> before) {
        const auto wanted = low(what.attributes.state);
        query q{stage, what, config_.request_deadline, kind::other, before};
        auto r = co_await ask(std::move(q));
        if (r.error) co_return std::move(r.error);
        settle();
        const auto& reply = std::get<slac_qp_reply>(r.reply);
        if (reply.ok && reply.attributes.state == wanted) co_return error_info{};
        const auto state = low(reply.attributes.state);
        co_return error_info{
            errc::refused_by_peer,
            stage + ": the FPGA's queue pair " + slac_hex(low(reply.qpn)) +
                (reply.ok ? " took the request but is in state " : " refuses; its state is ") +
                slac_qp_state_name(state) + " (" + std::to_string(state) + "), not " +
                slac_qp_state_name(wanted) +
                "; try again, and reload the FPGA's firmware if that does not help"};
    }

    task roll_back() {
        session_->count(&slac_engine_snapshot::roll_backs);
        auto e = co_await clean_up();
        if (e) session_->note_warning("roll-back: " + e.text);
        co_return e;
    }

    slac_host host_;
    slac_transport transport_;
    slac_keys keys_;
    bool was_reset_ = false;
};

class teardown_script final : public slac_script {
  public:
    teardown_script(const slac_engine_config& config, std::shared_ptr<slac_session> session)
        : slac_script(config, std::move(session)) {}

  private:
    task run() override {
        if (!session_->touched && !session_->holds_anything()) co_return error_info{};
        session_->note_state("tearing down");
        auto e = co_await clean_up();
        session_->note_state(e ? "failed" : "released");
        if (e) {
            e.text += "; the FPGA keeps what it had for us until it is reset";
            session_->note_error(e);
        }
        co_return e;
    }
};

class arm_script final : public slac_script {
  public:
    arm_script(const slac_engine_config& config, std::shared_ptr<slac_session> session,
               const slac_data_path& path)
        : slac_script(config, std::move(session)), path_(path) {}

  private:
    task run() override {
        auto e = co_await arm();
        if (e) {
            session_->note_error(e);
            auto undone = co_await stop_source();
            if (undone) session_->note_warning(undone.text);
        } else {
            session_->note_state("armed");
        }
        co_return e;
    }

    task arm() {
        enter("arm");
        if (!session_->qpn || !session_->region)
            co_return error_info{errc::invalid_state, "arm: the FPGA has no connection to send on"};
        if (path_.max_payload == 0)
            co_return error_info{errc::invalid_argument, "arm: host max_payload is 0"};
        auto largest = co_await get(engine(config_.map.max_size));
        if (largest.error) co_return std::move(largest.error);
        if (largest.value > path_.max_payload) {
            co_return error_info{errc::geometry_mismatch,
                                 "arm: the FPGA sends frames of up to " + std::to_string(largest.value) +
                                     " bytes, the host's slots have max_payload " +
                                     std::to_string(path_.max_payload) + ": raise max_payload"};
        }
        auto e = co_await put_verified(engine(config_.map.lkey), session_->region->lkey);
        if (!e) e = co_await put_verified(engine(config_.map.sqpn), source_qpn());
        if (!e) e = co_await put_verified(engine(config_.map.address_wrap_count), counter_wrap());
        if (!e) e = co_await toggle(engine(config_.map.reset_counters));
        if (e) co_return e;
        session_->armed = true;
        e = co_await put_verified(engine(config_.map.dispatch_enable), 1);
        if (!e && config_.prbs_base) e = co_await start_prbs();
        co_return e;
    }

    std::uint32_t source_qpn() const {
        return config_.sqpn == slac_sqpn::host ? path_.host_qpn : *session_->qpn;
    }
    std::uint32_t counter_wrap() const {
        if (config_.counter_wrap) return *config_.counter_wrap;
        return low(path_.region_length / path_.max_payload);
    }
    task start_prbs() {
        const auto control = *config_.prbs_base + config_.map.prbs_control;
        auto was = co_await get(control);
        if (was.error) co_return std::move(was.error);
        co_return co_await put(control, was.value | slac_prbs::axi_enable | slac_prbs::tx_enable);
    }

    slac_data_path path_;
};

class disarm_script final : public slac_script {
  public:
    disarm_script(const slac_engine_config& config, std::shared_ptr<slac_session> session)
        : slac_script(config, std::move(session)) {}

  private:
    /// Also when nothing is known to be armed: whoever asks for it wants silence.
    task run() override {
        session_->armed = true;
        auto e = co_await stop_source();
        if (e)
            session_->note_error(e);
        else if (session_->qpn)
            session_->note_state("set up");
        co_return e;
    }
};

class counters_script final : public slac_script {
  public:
    counters_script(const slac_engine_config& config, std::shared_ptr<slac_engine_counters> out)
        : slac_script(config, std::make_shared<slac_session>()), out_(std::move(out)) {}

  private:
    task run() override {
        enter("counters");
        const auto& map = config_.map;
        slac_engine_counters c;
        auto e = co_await one(map.success_counter, c.success);
        if (!e) e = co_await one(map.unsuccess_counter, c.unsuccess);
        if (!e) e = co_await one(map.oversize_count, c.oversize);
        if (!e) e = co_await two(map.monitor_frames, c.frames);
        if (!e) e = co_await one(map.monitor_rate, c.frames_per_second);
        if (!e) e = co_await two(map.monitor_bandwidth, c.bytes_per_second);
        if (!e) e = co_await one(map.monitor_frame_size, c.frame_bytes);
        if (!e) *out_ = c;
        co_return e;
    }
    task one(std::uint32_t offset, std::uint32_t& out) {
        auto r = co_await get(engine(offset));
        out = r.value;
        co_return std::move(r.error);
    }
    /// Not in one access: a counter that goes on between the two is read again when the low half went round.
    task two(std::uint32_t offset, std::uint64_t& out) {
        std::uint32_t high = 0;
        std::uint32_t low_half = 0;
        std::uint32_t high_again = 0;
        auto e = co_await one(offset + 4, high);
        if (!e) e = co_await one(offset, low_half);
        if (!e) e = co_await one(offset + 4, high_again);
        if (!e && high != high_again) e = co_await one(offset, low_half);
        out = std::uint64_t{high_again} << 32 | low_half;
        co_return e;
    }

    std::shared_ptr<slac_engine_counters> out_;
};

} // namespace

slac_keys slac_keys::random() {
    constexpr std::uint32_t part = 0x7FFF'FFFF;
    std::random_device source;
    return {source(), source() & part, source() & part};
}

slac_program::slac_program(std::unique_ptr<detail::register_script> text) : text_(std::move(text)) {}

slac_program::~slac_program() = default;

register_step slac_program::next(time_point now) {
    return text_->next(now);
}

void slac_program::on_result(const error_info& failure, std::uint32_t value, time_point now) {
    text_->on_result(failure, value, now);
}

error_info slac_program::result() const {
    return text_->result();
}

slac_setup::slac_setup(const slac_engine_config& config, std::shared_ptr<slac_session> session,
                       const slac_host& host, const slac_transport& transport, const slac_keys& keys)
    : slac_program(std::make_unique<setup_script>(config, std::move(session), host, transport, keys)) {}

slac_teardown::slac_teardown(const slac_engine_config& config, std::shared_ptr<slac_session> session)
    : slac_program(std::make_unique<teardown_script>(config, std::move(session))) {}

slac_arm::slac_arm(const slac_engine_config& config, std::shared_ptr<slac_session> session,
                   const slac_data_path& path)
    : slac_program(std::make_unique<arm_script>(config, std::move(session), path)) {}

slac_disarm::slac_disarm(const slac_engine_config& config, std::shared_ptr<slac_session> session)
    : slac_program(std::make_unique<disarm_script>(config, std::move(session))) {}

slac_read_counters::slac_read_counters(const slac_engine_config& config,
                                       std::shared_ptr<slac_engine_counters> out)
    : slac_program(std::make_unique<counters_script>(config, std::move(out))) {}

} // namespace rocio::fpga

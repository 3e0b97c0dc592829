#include "fpga/slac_script.hpp"

#include "fpga/slac_hex.hpp"

#include <algorithm>

namespace rocio::fpga::detail {

namespace {

using namespace std::chrono_literals;

constexpr auto quick_polling = 20ms; // as surf polls
constexpr unsigned most_repeats = 2;
constexpr unsigned most_writes = 3;

} // namespace

void slac_script::enter(const std::string& stage) {
    stage_ = stage;
    session_->note_stage(stage);
}

error_info slac_script::at_stage(error_info e, const char* what, std::uint32_t address) const {
    if (!e) return e;
    e.text = stage_ + ": " + what + " register " + slac_hex(address) + " failed: " + e.message();
    return e;
}

slac_script::task slac_script::put(std::uint32_t address, std::uint32_t value) {
    for (unsigned tried = 1;; ++tried) {
        const auto step = register_step::write(address, value);
        auto done = co_await take(step);
        if (!done.failure) co_return error_info{};
        if (tried >= tries_) co_return at_stage(std::move(done.failure), "write to", address);
    }
}

script_task<slac_script::read_result> slac_script::get(std::uint32_t address) {
    for (unsigned tried = 1;; ++tried) {
        const auto step = register_step::read(address);
        auto done = co_await take(step);
        read_result result;
        result.value = done.value;
        if (!done.failure) co_return result;
        if (tried < tries_) continue;
        result.error = at_stage(std::move(done.failure), "read of", address);
        co_return result;
    }
}

slac_script::task slac_script::put_verified(std::uint32_t address, std::uint32_t value) {
    read_result seen;
    for (unsigned i = 0; i < most_writes; ++i) {
        auto e = co_await put(address, value);
        if (e || !config_.verify) co_return e;
        seen = co_await get(address);
        if (seen.error) co_return std::move(seen.error);
        if (seen.value == value) co_return error_info{};
    }
    co_return error_info{errc::bad_response,
                         stage_ + ": register " + slac_hex(address) + " reads " + slac_hex(seen.value) +
                             " after " + slac_hex(value) +
                             " was written; somebody else uses the engine, or its firmware "
                             "has another register map"};
}

slac_script::task slac_script::wait(milliseconds time) {
    if (time > 0ms) {
        const auto step = register_step::pause(time);
        co_await take(step);
    }
    co_return error_info{};
}

slac_script::task slac_script::toggle(std::uint32_t address) {
    auto e = co_await put(address, 1);
    if (!e) e = co_await put(address, 0);
    co_return e;
}

slac_script::task slac_script::pulse_soft_reset(bool& taken) {
    taken = false;
    if (!config_.soft_reset || !config_.map.soft_reset) co_return error_info{};
    const auto address = engine(*config_.map.soft_reset);
    enter("soft reset");
    auto e = co_await put(address, 1);
    if (e) {
        session_->note_warning(e.text + "; firmware without this register can only be reloaded when its "
                                        "resources are taken");
        co_return error_info{};
    }
    e = co_await put(address, 0);
    if (e) co_return e;
    taken = true;
    session_->count(&slac_engine_snapshot::resets);
    co_return co_await wait(config_.reset_pause);
}

// ---- One request

bool slac_script::answers(const query& q, const slac_reply& reply) {
    if (object_of(reply) != object_of(q.what)) return false;
    const auto* const qp = std::get_if<slac_qp_reply>(&reply);
    return !q.state_before || !qp->ok || qp->attributes.state != *q.state_before;
}

/// SendMetaData stays at 1 until the reply is there: a write of 1 that the bus repeats is then no second
/// rising edge (RoceConfigurator starts on edges).
slac_script::task slac_script::send(const slac_request_words& words, slac_session::open_request kind) {
    auto e = co_await put(engine(config_.map.send_metadata), 0);
    for (std::uint32_t i = 0; i < words.size() && !e; ++i)
        e = co_await put_verified(engine(config_.map.metadata_tx + 4 * i), words[i]);
    if (e) co_return e;
    session_->open = kind;
    co_return co_await put(engine(config_.map.send_metadata), config_.map.send_bit);
}

/// A last word of 0 makes of every request one on protection domains, of those we send the freeing of one
/// that does not exist.
slac_script::task slac_script::retract() {
    const auto last_word = 4 * (slac_request_words().size() - 1);
    auto e = co_await put(engine(config_.map.metadata_tx + static_cast<std::uint32_t>(last_word)), 0);
    if (!e) e = co_await put(engine(config_.map.send_metadata), 0);
    co_return e;
}

slac_script::task slac_script::read_reply(slac_reply& reply) {
    slac_reply_words words{};
    for (std::uint32_t i = 0; i < words.size(); ++i) {
        auto part = co_await get(engine(config_.map.metadata_rx + 4 * i));
        if (part.error) co_return std::move(part.error);
        words[i] = part.value;
    }
    auto e = decode(words, reply);
    if (e) e.text = stage_ + ": " + e.text;
    co_return e;
}

slac_script::task slac_script::await_reply(time_point until, bool& arrived, slac_reply& reply) {
    arrived = false;
    const auto slow_from = now() + quick_polling;
    for (;;) {
        auto status = co_await get(engine(config_.map.receive_metadata));
        if (status.error) co_return std::move(status.error);
        arrived = (status.value & config_.map.receive_bit) != 0;
        if (arrived) co_return co_await read_reply(reply);
        if (now() >= until) co_return error_info{};
        co_await wait(now() < slow_from ? config_.first_poll : config_.poll);
    }
}

script_task<slac_script::reply_result> slac_script::ask(query q) {
    enter(q.stage);
    reply_result result;
    slac_request_words words;
    result.error = encode(q.what, words);
    if (result.error) co_return result;
    session_->touched = true;
    session_->count(&slac_engine_snapshot::requests);
    const auto until = now() + q.deadline;
    for (unsigned repeat = 0;; ++repeat) {
        bool arrived = false;
        result.error = co_await send(words, q.kind);
        if (!result.error) result.error = co_await await_reply(until, arrived, result.reply);
        const bool garbled = result.error.code == errc::handshake_malformed;
        if (result.error && !garbled) co_return result;
        result.error = co_await retract();
        if (result.error) co_return result;
        result.timed_out = !arrived;
        if (!arrived) break;
        if (!garbled && answers(q, result.reply)) co_return result;
        if (repeat == most_repeats || now() >= until) {
            result.error = {errc::handshake_malformed,
                            q.stage + ": the engine replies about another request than that on a " +
                                to_string(object_of(q.what)) +
                                ", also when asked again; somebody else uses it, or its firmware has another "
                                "register map"};
            co_return result;
        }
        session_->count(&slac_engine_snapshot::repeated);
    }
    session_->wedged = true;
    session_->count(&slac_engine_snapshot::timeouts);
    result.error = {errc::handshake_timed_out,
                    q.stage + ": no reply of the FPGA's engine within " + std::to_string(q.deadline.count()) +
                        " ms; its configuration hangs until SoftReset is pulsed or the firmware is reloaded"};
    co_return result;
}

// ---- The way back

void slac_script::adopt(const slac_reply& reply) {
    using kind = slac_session::open_request;
    const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
    const auto open = session_->open;
    if (const auto* pd = std::get_if<slac_pd_reply>(&reply); pd && pd->ok && open == kind::pd_allocate)
        session_->pd_handler = low(pd->handler);
    if (const auto* mr = std::get_if<slac_mr_reply>(&reply); mr && mr->ok && open == kind::mr_allocate)
        session_->region = slac_session::region_keys{low(mr->lkey), low(mr->rkey)};
    if (const auto* qp = std::get_if<slac_qp_reply>(&reply); qp && qp->ok && open == kind::qp_create)
        session_->qpn = low(qp->qpn);
}

slac_script::task slac_script::settle_open_request() {
    if (session_->open == slac_session::open_request::none) co_return error_info{};
    enter("reply of a request that was given up");
    auto e = co_await retract();
    if (e) co_return e;
    bool arrived = false;
    slac_reply reply;
    const auto until = session_->wedged ? now() : now() + config_.clean_up_deadline;
    e = co_await await_reply(until, arrived, reply);
    const bool garbled = e.code == errc::handshake_malformed;
    if (e && !garbled) co_return e;
    if (arrived && !garbled) adopt(reply);
    session_->open = slac_session::open_request::none;
    if (!arrived) session_->wedged = true;
    co_return error_info{};
}

/// An engine that hangs answers nothing before a SoftReset, which also ends the queue pair.
slac_script::task slac_script::release_engine() {
    if (!session_->wedged) co_return error_info{};
    bool taken = false;
    auto e = co_await pulse_soft_reset(taken);
    if (!taken) co_return e;
    session_->wedged = false;
    session_->qpn.reset();
    co_return e;
}

slac_script::task slac_script::undo(query q) {
    const auto stage = q.stage;
    auto r = co_await ask(std::move(q));
    session_->open = slac_session::open_request::none;
    if (r.error) {
        session_->note_warning(r.error.text);
        const bool goes_on = r.timed_out || r.error.code == errc::handshake_malformed;
        if (!goes_on) co_return r.error;
        co_return co_await release_engine();
    }
    if (!std::visit([](const auto& reply) { return reply.ok; }, r.reply))
        session_->note_warning(stage + ": the FPGA refuses; there was nothing left to free, or it has to be "
                                       "reset");
    co_return error_info{};
}

slac_script::task slac_script::clean_up() {
    tries_ = config_.register_link_tries;
    auto e = co_await settle_open_request();
    if (!e) e = co_await release_engine();
    if (!e) e = co_await put(engine(config_.map.send_metadata), 0);
    if (!e) e = co_await wait(config_.settle_pause);
    if (!e && session_->qpn) {
        query q{"QP ERR", slac_modify_qp(*session_->qpn, slac_qp_state::error, slac_qp_mask::state, 1),
                config_.clean_up_deadline};
        e = co_await undo(std::move(q));
    }
    if (!e && session_->qpn) {
        query q{"QP destroy", slac_destroy_qp(*session_->qpn), config_.request_deadline};
        e = co_await undo(std::move(q));
    }
    if (!e && session_->region && session_->pd_handler) {
        query q{"MR free",
                slac_free_mr(*session_->pd_handler, session_->region->lkey, session_->region->rkey),
                config_.clean_up_deadline};
        e = co_await undo(std::move(q));
    }
    if (!e && session_->pd_handler) {
        query q{"PD free", slac_free_pd(*session_->pd_handler), config_.clean_up_deadline};
        e = co_await undo(std::move(q));
    }
    if (!e) e = co_await wait(config_.settle_pause);
    bool taken = false;
    if (!e) e = co_await pulse_soft_reset(taken);
    if (e) co_return e;
    session_->forget_resources();
    session_->touched = false;
    co_return e;
}

slac_script::task slac_script::stop_source() {
    if (!session_->armed) co_return error_info{};
    tries_ = config_.register_link_tries;
    enter("disarm");
    auto e = co_await put(engine(config_.map.dispatch_enable), 0);
    if (e) co_return e;
    if (config_.prbs_base) {
        const auto control = *config_.prbs_base + config_.map.prbs_control;
        auto was = co_await get(control);
        if (was.error) co_return std::move(was.error);
        e = co_await put(control, was.value & ~slac_prbs::tx_enable);
        if (e) co_return e;
    }
    session_->armed = false;
    co_return co_await wait(config_.disarm_pause);
}

} // namespace rocio::fpga::detail
